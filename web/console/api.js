/* SPDX-License-Identifier: MIT */
/*
 * Calls to the service by whoever is signed in. Each resolves, never rejects, to {ok: true, body, header} or
 * {ok: false, error}, as assets/api.js says. A call whose session is over waits until the person has signed in again in
 * the dialog, and is sent once more; so a form keeps what was typed.
 */
import { send, transfer } from "../assets/api.js";
import { acting } from "./organisation.js";
import { accessToken, recover } from "./session.js";

/* Internal staff who act in another organisation say why. */
function withReason(headers) {
    const { foreign, reason } = acting.get();
    return foreign && reason !== "" ? { "X-Reason": encodeReason(reason), ...headers } : headers;
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
