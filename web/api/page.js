/* SPDX-License-Identifier: MIT */
/*
 * The page "Interface": fetches the OpenAPI document, shows it, searches in it, and leads to the operation or the error
 * code that the address names (#operation-login, #error-auth.credentials). A search stands in the address too
 * (?search=…), so that it can be sent to somebody.
 */
import { get } from "../assets/api.js";
import { fits, read } from "./document.js";
import {
    contentsView, element, errorAnchor, errorsView, fill, introduction, operationAnchor, tagView,
} from "./view.js";

const WIDE = matchMedia("(min-width: 60rem)");
const content = document.getElementById("content");
const contents = document.getElementById("contents");
const search = document.getElementById("search");
const state = document.getElementById("state");

/* Articles that have no details yet: a function each that adds them. */
const waiting = new Map();

function complete(id) {
    const add = waiting.get(id);
    waiting.delete(id);
    if (add !== undefined) {
        add();
    }
}

/* Completes the articles a few at a time, so that the page answers meanwhile. */
function completeAll() {
    const end = performance.now() + 12;
    for (const id of waiting.keys()) {
        complete(id);
        if (performance.now() > end) {
            setTimeout(completeAll, 0);
            return;
        }
    }
    content.setAttribute("aria-busy", "false");
}

/* ---- the address ---- */

function showNamed() {
    const id = decodeURIComponent(location.hash.slice(1));
    const named = document.getElementById(id);
    if (named === null) {
        return;
    }
    for (const article of waiting.keys()) {
        complete(article);
        if (article === id) {
            break;
        }
    }
    if (named.hidden || named.closest("section[hidden]") !== null) {
        search.value = "";
        find();
    }
    named.scrollIntoView();
    named.focus({ preventScroll: true });
    for (const link of contents.querySelectorAll("a")) {
        if (link.hash.slice(1) === id) {
            link.setAttribute("aria-current", "location");
        } else {
            link.removeAttribute("aria-current");
        }
    }
    if (WIDE.matches) {
        const link = contents.querySelector("[aria-current]");
        contents.scrollTop += link === null ? 0
            : link.getBoundingClientRect().top - contents.getBoundingClientRect().top - contents.clientHeight / 2;
    }
}

/* ---- the search ---- */

let model = { tags: [], errors: [] };

function show(id, visible) {
    document.getElementById(id).hidden = !visible;
    contents.querySelector(`[data-for="${CSS.escape(id)}"]`).hidden = !visible;
    return visible ? 1 : 0;
}

function showSection(anchor, visible) {
    document.getElementById(anchor).closest("section").hidden = !visible;
    contents.querySelector(`[data-of="${CSS.escape(anchor)}"]`).closest("details").hidden = !visible;
}

function find() {
    const words = search.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
    let operations = 0;
    for (const tag of model.tags) {
        const found = tag.operations.reduce((sum, one) => (
            sum + show(operationAnchor(one.id), fits(one.text, words))), 0);
        showSection("tag-" + tag.name.toLowerCase(), found > 0);
        operations += found;
    }
    const codes = model.errors.reduce((sum, one) => (
        sum + show(errorAnchor(one.code), fits(`${one.code} ${one.status} ${one.message}`.toLowerCase(), words))), 0);
    showSection("errors", codes > 0);
    /* The heading stays: it is the page's own. */
    for (const part of content.querySelectorAll(".introduction > :not(h1)")) {
        part.hidden = words.length > 0;
    }
    state.hidden = words.length === 0;
    state.textContent = operations + codes === 0 ? "Nothing has all these words. Try fewer of them."
        : `Operations: ${operations}. Error codes: ${codes}.`;
    const address = new URL(location.href);
    address.search = words.length === 0 ? "" : "?" + new URLSearchParams({ search: search.value.trim() });
    history.replaceState(null, "", address);
}

function listenToSearch() {
    let timer = 0;
    search.addEventListener("input", () => {
        clearTimeout(timer);
        timer = setTimeout(find, 120);
    });
    document.getElementById("search-form").addEventListener("submit", (event) => {
        event.preventDefault();
        find();
    });
    search.value = (new URLSearchParams(location.search).get("search") || "").slice(0, 100);
    search.disabled = false;
    if (search.value !== "") {
        find();
    }
}

/* ---- the page ---- */

function showContents() {
    contents.replaceChildren(...contentsView(model));
    contents.hidden = false;
    for (const group of contents.querySelectorAll("details")) {
        group.open = WIDE.matches;
    }
}

function showDocument(whole) {
    model = read(whole, new URL(".", document.baseURI).href.replace(/\/$/, ""));
    document.getElementById("version").textContent = `Version ${model.version}`;
    showContents();
    state.hidden = true;
    content.append(introduction(model), ...model.tags.map(tagView), errorsView(model.errors));
    for (const operation of model.tags.flatMap((tag) => tag.operations)) {
        const id = operationAnchor(operation.id);
        waiting.set(id, () => fill(document.getElementById(id), whole, operation));
    }
    listenToSearch();
    showNamed();
    window.addEventListener("hashchange", showNamed);
    setTimeout(completeAll, 0);
}

function showFailure(error) {
    content.setAttribute("aria-busy", "false");
    state.textContent = error.message;
    const again = element("button", { type: "button" }, "Try again");
    again.addEventListener("click", () => location.reload());
    content.append(again);
}

async function begin() {
    const asked = get("/system/branding");
    const reply = await get("/system/openapi.json");
    if (reply.ok) {
        showDocument(reply.body);
    } else {
        showFailure(reply.error);
    }
    const branding = await asked;
    if (branding.ok) {
        document.getElementById("product").textContent = branding.body.name;
        document.title = `Interface · ${branding.body.name}`;
    }
}

begin();
