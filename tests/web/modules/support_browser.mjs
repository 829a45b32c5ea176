/* SPDX-License-Identifier: MIT */
/* What the modules of uploads need of a browser, for Node. Import it before them. */
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

/* Resolves when `fact` holds; looks at each turn of the loop of events. */
export async function until(fact) {
    while (!fact()) {
        await new Promise((resolve) => setImmediate(resolve));
    }
}
