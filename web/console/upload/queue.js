/* SPDX-License-Identifier: MIT */
/*
 * The queue of uploads. It belongs to the page and to no screen, so that it goes on while people look at other screens.
 *
 * An item is {key, file, name, size, isPicture, bucket, type, tags, state, sent, wait, error, record}. Its states:
 *
 *   ready      chosen; its type can still be changed; start() lets it go
 *   waiting    its turn has not come
 *   sending    bytes leave; all have left when sent === size, and the service stores them
 *   pausing    a try has failed in a way that passes; the next one comes after `wait` seconds, or when the line is back
 *   done       `record` is the file
 *   failed     `error` says why: as api.js tells it
 *
 * Three are sent at once. Items are replaced, never changed in place: a screen may compare them.
 */
import { bucketFor, defaultType, looksLikePicture } from "./kind.js";
import { makeRate, mayPass, waitBefore } from "./pace.js";
import { giveUp, sendInPieces, sendWhole } from "./send.js";

export const AT_ONCE = 3;
const PIECES_FROM = 16 * 1024 * 1024;
/* How often those who look hear of progress. */
const TELL_MS = 200;

let items = [];
let nextKey = 1;
let telling = 0;
let userId = "";
let call = null;
/* What an item needs while it is sent, by its key: {stop, tries, timer, kept}. */
const work = new Map();
const listeners = new Set();
const storedListeners = new Set();
let rate = makeRate();

/* ---- Who looks, and who sends. ---- */

/*
 * Whose uploads these are, and what sends a request: upload() of api.js. "": nobody is signed in. When somebody else
 * comes, all that is under way ends.
 */
export function connect(person, sender) {
    if (person !== userId) {
        items.forEach((item) => stop(item.key));
        items = [];
        rate = makeRate();
    }
    userId = person;
    call = sender;
    tellNow();
    pump();
}

/* Calls `listener` when anything has changed. Returns what ends that. */
export function listen(listener) {
    listeners.add(listener);
    return () => listeners.delete(listener);
}

/* Calls `listener` with the record of each file that has been stored. Returns what ends that. */
export function onStored(listener) {
    storedListeners.add(listener);
    return () => storedListeners.delete(listener);
}

export function list() {
    return items;
}

/* Bytes per second over all that is sent; 0: not known yet. */
export function speed() {
    return rate.perSecond(Date.now());
}

/* Something would be lost if the page were left now. */
export function isBusy() {
    return items.some((item) => ["waiting", "sending", "pausing"].includes(item.state));
}

function askBeforeLeaving(event) {
    event.preventDefault();
}

function tellNow() {
    clearTimeout(telling);
    telling = 0;
    if (isBusy()) {
        addEventListener("beforeunload", askBeforeLeaving);
    } else {
        removeEventListener("beforeunload", askBeforeLeaving);
    }
    listeners.forEach((listener) => listener());
}

function tell() {
    if (telling === 0) {
        telling = setTimeout(tellNow, TELL_MS);
    }
}

/* ---- The list. ---- */

function find(key) {
    return items.find((item) => item.key === key);
}

function change(key, members) {
    items = items.map((item) => (item.key === key ? { ...item, ...members } : item));
}

/* A change of state is told at once, progress now and then. */
function set(key, members) {
    change(key, members);
    tellNow();
}

function refusal(code) {
    return { status: 400, code, message: "", validation: [], required: "", requestId: "", detail: {}, retryAfter: 0 };
}

/* Adds the browser's files as `ready`. What the service would refuse for its size is told without sending it. */
export async function add(files, maxFileBytes) {
    const added = await Promise.all(files.map(async (file) => {
        const isPicture = await looksLikePicture(file);
        const wrong = file.size === 0 ? "empty" : file.size > maxFileBytes ? "tooLarge" : "";
        return {
            key: nextKey++, file, name: file.name, size: file.size, isPicture,
            bucket: bucketFor(isPicture), type: defaultType(file.name, isPicture), tags: [],
            state: wrong === "" ? "ready" : "failed", sent: 0, wait: 0,
            error: wrong === "" ? null : refusal(wrong), record: null,
        };
    }));
    items = items.concat(added);
    tellNow();
}

export function setType(key, type) {
    if (find(key).state === "ready") {
        set(key, { type });
    }
}

/* Lets all that is ready go, each with `tags`. */
export function start(tags) {
    items = items.map((item) => (item.state === "ready" ? { ...item, state: "waiting", tags } : item));
    pump();
    tellNow();
}

/* A failed item takes its turn again. */
export function again(key) {
    const item = find(key);
    if (item !== undefined && item.state === "failed") {
        set(key, { state: "waiting", sent: 0, error: null });
        pump();
    }
}

/* Ends an item and takes it out of the list. What the service holds of it is given up. */
export function remove(key) {
    const item = find(key);
    stop(key);
    items = items.filter((one) => one.key !== key);
    tellNow();
    pump();
    if (item !== undefined && item.state !== "done" && item.size >= PIECES_FROM && userId !== "") {
        giveUp(item.file, userId, call);
    }
}

/* Takes all that is finished out of the list. */
export function clear() {
    items = items.filter((item) => !["done", "failed", "ready"].includes(item.state));
    tellNow();
}

/* ---- Sending. ---- */

function stop(key) {
    const state = work.get(key);
    if (state !== undefined) {
        work.delete(key);
        clearTimeout(state.timer);
        state.stop.abort();
    }
}

/* Bytes have left. */
function progressOf(key) {
    return (bytes) => {
        const item = find(key);
        if (item !== undefined && item.state === "sending") {
            rate.add(Math.max(0, bytes - item.sent), Date.now());
            change(key, { sent: bytes });
            tell();
        }
    };
}

/* The service keeps so many bytes, whatever happens: failures are counted anew. */
function keptOf(key) {
    return (bytes) => {
        const state = work.get(key);
        if (state !== undefined && bytes > state.kept) {
            state.kept = bytes;
            state.tries = 0;
        }
        change(key, { sent: bytes });
        tell();
    };
}

async function send(item, state) {
    const { signal } = state.stop;
    const job = { ...item, userId, progress: progressOf(item.key), kept: keptOf(item.key) };
    if (item.size < PIECES_FROM) {
        return sendWhole(job, call, signal);
    }
    const reply = await sendInPieces(job, call, signal);
    /* A store that takes no pieces takes the whole. */
    const refused = !reply.ok && reply.error.code === "storage.unavailable";
    return refused && state.kept === 0 ? sendWhole(job, call, signal) : reply;
}

function turn(key) {
    const item = find(key);
    if (item !== undefined && item.state === "pausing") {
        set(key, { state: "waiting", wait: 0 });
        pump();
    }
}

function finish(item, state, reply) {
    if (reply.ok) {
        work.delete(item.key);
        set(item.key, { state: "done", sent: item.size, record: reply.body });
        storedListeners.forEach((listener) => listener(reply.body));
        return;
    }
    state.tries++;
    const wait = waitBefore(reply.error.status, reply.error.retryAfter, state.tries);
    if (wait < 0) {
        work.delete(item.key);
        set(item.key, { state: "failed", error: reply.error });
        return;
    }
    state.timer = setTimeout(() => turn(item.key), wait * 1000);
    set(item.key, { state: "pausing", wait, error: reply.error });
}

async function run(item) {
    const state = work.get(item.key) || { tries: 0, timer: 0, kept: 0 };
    state.stop = new AbortController();
    work.set(item.key, state);
    set(item.key, { state: "sending", sent: state.kept, error: null });
    const reply = await send(item, state);
    if (work.get(item.key) === state) {
        finish(item, state, reply);
        pump();
    }
}

/* Starts what may start. Nothing does without a line. */
function pump() {
    if (userId === "" || navigator.onLine === false) {
        return;
    }
    const free = AT_ONCE - items.filter((item) => item.state === "sending").length;
    items.filter((item) => item.state === "waiting").slice(0, Math.max(0, free)).forEach(run);
}

addEventListener("online", () => {
    items.filter((item) => item.state === "pausing").forEach((item) => {
        clearTimeout(work.get(item.key).timer);
        turn(item.key);
    });
    pump();
});

/* The button "Try again" is there only where another try may help. */
export function canTryAgain(error) {
    return mayPass(error.status);
}
