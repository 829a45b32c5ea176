/* SPDX-License-Identifier: MIT */
/* The small parts of screens: icons, buttons, badges, notices, the short word at the lower edge. */
import { dateTime, errorText, relative, t } from "../texts.js";
import { html, shared, useEffect, useRef, useShared, useState } from "../view.js";

/* ---- icons: lines in a square of 24, drawn with the colour of the text beside them ---- */

const PATHS = {
    account: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm-8 8c1-4 4-5 8-5s7 1 8 5",
    archive: "M4 8v11h16V8M3 4h18v4H3zm6 8h6",
    audit: "M7 3h10v18H7zM10 8h4m-4 4h4m-4 4h2",
    check: "m5 13 4 4L19 7",
    chevron: "m6 9 6 6 6-6",
    close: "m6 6 12 12M18 6 6 18",
    copy: "M9 9h11v11H9zM5 15H4V4h11v1",
    download: "M12 4v11m-5-5 5 5 5-5M5 20h14",
    edit: "m4 20 1-4L16 5l3 3L8 19zM14 7l3 3",
    external: "M14 4h6v6m0-6-9 9M18 14v6H4V6h6",
    file: "M6 3h8l4 4v14H6zm8 0v4h4",
    files: "M3 6h6l2 2h10v11H3z",
    filter: "M4 5h16l-6 8v6l-4-2v-4z",
    home: "m4 11 8-7 8 7v9h-5v-6H9v6H4z",
    image: "M4 5h16v14H4zm0 11 5-5 4 4 3-3 4 4M15.500 9h.01",
    info: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18Zm0-10v6m0-9v.01",
    link: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1m2 4a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
    mail: "M3 6h18v12H3zm0 1 9 6 9-6",
    menu: "M4 7h16M4 12h16M4 17h16",
    more: "M12 6v.01M12 12v.01M12 18v.01",
    organisations: "M4 21V5l8-2v18m0-12h8v12M4 21h17M7 8h2m-2 4h2m-2 4h2m6-3h2m-2 4h2",
    pause: "M8 5v14M16 5v14",
    people: "M9 11a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7Zm-6 9c0-4 2-6 6-6s6 2 6 6"
        + "M16 4a3.500 3.500 0 0 1 0 7m2 3c2 1 3 3 3 6",
    plus: "M12 5v14M5 12h14",
    refresh: "M20 5v5h-5m5 0a8 8 0 1 0 0 5",
    restore: "M4 5v5h5m-5 0a8 8 0 1 1 0 5",
    search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14Zm5-2 5 5",
    settings: "M4 7h9m4 0h3M4 17h3m4 0h9M15 9.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5Z"
        + "m-6 10a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5Z",
    signOut: "M10 4H4v16h6m4-12 4 4-4 4m4-4H9",
    system: "M3 12h4l3-8 4 16 3-8h4",
    tag: "M3 12V4h8l10 10-8 7zm5-4v.01",
    trash: "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13",
    upload: "M12 20V9m-5 5 5-5 5 5M5 4h14",
    warning: "M12 4 2.500 20h19zm0 6v5m0 2.500v.01",
};

/* An icon says nothing to a screen reader: the words beside it, or the label of its button, do. */
export function Icon({ name }) {
    return html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d=${PATHS[name] || PATHS.info} /></svg>`;
}

/* ---- buttons, notices, badges, dates, ids, bars, sparklines ---- */

/*
 * A button. kind: "" (bordered), "primary", "danger", "plain" (no border), "icon" (the label is for screen readers and
 * the title). While the promise that `onPress` returns is under way it is off and says `busy`.
 */
export function Button({ kind = "", icon, label, busy, disabled, onPress, ...rest }) {
    const [running, setRunning] = useState(false);
    const press = async (event) => {
        if (running || disabled) {
            return;
        }
        setRunning(true);
        try {
            await onPress(event);
        } finally {
            setRunning(false);
        }
    };
    const named = kind === "icon" ? { "aria-label": label, title: label } : {};
    return html`<button type="button" class="button ${kind}" aria-disabled=${running || disabled ? "true" : undefined}
        onClick=${press} ...${named} ...${rest}>
        ${icon && html`<${Icon} name=${icon} />`}
        ${kind !== "icon" && html`<span>${running && busy ? busy : label}</span>`}
    </button>`;
}

/* A link that looks like a button. */
export function LinkButton({ kind = "", icon, label, href, ...rest }) {
    return html`<a class="button ${kind}" href=${href} ...${rest}>${icon && html`<${Icon} name=${icon} />`}
        <span>${label}</span></a>`;
}

/* The head of a screen: its title, a line of facts, and the actions of the whole screen. */
export function PageHead({ title, facts, back, children }) {
    return html`<header class="page-head">
        <div>
            ${back && html`<a class="back" href=${back.href}><${Icon} name="chevron" />${back.label}</a>`}
            <h1 tabindex="-1">${title}</h1>
            ${facts && html`<p class="quiet">${facts}</p>`}
        </div>
        ${children && html`<div class="actions">${children}</div>`}
    </header>`;
}

/* meaning: "neutral", "good", "warning" or "danger". The words carry the meaning, the colour only repeats it. */
export function Badge({ meaning = "neutral", children }) {
    return html`<span class="badge ${meaning}">${children}</span>`;
}

export function Notice({ meaning = "neutral", title, children, ...rest }) {
    const icons = { neutral: "info", good: "check", warning: "warning", danger: "warning" };
    return html`<div class="notice ${meaning}" ...${rest}><${Icon} name=${icons[meaning]} />
        <div>${title && html`<p class="strong">${title}</p>`}${children}</div></div>`;
}

/* What a refusal says, with the id that helps whoever is asked for help. */
export function ErrorNotice({ error, onRetry, title }) {
    return html`<${Notice} meaning="danger" title=${title} role="alert">
        <p>${errorText(error)}</p>
        ${error.requestId !== "" && html`<p class="quiet small">
            ${t("Request")} <${CopyId} id=${error.requestId} /></p>`}
        ${onRetry && html`<${Button} icon="refresh" label=${t("Try again")} onPress=${onRetry} />`}
    </${Notice}>`;
}

/* An empty place: what is not there, and the one next action. */
export function Empty({ icon = "info", title, text, children }) {
    return html`<div class="empty"><${Icon} name=${icon} /><p class="strong">${title}</p>
        ${text && html`<p class="quiet">${text}</p>`}${children}</div>`;
}

/* "3 minutes ago", with the exact time as its title; `none` where there is no date. */
export function When({ at, none = "–" }) {
    const [, again] = useState(0);
    useEffect(() => {
        const timer = setInterval(() => again((n) => n + 1), 60000);
        return () => clearInterval(timer);
    }, []);
    return at ? html`<time datetime=${at} title=${dateTime(at)}>${relative(at)}</time>` : none;
}

/* The end of an id; a click copies all of it. */
export function CopyId({ id }) {
    const copy = async () => {
        try {
            await navigator.clipboard.writeText(id);
            toast(t("Copied."));
        } catch (failure) {
            toast(t("The browser does not allow copying. Mark it instead: {text}", { text: id }));
        }
    };
    const short = id.length > 12 ? "…" + id.slice(-8) : id;
    return html`<button type="button" class="copy" title=${t("Copy {text}", { text: id })} onClick=${copy}>
        <code>${short}</code><${Icon} name="copy" /></button>`;
}

/* How much of something is used; `label` is said to screen readers. Without a limit there is no bar. */
export function Bar({ used, limit, label }) {
    if (limit === null || limit === undefined) {
        return null;
    }
    const part = limit === 0 ? 1 : Math.min(1, used / limit);
    const meaning = part > 0.95 ? "danger" : part > 0.8 ? "warning" : "";
    return html`<div class="bar ${meaning}" role="meter" aria-label=${label} aria-valuemin="0" aria-valuemax="100"
        aria-valuenow=${Math.round(part * 100)}><span style=${{ width: `${part * 100}%` }}></span></div>`;
}

/* The path of a line through the values, in a square of 100 by 24; null leaves a gap. */
function linePath(values) {
    const top = Math.max(1e-9, ...values.filter((value) => value !== null));
    const step = 100 / Math.max(1, values.length - 1);
    return values.map((value, at) => {
        if (value === null) {
            return "";
        }
        const begins = at === 0 || values[at - 1] === null;
        /* "h0": a value between two gaps is a dot. */
        const point = `${(at * step).toFixed(2)} ${(22 - value / top * 20).toFixed(2)}`;
        return begins ? `M${point}h0` : `L${point}`;
    }).join("");
}

/*
 * A line of numbers without axes. `values` may hold null for "not known", which leaves a gap. `label` says in words
 * what the line shows; the last value stands beside it.
 */
export function Sparkline({ values, label, last }) {
    return html`<div class="sparkline">
        <svg viewBox="0 0 100 24" preserveAspectRatio="none" role="img" aria-label=${label}>
            <path d=${linePath(values)} /></svg>
        ${last !== undefined && html`<span class="number">${last}</span>`}</div>`;
}

/* A picture of a person: their initials. */
export function Initials({ name }) {
    const letters = name.split(/\s+/).filter(Boolean).map((part) => [...part][0]);
    return html`<span class="initials" aria-hidden="true">${[letters[0], letters.length > 1 && letters.at(-1)]}</span>`;
}

/* Dots while something is under way; it appears after a moment only. */
export function Waiting({ label }) {
    const text = label || t("Loading …");
    return html`<p class="waiting" role="status"><span class="spinner" aria-hidden="true"></span>${text}</p>`;
}

/* ---- toasts ---- */

/* A short word about what has just happened, at the lower edge. It may take the action back. */

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
