/* SPDX-License-Identifier: MIT */
/* A button that opens a list of actions or links. The arrow keys go through it; Escape closes it. */
import { html, useEffect, useRef, useState } from "../view.js";
import { Icon } from "./icons.js";

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
    useEffect(() => {
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
