/* SPDX-License-Identifier: MIT */
/* Calls to the service. Every page uses only get() and post(). */
import { api } from "./config.js";

const TIMEOUT_MS = 60000;

function address(path) {
    const base = api === "" ? new URL(".", document.baseURI).href : api;
    return base.replace(/\/+$/, "") + path;
}

/* An error body always has six members. Any other answer, such as a proxy's page, is turned into one. */
function asError(body, status) {
    const known = body !== null && typeof body === "object" && !Array.isArray(body);
    return {
        status,
        code: known && typeof body.code === "string" ? body.code : "",
        message: known && typeof body.message === "string" && body.message !== "" ? body.message
            : "The service did not answer as expected. Try again in a few minutes.",
        validation: known && Array.isArray(body.validation) ? body.validation : [],
        requestId: known && body.body && typeof body.body.requestId === "string" ? body.body.requestId : "",
        retryAfter: 0,
    };
}

/* The options of fetch(); `content` undefined: no body. */
function request(method, content, token, signal) {
    const headers = { "Accept": "application/json" };
    if (content !== undefined) {
        headers["Content-Type"] = "application/json";
    }
    if (token !== undefined) {
        headers.Authorization = "Bearer " + token;
    }
    return {
        method,
        headers,
        body: content === undefined ? undefined : JSON.stringify(content),
        credentials: "omit",
        cache: "no-store",
        redirect: "error",
        referrerPolicy: "no-referrer",
        keepalive: true,
        signal,
    };
}

async function send(method, path, content, token) {
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), TIMEOUT_MS);
    try {
        const reply = await fetch(address(path), request(method, content, token, stop.signal));
        const body = await reply.json().catch(() => null);
        if (reply.ok && body !== null) {
            return { ok: true, body };
        }
        const error = asError(body, reply.status);
        error.retryAfter = Number.parseInt(reply.headers.get("Retry-After") || "0", 10) || 0;
        return { ok: false, error };
    } catch (failure) {
        const error = asError(null, 0);
        error.message = "The service could not be reached. Check your connection and try again.";
        return { ok: false, error };
    } finally {
        clearTimeout(timer);
    }
}

/*
 * Sends `content` as JSON and resolves, never rejects, to {ok: true, body} or {ok: false, error}; the error has status
 * (0: no answer), code, message, validation ([{path, message, code}]), requestId and retryAfter (seconds, 0: not said).
 * The call goes on when the page is left meanwhile.
 */
export function post(path, content, token) {
    return send("POST", path, content, token);
}

/* The same with GET. */
export function get(path, token) {
    return send("GET", path, undefined, token);
}

/* How long to wait, for people, rounded up. */
export function waitText(seconds) {
    if (seconds === 1) {
        return "Too many tries. Try again in 1 second.";
    }
    return seconds < 90 ? `Too many tries. Try again in ${seconds} seconds.`
        : `Too many tries. Try again in ${Math.ceil(seconds / 60)} minutes.`;
}
