/* SPDX-License-Identifier: MIT */
/* What opens above the page: dialogs, drawers, questions, menus. */
import { t } from "../texts.js";
import { html, shared, useLayoutEffect, useName, useRef, useShared, useState } from "../view.js";
import { Button, Icon } from "./basic.js";

/* ---- dialogs and drawers ---- */

/*
 * Dialogs and drawers, both the browser's own <dialog>: it keeps the focus inside, Escape closes it, and the focus goes
 * back to where it was.
 */

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

/* ---- menus ---- */

/* A button that opens a list of actions or links. The arrow keys go through it; Escape closes it. */

function focusItem(list, step) {
    const items = [...list.querySelectorAll("[role=menuitem]")];
    const at = items.indexOf(document.activeElement);
    const next = step === "first" ? 0 : step === "last" ? items.length - 1 : (at + step + items.length) % items.length;
    items[next].focus();
}

const KEYS = { ArrowDown: 1, ArrowUp: -1, Home: "first", End: "last" };

function Item({ item, close }) {
    const content = html`${item.icon && html`<${Icon} name=${item.icon} />`}<span>${item.label}</span>`;
    const kind = item.danger ? "danger" : "";
    if (item.href !== undefined) {
        return html`<a role="menuitem" tabindex="-1" class=${kind} href=${item.href} onClick=${close}>${content}</a>`;
    }
    const press = () => {
        close();
        item.onPress();
    };
    return html`<button type="button" role="menuitem" tabindex="-1" class=${kind} onClick=${press}>${content}</button>`;
}

/*
 * items: [{label, icon, onPress | href, danger}]; `label` names the button where it has no text of its own
 * (`children`).
 */
export function Menu({ label, items, kind = "icon", children }) {
    const [open, setOpen] = useState(false);
    const place = useRef(null);
    const close = () => {
        setOpen(false);
        place.current.querySelector("button").focus();
    };
    useLayoutEffect(() => {
        if (!open) {
            return undefined;
        }
        focusItem(place.current, "first");
        const outside = (event) => place.current.contains(event.target) || setOpen(false);
        document.addEventListener("pointerdown", outside);
        return () => document.removeEventListener("pointerdown", outside);
    }, [open]);
    const key = (event) => {
        if (open && event.key === "Escape") {
            event.preventDefault();
            event.stopPropagation();
            close();
        } else if (open && event.key === "Tab") {
            setOpen(false);
        } else if (KEYS[event.key] !== undefined) {
            event.preventDefault();
            if (open) {
                focusItem(place.current, KEYS[event.key]);
            } else {
                setOpen(true);
            }
        }
    };
    return html`<div class="menu" ref=${place} onKeyDown=${key}>
        <button type="button" class="button ${kind}" title=${label} aria-label=${children ? undefined : label}
            aria-haspopup="menu" aria-expanded=${String(open)} onClick=${() => setOpen(!open)}>
            ${children || html`<${Icon} name="more" />`}</button>
        ${open && html`<div class="menu-items" role="menu" aria-label=${label}>
            ${items.filter(Boolean).map((item) => html`<${Item} key=${item.label} item=${item} close=${close} />`)}
        </div>`}
    </div>`;
}
