/* SPDX-License-Identifier: MIT */
/*
 * What the console looks like here: theme, language, and the name, logos and colour of the installation. Theme and
 * language of this browser are kept in localStorage; a signed-in person's own language comes before them.
 */
import { send } from "../assets/api.js";
import { showColour } from "../assets/colour.js";
import { session } from "./session.js";
import { pickLanguage, setLanguage } from "./texts.js";
import { shared } from "./view.js";

const THEME = "gatehouse-theme";
const LANGUAGE = "gatehouse-language";

function stored(name) {
    try {
        return localStorage.getItem(name) || "";
    } catch (failure) {
        return "";
    }
}

function store(name, value) {
    try {
        localStorage.setItem(name, value);
    } catch (failure) {
        /* It holds until the page is left. */
    }
}

/* ---- the installation ---- */

export const brand = shared({ name: "Gatehouse", logos: { light: null, dark: null }, accent: "#1d4f7c", support: null,
    languages: [] });

async function loadBrand() {
    const reply = await send({ method: "GET", path: "/system/branding" });
    if (reply.ok) {
        brand.set(reply.body);
        applyColour();
    }
}

const darkWanted = matchMedia("(prefers-color-scheme: dark)");

/* Whether the dark theme is shown now. */
export function isDark() {
    return theme.get() === "dark" || (theme.get() !== "light" && darkWanted.matches);
}

function applyColour() {
    showColour(brand.get().accent, isDark() ? "#14171b" : "#ffffff");
}

/* ---- theme: "" (as the browser says), "light" or "dark" ---- */

export const theme = shared(stored(THEME));

export function setTheme(wanted) {
    store(THEME, wanted);
    theme.set(wanted);
    applyTheme();
}

function applyTheme() {
    if (theme.get() === "") {
        delete document.documentElement.dataset.theme;
    } else {
        document.documentElement.dataset.theme = theme.get();
    }
    applyColour();
}

/* ---- language ---- */

export const language = shared("en");

async function applyLanguage(tag) {
    if (tag !== language.get() || document.documentElement.lang === "") {
        await setLanguage(tag);
        language.set(tag);
    }
}

/* The language of this browser, for whoever is signed out. */
export function chooseLanguage(tag) {
    store(LANGUAGE, tag);
    return applyLanguage(tag);
}

function wanted() {
    const { me } = session.get();
    const own = me !== null ? me.user.locale : null;
    return pickLanguage([own, stored(LANGUAGE), ...(navigator.languages || []), ...brand.get().languages]);
}

/* Resolves when the first language is there. */
export async function startPreferences() {
    applyTheme();
    darkWanted.addEventListener("change", applyColour);
    session.watch(() => applyLanguage(wanted()));
    loadBrand();
    await applyLanguage(wanted());
}
