/* SPDX-License-Identifier: MIT */
/*
 * Where in the console one is, and the table of the screens. The place is the part of the address behind "#", such as
 * #/files?status=archived or #/team/{id}. It never reaches a server. Filters stand in it, so that Back, reload and a
 * sent link lead to the same view.
 */
import { queryText } from "../assets/api.js";
import { may } from "./session.js";
import { t } from "./texts.js";
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

/* ---- the modules of screens ---- */

/*
 * What the module of each screen imports beyond what is there from the start: all of it is asked for together, and not
 * step by step. tools/checks/check-console compares the lists with the imports.
 */
const AHEAD = {
    home: [
        "./stats.js",
        "./system/parts.js",
    ],

    files: [
        "./components/list.js",
        "./files/actions.js",
        "./files/edit.js",
        "./files/filters.js",
        "./files/limits.js",
        "./files/picture.js",
        "./files/query.js",
        "./files/quota.js",
        "./files/record.js",
        "./screens/file.js",
        "./upload/kind.js",
        "./upload/pace.js",
        "./upload/page.js",
        "./upload/panel.js",
        "./upload/queue.js",
        "./upload/send.js",
        "./upload/walk.js",
    ],

    team: [
        "./components/list.js",
        "./screens/account-access.js",
        "./team/actions.js",
        "./team/person.js",
        "./team/rights.js",
        "./team/words.js",
    ],

    audit: [
        "./audit/actions.js",
        "./components/list.js",
        "./components/save.js",
    ],

    organisations: [
        "./components/list.js",
        "./organisations/edit.js",
    ],

    system: [
        "./components/list.js",
        "./stats.js",
        "./system/cache.js",
        "./system/health.js",
        "./system/parts.js",
        "./system/settings.js",
    ],

    account: [
        "./components/list.js",
        "./screens/account-access.js",
    ],
};

/* Resolves to the module of a screen, whose default export is the component; it is given {route}. */
export function loadScreen({ path }) {
    for (const module of AHEAD[path]) {
        const link = document.createElement("link");
        link.rel = "modulepreload";
        link.href = new URL(module, import.meta.url).href;
        document.head.append(link);
    }
    return import(`./screens/${path}.js`);
}

/* ---- the screens ---- */

/*
 * The first part of a route chooses the row: #/team/{id} is the row "team".
 *
 *   path         the first part of the route, and the name of the module in screens/
 *   title        gives its name, in the menu and in the title of the page
 *   icon         of components/basic.js
 *   permissions  one of these is needed to see it; an empty list: everybody who is signed in
 *   hidden       it has no place in the menu
 */
const SCREENS = [
    {
        path: "home",
        title: () => t("Home"),
        icon: "home",
        permissions: [],
    },

    {
        path: "files",
        title: () => t("Files"),
        icon: "files",
        permissions: ["cus:file:r"],
    },

    {
        path: "team",
        title: () => t("Team"),
        icon: "people",
        permissions: ["cus:user:r"],
    },

    {
        path: "audit",
        title: () => t("Audit"),
        icon: "audit",
        permissions: ["cus:audit:r", "sys:audit:a"],
    },

    {
        path: "organisations",
        title: () => t("Organisations"),
        icon: "organisations",
        permissions: ["cus:org:a"],
    },

    {
        path: "system",
        title: () => t("System"),
        icon: "system",
        permissions: ["sys:stats:a", "sys:settings:a", "sys:cache:a"],
    },

    {
        path: "account",
        title: () => t("Your account"),
        icon: "account",
        permissions: [],
        hidden: true,
    },
];

/* Those of the menu that the person signed in may see. */
export function menu() {
    return SCREENS.filter((screen) => !screen.hidden && allowed(screen));
}

export function allowed(screen) {
    return screen.permissions.length === 0 || screen.permissions.some(may);
}

/* Whether the screen with this path exists and may be seen: for links from other screens. */
export function reachable(path) {
    const screen = SCREENS.find((one) => one.path === path);
    return screen !== undefined && allowed(screen);
}

/* The screen of a route; undefined when there is none. */
export function screenOf(route) {
    const path = route.path[0] || "home";
    return SCREENS.find((screen) => screen.path === path);
}
