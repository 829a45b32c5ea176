/* SPDX-License-Identifier: MIT */
/*
 * Who is signed in. The access token stands in the memory of the page only. The refresh token is a cookie that no
 * script can read, so a page that is loaded again, and another tab, go on with the same session.
 *
 * Tabs tell each other over a BroadcastChannel that somebody signed in or out, and refresh one at a time, since each
 * refresh replaces the cookie.
 */
import { markSession, send, sessionMarked } from "../assets/api.js";
import { shared } from "./view.js";

const COOKIE = { session: "cookie" };
/* The mark of this browser is in a cookie as well. */
const LOGIN = { ...COOKIE, deviceMark: "" };
/* A token is renewed so long before its end. */
const EARLY_MS = 60000;

/*
 * {phase, me, note}: phase is "starting", "out", "in" or "ended" (the session is over, but the screen stays until the
 * person has signed in again); me is the reply of GET /customers/me. note is for the sign-in: "leaving" (the session is
 * being ended), "stays" (it could not be ended), "elsewhere" (one has signed out in another tab), or empty.
 */
export const session = shared({ phase: "starting", me: null, note: "" });

let token = "";
let tokenEnds = 0;
let waiting = [];

const channel = typeof BroadcastChannel === "undefined" ? null : new BroadcastChannel("gatehouse");

function tell(kind, note = "") {
    if (channel !== null) {
        channel.postMessage({ kind, note });
    }
}

function keep(tokens) {
    token = tokens.accessToken;
    tokenEnds = Date.now() + tokens.expiresIn * 1000;
}

function leave(note) {
    token = "";
    /* A session that goes on is there when the page is loaded again. */
    markSession(note === "stays");
    waiting.splice(0).forEach((done) => done(false));
    session.set({ phase: "out", me: null, note });
}

/* ---- tokens ---- */

function exclusive(act) {
    return navigator.locks ? navigator.locks.request("gatehouse-refresh", act) : act();
}

let renewing = null;

/* Refreshes the token; resolves to the reply of the service. Calls that come meanwhile wait for the same reply. */
function renew() {
    renewing = renewing || exclusive(() => send({ method: "POST", path: "/customers/refresh", body: COOKIE }))
        .then((reply) => {
            if (reply.ok) {
                keep(reply.body.tokens);
            }
            return reply;
        })
        .finally(() => {
            renewing = null;
        });
    return renewing;
}

function isOld() {
    return Date.now() > tokenEnds - EARLY_MS;
}

/* The access token, renewed where it is about to end. */
export async function accessToken() {
    if (token !== "" && isOld()) {
        await renew();
    }
    return token;
}

/*
 * After a 401: resolves to true when the call may be tried again. Where the session is over, that is when the person
 * has signed in again in the dialog; false: they have left.
 */
export async function recover(used) {
    if (session.get().phase === "out") {
        return false;
    }
    if (token !== used && token !== "") {
        return true;
    }
    const reply = await renew();
    if (reply.ok) {
        return true;
    }
    if (reply.error.status !== 401 && reply.error.status !== 403) {
        return false;
    }
    const { phase, me } = session.get();
    if (phase !== "in" && phase !== "ended") {
        return false;
    }
    session.set({ phase: "ended", me, note: "" });
    return new Promise((done) => waiting.push(done));
}

/* ---- signing in and out ---- */

/* Reads whose session it is; resolves to the reply. */
export async function loadMe() {
    const reply = await send({ method: "GET", path: "/customers/me", token: await accessToken() });
    /* A late reply brings back nobody who has left meanwhile. */
    if (reply.ok && token !== "" && session.get().note !== "leaving") {
        markSession(true);
        session.set({ phase: "in", me: reply.body, note: "" });
    }
    return reply;
}

/* Goes on with the session of the cookie where there is one. Resolves to a failed reply, or null. */
async function startSession() {
    if (!sessionMarked()) {
        session.set({ phase: "out", me: null, note: "" });
        return null;
    }
    let reply = await renew();
    if (reply.ok) {
        reply = await loadMe();
    }
    if (!reply.ok) {
        if (reply.error.status === 401 || reply.error.status === 403) {
            leave("");
            return null;
        }
        return reply;
    }
    return null;
}

/* Signs in: {username, password, newPassword}. Resolves to the reply of the service. */
export async function signIn(who) {
    const before = session.get().me;
    const reply = await send({ method: "POST", path: "/customers/login", body: { ...who, ...LOGIN } });
    if (!reply.ok) {
        return reply;
    }
    keep(reply.body.tokens);
    const read = await loadMe();
    if (!read.ok) {
        return read;
    }
    /* What somebody else began is not finished by whoever signs in now. */
    const same = before !== null && before.user.id === read.body.user.id;
    waiting.splice(0).forEach((done) => done(same));
    tell("in");
    return reply;
}

/* Ends the session with a fresh token. Resolves to whether it is over. */
async function endSession() {
    for (let tries = 0; tries < 2; tries++) {
        if (tries > 0 || token === "" || isOld() || renewing !== null) {
            const renewed = await renew();
            if (!renewed.ok) {
                return renewed.error.status === 401;
            }
        }
        const reply = await send({ method: "POST", path: "/customers/logout", body: {}, token });
        if (reply.ok || reply.error.status !== 401) {
            return reply.ok;
        }
    }
    return false;
}

/* Signs out here and in the other tabs. */
export async function signOut() {
    session.set({ phase: "out", me: null, note: "leaving" });
    const late = new Promise((done) => setTimeout(done, 15000, false));
    const over = await Promise.race([endSession(), late]);
    leave(over ? "" : "stays");
    tell("out", over ? "elsewhere" : "stays");
}

/* The person does not sign in again in the dialog. */
export function giveUp() {
    leave("");
}

async function heard({ data }) {
    const { phase, note } = session.get();
    if (data.kind === "out" && (phase !== "out" || note === "stays")) {
        leave(data.note);
    } else if (data.kind === "in" && phase !== "starting" && note !== "leaving") {
        const before = session.get().me;
        if ((await renew()).ok && (await loadMe()).ok) {
            const { me } = session.get();
            waiting.splice(0).forEach((done) => done(before !== null && before.user.id === me.user.id));
        }
    }
}

if (channel !== null) {
    channel.onmessage = heard;
}

/* The page names this module by itself, so that its requests are under way while the others still come. */
export const started = startSession();

/* ---- permissions ---- */

const STRENGTH = { r: 1, w: 2, a: 3 };

function covers(held, [module, area, letter]) {
    const parts = held.split(":");
    if (parts.length === 2) {
        return parts[1] === "*" && letter !== "a" && (parts[0].includes("w") || parts[0].includes(letter));
    }
    return (parts[0] === "*" || parts[0] === module) && (parts[1] === "*" || parts[1] === area)
        && STRENGTH[parts[2]] >= STRENGTH[letter];
}

/* Whether the person signed in holds the permission, such as "cus:file:w". The service decides; this only hides. */
export function may(permission) {
    const { me } = session.get();
    return me !== null && me.permissions.some((held) => covers(held, permission.split(":")));
}
