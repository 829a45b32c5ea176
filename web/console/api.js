/* SPDX-License-Identifier: MIT */
/*
 * Calls to the service by whoever is signed in, and for which organisation. Each call resolves, never rejects, to
 * {ok: true, body, header} or {ok: false, error}, as assets/api.js says. A call whose session is over waits until the
 * person has signed in again in the dialog, and is sent once more; so a form keeps what was typed.
 */
import { send, transfer } from "../assets/api.js";
import { accessToken, recover, session } from "./session.js";
import { shared } from "./view.js";

/* ---- the organisation ---- */

/*
 * The organisation that one looks at: one's own, or the one that internal staff have switched to. It is kept in the
 * memory of the page only: a page that is loaded again shows one's own.
 */

/* {id, name, foreign, reason} */
export const acting = shared({ id: "", name: "", foreign: false, reason: "" });

function own() {
    const { me } = session.get();
    return { id: me === null ? "" : me.organisation.id, name: me === null ? "" : me.organisation.name, foreign: false,
        reason: "" };
}

/* Looks at another organisation; `reason` (up to 200 characters) goes into the audit trail. */
export function switchTo({ id, name }, reason) {
    const mine = own();
    acting.set(id === mine.id ? mine : { id, name, foreign: true, reason });
}

/* Internal staff look at more than their own organisation and say why, without a switch to another one. */
export function giveReason(reason) {
    acting.set({ ...acting.get(), reason });
}

export function switchBack() {
    acting.set(own());
}

/* Adds the organisation to the query of a list, where it is not one's own. */
export function inOrganisation(query) {
    const { id, foreign } = acting.get();
    return foreign ? { ...query, organisationId: id } : query;
}

let person = "";

session.follow(({ me }) => {
    const now = me === null ? "" : me.user.id;
    if (now !== person || !acting.get().foreign) {
        const reason = now === person ? acting.get().reason : "";
        person = now;
        acting.set({ ...own(), reason });
    }
});

/* ---- calls ---- */

/* Internal staff who act in another organisation say why. */
function withReason(headers) {
    const { reason } = acting.get();
    return reason !== "" ? { "X-Reason": encodeReason(reason), ...headers } : headers;
}

/* A header holds bytes: those of the text in UTF-8, a character for each. */
function encodeReason(reason) {
    return String.fromCharCode(...new TextEncoder().encode(reason));
}

async function authorised(carry, request) {
    for (let again = 0; ; again++) {
        const token = await accessToken();
        const reply = await carry({ ...request, token, headers: withReason(request.headers) });
        if (reply.ok || reply.error.status !== 401 || again === 2 || !await recover(token)) {
            return reply;
        }
    }
}

/* `more` of each: {query, headers, signal}. */
export function get(path, query, more) {
    return authorised(send, { method: "GET", path, query, ...more });
}

/* The bytes of a file: the body of the reply is a Blob. */
export function getBlob(path, query, more) {
    return authorised(send, { method: "GET", path, query, blob: true, ...more });
}

export function post(path, body, more) {
    return authorised(send, { method: "POST", path, body, ...more });
}

export function put(path, body, more) {
    return authorised(send, { method: "PUT", path, body, ...more });
}

export function patch(path, body, more) {
    return authorised(send, { method: "PATCH", path, body, ...more });
}

export function remove(path, more) {
    return authorised(send, { method: "DELETE", path, ...more });
}

/* Sends a form or bytes and tells the progress: {method, path, body, headers, signal, onProgress}. */
export function upload(request) {
    return authorised(transfer, request);
}
