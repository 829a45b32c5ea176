/* SPDX-License-Identifier: MIT */
/*
 * What the other modules take from Preact: html`…` makes a tree of elements, render() shows it, and the functions with
 * "use" keep something between two showings of a component. Values that several components share are made with
 * shared().
 */
import { Fragment, h, render } from "./vendor/preact.js";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "./vendor/hooks.js";
import htm from "./vendor/htm.js";

export const html = htm.bind(h);
export { Fragment, render, useEffect, useLayoutEffect, useMemo, useRef, useState };

/*
 * A value outside of components: get(), set(value), watch(call), which returns a function that ends the watching, and
 * follow(call), which calls at once, too.
 */
export function shared(first) {
    let current = first;
    const watchers = new Set();
    return {
        get: () => current,
        set(value) {
            current = value;
            [...watchers].forEach((call) => call(value));
        },
        watch(call) {
            watchers.add(call);
            return () => watchers.delete(call);
        },
        follow(call) {
            call(current);
            watchers.add(call);
        },
    };
}

/* The present value of a shared(); the component is shown again when it changes. */
export function useShared(value) {
    const [, again] = useState({});
    useLayoutEffect(() => value.watch(() => again({})), [value]);
    return value.get();
}

let made = 0;

/* An id for an element, the same in each showing of the component. */
export function useName(prefix) {
    return useMemo(() => `${prefix}-${++made}`, []);
}
