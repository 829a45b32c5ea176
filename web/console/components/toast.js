/* SPDX-License-Identifier: MIT */
/* A short word about what has just happened, at the lower edge. It may take the action back. */
import { t } from "../texts.js";
import { html, shared, useShared } from "../view.js";
import { Icon } from "./icons.js";

const SHOWN_MS = 6000;
const WITH_UNDO_MS = 12000;
const AT_ONCE = 3;

const toasts = shared([]);
let made = 0;

function drop(id) {
    toasts.set(toasts.get().filter((one) => one.id !== id));
}

/* `undo`: a function, run by a button "Undo". */
export function toast(text, { undo, meaning = "neutral" } = {}) {
    const id = ++made;
    toasts.set([...toasts.get(), { id, text, undo, meaning }].slice(-AT_ONCE));
    setTimeout(() => drop(id), undo ? WITH_UNDO_MS : SHOWN_MS);
}

function Toast({ one }) {
    const undo = () => {
        drop(one.id);
        one.undo();
    };
    return html`<div class="toast ${one.meaning}"><span>${one.text}</span>
        ${one.undo && html`<button type="button" class="button plain" onClick=${undo}>${t("Undo")}</button>`}
        <button type="button" class="button icon" aria-label=${t("Close")} onClick=${() => drop(one.id)}>
            <${Icon} name="close" /></button></div>`;
}

/* Stands once in the page; screen readers read what comes into it. */
export function Toasts() {
    return html`<div class="toasts" role="status" aria-live="polite">
        ${useShared(toasts).map((one) => html`<${Toast} key=${one.id} one=${one} />`)}</div>`;
}
