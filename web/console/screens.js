/* SPDX-License-Identifier: MIT */
/*
 * The screens of the console. The first part of a route chooses the row: #/team/{id} is the row "team". A screen
 * without `load` is not built yet: it is in no menu.
 *
 *   path         the first part of the route
 *   title        gives its name, in the menu and in the title of the page
 *   icon         of components/icons.js
 *   permissions  one of these is needed to see it; an empty list: everybody who is signed in
 *   load         fetches its module, whose default export is the component; it is given {route}
 *   hidden       it has no place in the menu
 */
import { loadScreen } from "./ahead.js";
import { may } from "./session.js";
import { t } from "./texts.js";

const SCREENS = [
    {
        path: "home",
        title: () => t("Home"),
        icon: "home",
        permissions: [],
        load: () => import("./screens/home.js"),
    },

    {
        path: "files",
        title: () => t("Files"),
        icon: "files",
        permissions: ["cus:file:r"],
        load: () => loadScreen("files"),
    },

    {
        path: "team",
        title: () => t("Team"),
        icon: "people",
        permissions: ["cus:user:r"],
        load: () => loadScreen("team"),
    },

    {
        path: "audit",
        title: () => t("Audit"),
        icon: "audit",
        permissions: ["cus:audit:r", "sys:audit:a"],
        load: () => import("./screens/audit.js"),
    },

    {
        path: "organisations",
        title: () => t("Organisations"),
        icon: "organisations",
        permissions: ["cus:org:a"],
        load: () => import("./screens/organisations.js"),
    },

    {
        path: "system",
        title: () => t("System"),
        icon: "system",
        permissions: ["sys:stats:a", "sys:settings:a", "sys:cache:a"],
        load: () => import("./screens/system.js"),
    },

    {
        path: "account",
        title: () => t("Your account"),
        icon: "account",
        permissions: [],
        load: () => import("./screens/account.js"),
        hidden: true,
    },
];

/* Those that there are and that the person signed in may see. */
export function menu() {
    return SCREENS.filter((screen) => screen.load !== null && !screen.hidden && allowed(screen));
}

export function allowed(screen) {
    return screen.permissions.length === 0 || screen.permissions.some(may);
}

/* Whether the screen with this path exists and may be seen: for links from other screens. */
export function reachable(path) {
    const screen = SCREENS.find((one) => one.path === path);
    return screen !== undefined && screen.load !== null && allowed(screen);
}

/* The screen of a route; undefined when there is none. */
export function screenOf(route) {
    const path = route.path[0] || "home";
    return SCREENS.find((screen) => screen.path === path && screen.load !== null);
}
