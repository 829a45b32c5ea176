/* SPDX-License-Identifier: MIT */
/* Calls to the service, and whether there is a session. Nothing else in the pages and in the console speaks HTTP. */
import { api } from "./config.js";

const TIMEOUT_MS = 60000;
/* The bytes of a file may take longer. */
const BYTES_TIMEOUT_MS = 600000;
/* An upload on which nothing has moved for so long is given up; at its end the service compares, scans and stores. */
const QUIET_MS = 60000;
const STORING_MS = 600000;

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
        required: known && body.body && typeof body.body.required === "string" ? body.body.required : "",
        requestId: known && body.body && typeof body.body.requestId === "string" ? body.body.requestId : "",
        detail: known && body.body !== null && typeof body.body === "object" ? body.body : {},
        retryAfter: 0,
    };
}

/* The options of fetch(). The cookie of a browser's session goes to the service only; a page elsewhere must say so. */
function options({ method, body, token, headers }, signal) {
    const sent = { "Accept": "application/json", ...headers };
    if (body !== undefined) {
        sent["Content-Type"] = "application/json";
    }
    if (token !== undefined && token !== "") {
        sent.Authorization = "Bearer " + token;
    }
    return {
        method,
        headers: sent,
        body: body === undefined ? undefined : JSON.stringify(body),
        credentials: api === "" ? "same-origin" : "include",
        cache: "no-store",
        redirect: "error",
        referrerPolicy: "no-referrer",
        keepalive: true,
        signal,
    };
}

function unreachable() {
    const error = asError(null, 0);
    error.message = "The service could not be reached. Check your connection and try again.";
    return { ok: false, error };
}

/* What became of a request: `header` gives a header of the reply, or null. */
function result(status, body, header) {
    if (status >= 200 && status < 300 && body !== null) {
        return { ok: true, body, header };
    }
    const error = asError(body, status);
    error.retryAfter = Number.parseInt(header("Retry-After") || "0", 10) || 0;
    return { ok: false, error, header };
}

/* The query of an address; members that are undefined, null or empty are left out. */
export function queryText(query) {
    const given = Object.entries(query || {}).filter(([, value]) => ![undefined, null, ""].includes(value));
    return given.length === 0 ? "" : "?" + new URLSearchParams(given);
}

/*
 * Sends a request: {method, path, query, body, token, headers, signal, blob}; `body` is sent as JSON. Resolves, never
 * rejects, to {ok: true, body, header} or {ok: false, error}; with `blob` the body is a Blob. The error has status (0:
 * no answer), code, message, validation ([{path, message, code}]), required (the permission that lacks), requestId,
 * detail (the body's member "body") and retryAfter (seconds, 0: not said). The call goes on when the page is left
 * meanwhile.
 */
export async function send(request) {
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), request.blob ? BYTES_TIMEOUT_MS : TIMEOUT_MS);
    if (request.signal !== undefined) {
        request.signal.addEventListener("abort", () => stop.abort());
    }
    try {
        const reply = await fetch(address(request.path) + queryText(request.query), options(request, stop.signal));
        const body = request.blob && reply.ok ? await reply.blob() : await reply.json().catch(() => null);
        return result(reply.status, body, (name) => reply.headers.get(name));
    } catch (failure) {
        return unreachable();
    } finally {
        clearTimeout(timer);
    }
}

function sentBody(text, status) {
    try {
        return text === "" && status < 300 ? {} : JSON.parse(text);
    } catch (failure) {
        return null;
    }
}

/*
 * Sends bytes or a form (`body`: Blob, FormData) and tells the progress: onProgress(sent, total), which fetch() cannot.
 * Otherwise as send(). It takes as long as bytes move; signal.abort() ends it, with status 0.
 */
export function transfer({ method, path, body, token, headers, signal, onProgress }) {
    return new Promise((resolve) => {
        const request = new XMLHttpRequest();
        let timer = 0;
        const allow = (milliseconds) => {
            clearTimeout(timer);
            timer = setTimeout(() => request.abort(), milliseconds);
        };
        request.open(method, address(path));
        request.withCredentials = false;
        request.setRequestHeader("Accept", "application/json");
        Object.entries(headers || {}).forEach(([name, value]) => request.setRequestHeader(name, value));
        if (token !== undefined && token !== "") {
            request.setRequestHeader("Authorization", "Bearer " + token);
        }
        request.responseType = "text";
        request.upload.onprogress = (event) => {
            allow(QUIET_MS);
            onProgress?.(event.loaded, event.total);
        };
        request.upload.onload = () => allow(STORING_MS);
        request.onload = () => resolve(result(request.status, sentBody(request.responseText, request.status),
            (name) => request.getResponseHeader(name)));
        request.onerror = request.onabort = () => resolve(unreachable());
        request.onloadend = () => clearTimeout(timer);
        signal?.addEventListener("abort", () => request.abort());
        if (signal?.aborted) {
            resolve(unreachable());
            return;
        }
        allow(QUIET_MS);
        request.send(body);
    });
}

/* POST and GET for the pages that need no more. */
export function post(path, body, token) {
    return send({ method: "POST", path, body, token });
}

export function get(path, token) {
    return send({ method: "GET", path, token });
}

/* How long to wait, for people, rounded up. */
export function waitText(seconds) {
    if (seconds === 1) {
        return "Too many tries. Try again in 1 second.";
    }
    return seconds < 90 ? `Too many tries. Try again in ${seconds} seconds.`
        : `Too many tries. Try again in ${Math.ceil(seconds / 60)} minutes.`;
}

/* ---- the mark of a session ---- */

/*
 * A mark in localStorage ("1"): in this browser somebody has signed in. The session itself is a cookie that no script
 * can read; without the mark the console does not ask for one, so visitors who never signed in cause no refusal.
 */

const NAME = "gatehouse-session";

/* Storage may be switched off: then nothing is lost but a request. */
export function markSession(there) {
    try {
        if (there) {
            localStorage.setItem(NAME, "1");
        } else {
            localStorage.removeItem(NAME);
        }
    } catch (failure) {
        /* See above. */
    }
}

export function sessionMarked() {
    try {
        return localStorage.getItem(NAME) === "1";
    } catch (failure) {
        return true;
    }
}
