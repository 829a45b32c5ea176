/* SPDX-License-Identifier: MIT */
/*
 * Dialogs and drawers, both the browser's own <dialog>: it keeps the focus inside, Escape closes it, and the focus goes
 * back to where it was.
 */
import { t } from "../texts.js";
import { html, shared, useLayoutEffect, useName, useRef, useShared } from "../view.js";
import { Button } from "./basic.js";
import { Icon } from "./icons.js";

/*
 * kind: "dialog" or "drawer". onClose is called when the person closes it; without onClose it cannot be closed.
 * `foot` holds its buttons.
 */
export function Dialog({ kind = "dialog", title, facts, onClose, foot, children }) {
    const place = useRef(null);
    const name = useName("dialog");
    useLayoutEffect(() => {
        const before = document.activeElement;
        const dialog = place.current;
        dialog.showModal();
        return () => {
            /* As long as it is open nothing outside takes the focus. */
            dialog.close();
            if (before !== null && before.isConnected) {
                before.focus();
            }
        };
    }, []);
    const cancel = (event) => {
        event.preventDefault();
        if (onClose) {
            onClose();
        }
    };
    const outside = (event) => {
        if (kind === "drawer" && event.target === place.current && onClose) {
            onClose();
        }
    };
    return html`<dialog ref=${place} class=${kind} aria-labelledby=${name} onCancel=${cancel} onMouseDown=${outside}>
        <div class="frame">
            <div class="head">
                <div><h2 id=${name} tabindex="-1">${title}</h2>${facts && html`<p class="quiet">${facts}</p>`}</div>
                ${onClose && html`<button type="button" class="button icon" aria-label=${t("Close")} onClick=${onClose}>
                    <${Icon} name="close" /></button>`}</div>
            <div class="content">${children}</div>
            ${foot && html`<div class="foot">${foot}</div>`}
        </div>
    </dialog>`;
}

export function Drawer(props) {
    return html`<${Dialog} kind="drawer" ...${props} />`;
}

/* ---- questions ---- */

const question = shared(null);

/*
 * Asks before something ends: {title, text, action, danger}; `action` is the verb on the button. Resolves to true when
 * the person presses it.
 */
export function ask(about) {
    return new Promise((resolve) => {
        question.set({
            ...about,
            answer(said) {
                question.set(null);
                resolve(said);
            },
        });
    });
}

/* Stands once in the page. */
export function Question() {
    const asked = useShared(question);
    if (asked === null) {
        return null;
    }
    const { title, text, action, danger, answer } = asked;
    const foot = html`<${Button} label=${t("Cancel")} onPress=${() => answer(false)} />
        <${Button} kind=${danger ? "danger" : "primary"} label=${action} onPress=${() => answer(true)} />`;
    return html`<${Dialog} title=${title} onClose=${() => answer(false)} foot=${foot}><p>${text}</p></${Dialog}>`;
}
