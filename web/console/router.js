/* SPDX-License-Identifier: MIT */
/*
 * Where in the console one is: the part of the address behind "#", such as #/files?status=archived or #/team/{id}. It
 * never reaches a server. Filters stand in it, so that Back, reload and a sent link lead to the same view.
 */
import { queryText } from "../assets/api.js";
import { shared } from "./view.js";

function parse(hash) {
    const [path, query] = hash.replace(/^#\/?/, "").split("?");
    return { path: path.split("/").filter(Boolean).map(decode), query: Object.fromEntries(new URLSearchParams(query)) };
}

function decode(part) {
    try {
        return decodeURIComponent(part);
    } catch (failure) {
        return part;
    }
}

/* {path: ["team", "…id…"], query: {status: "active"}} */
export const route = shared(parse(location.hash));

/* The address of a place, for <a href=…>. Members of the query that are empty are left out. */
export function link(path, query) {
    return "#/" + path.map(encodeURIComponent).join("/") + queryText(query);
}

export function go(path, query) {
    location.hash = link(path, query);
}

/* Changes members of the query and stays where one is. A new filter is a step of its own in the history. */
export function setQuery(changes) {
    const { path, query } = route.get();
    go(path, { ...query, ...changes });
}

/* The same without a step in the history: for what changes with each key. */
export function replaceQuery(changes) {
    const { path, query } = route.get();
    history.replaceState(null, "", link(path, { ...query, ...changes }));
    route.set(parse(location.hash));
}

/* ---- leaving with changes that are not saved ---- */

let unsaved = null;

/* `ask` resolves to true when the changes may be lost; null: there are no changes. */
export function setUnsaved(ask) {
    unsaved = ask;
}

addEventListener("hashchange", async (event) => {
    const wanted = location.hash;
    if (unsaved !== null) {
        history.replaceState(null, "", event.oldURL);
        if (!await unsaved()) {
            return;
        }
        unsaved = null;
        history.replaceState(null, "", wanted);
    }
    route.set(parse(wanted));
});

addEventListener("beforeunload", (event) => {
    if (unsaved !== null) {
        event.preventDefault();
    }
});
