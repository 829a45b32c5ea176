/* SPDX-License-Identifier: MIT */
/* What the modules of uploads need of a browser, for Node. Import it before them. */
import { File } from "node:buffer";

globalThis.File ??= File;

const kept = new Map();

globalThis.sessionStorage = {
    getItem: (key) => (kept.has(key) ? kept.get(key) : null),
    setItem: (key, value) => kept.set(key, value),
    removeItem: (key) => kept.delete(key),
};

const window = new EventTarget();
globalThis.addEventListener = window.addEventListener.bind(window);
globalThis.removeEventListener = window.removeEventListener.bind(window);
Object.defineProperty(globalThis, "navigator", { value: { onLine: true }, configurable: true });

/* Sends the page an event; returns whether it was left alone. */
export function happens(name) {
    return window.dispatchEvent(new Event(name, { cancelable: true }));
}

/* A file of `size` bytes. Its slices tell where they begin. */
export function largeFile(name, size) {
    return {
        name, size, lastModified: 1,
        slice: (from, to) => ({ from, size: Math.min(to, size) - from, arrayBuffer: async () => new ArrayBuffer(16) }),
    };
}

export function accepted(body, headers) {
    return { ok: true, body, header: (name) => (headers || {})[name] ?? null };
}

export function refused(status, code, retryAfter = 0) {
    return { ok: false, error: { status, code, message: "", validation: [], retryAfter }, header: () => null };
}

/* A clock that moves only when it is told to; end() gives the real one back. */
export function makeClock() {
    const { setTimeout, clearTimeout } = globalThis;
    let now = 0;
    let next = 1;
    const waiting = new Map();
    globalThis.setTimeout = (call, milliseconds) => {
        waiting.set(next, { call, at: now + milliseconds });
        return next++;
    };
    globalThis.clearTimeout = (id) => waiting.delete(id);
    return {
        tick(milliseconds) {
            now += milliseconds;
            for (const [id, { call, at }] of [...waiting]) {
                if (at <= now && waiting.delete(id)) {
                    call();
                }
            }
        },
        end() {
            Object.assign(globalThis, { setTimeout, clearTimeout });
        },
    };
}

/* Resolves when `fact` holds; looks at each turn of the loop of events. */
export async function until(fact) {
    while (!fact()) {
        await new Promise((resolve) => setImmediate(resolve));
    }
}
