/* SPDX-License-Identifier: MIT */
/*
 * The language of the pages, and what the installation looks like. The pages are written in English. For another
 * language a table (texts-de.js) has each English text and its translation; numbers in a text stand as {}. The first of
 * the browser's languages that there is holds, else the installation's own.
 */
import { get } from "./api.js";
import { showColour } from "./colour.js";
import * as config from "./config.js";

const LANGUAGES = ["en", "de"];

let table = {};

/* Blanks and line ends of the pages' sources do not count. */
function key(text) {
    return text.replace(/\s+/g, " ").trim();
}

/* The text in the reader's language; a text that the table lacks stays as it is. */
export function translated(text) {
    const wanted = key(text);
    if (table[wanted] !== undefined) {
        return table[wanted];
    }
    const numbers = wanted.match(/\d+/g) || [];
    const found = table[wanted.replace(/\d+/g, "{}")];
    return found === undefined ? text : found.replace(/\{\}/g, () => numbers.shift());
}

function pick(wanted) {
    const there = config.languages || LANGUAGES;
    for (const tag of wanted) {
        const found = there.find((one) => one.toLowerCase() === tag.toLowerCase())
            || there.find((one) => one === tag.toLowerCase().split("-")[0]);
        if (found !== undefined) {
            return found;
        }
    }
    return "";
}

/* Calls `change` with each piece of text that the page shows. */
function eachText(change) {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        if (key(walker.currentNode.data) !== "") {
            change(walker.currentNode);
        }
    }
}

function translatePage(language) {
    document.documentElement.lang = language;
    document.title = translated(document.title);
    eachText((node) => {
        const [, before, text, after] = node.data.match(/^(\s*)([^]*?)(\s*)$/);
        node.data = (before && " ") + translated(text) + (after && " ");
    });
}

/* ---- what the installation looks like ---- */

function showHead({ name, logos }) {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const logo = dark ? logos.dark : logos.light;
    if (logo === null && document.querySelector("h1").textContent === name) {
        return;
    }
    const head = document.createElement("header");
    if (logo === null) {
        head.textContent = name;
    } else {
        const picture = document.createElement("img");
        picture.src = logo;
        picture.alt = name;
        head.append(picture);
    }
    document.body.prepend(head);
}

function showSupport(address) {
    const foot = document.createElement("footer");
    const link = document.createElement("a");
    link.href = address;
    link.textContent = address.replace(/^mailto:/, "");
    foot.append(translated("If you need help:"), " ", link);
    document.body.append(foot);
}

function showBranding(branding) {
    eachText((node) => {
        if (key(node.data) === "Gatehouse") {
            node.data = branding.name;
        }
    });
    if (document.title === "Gatehouse") {
        document.title = branding.name;
    }
    showColour(branding.accent, getComputedStyle(document.documentElement).getPropertyValue("--ground").trim());
    showHead(branding);
    if (branding.support !== null) {
        showSupport(branding.support);
    }
}

async function begin() {
    const asked = get("/system/branding");
    let language = pick(navigator.languages || [navigator.language]);
    if (language === "") {
        const reply = await asked;
        language = pick(reply.ok ? reply.body.languages : []);
    }
    if (language !== "" && language !== "en") {
        const module = await import(`./texts-${language}.js`).catch(() => null);
        if (module !== null) {
            table = module.default;
            translatePage(language);
        }
    }
    asked.then((reply) => reply.ok && showBranding(reply.body));
}

/* The other modules of a page wait for this. */
await begin();
