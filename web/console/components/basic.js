/* SPDX-License-Identifier: MIT */
/* Small parts that every screen uses: buttons, notices, badges, dates, ids, bars, sparklines. */
import { errorText } from "../errors.js";
import { dateTime, relative, t } from "../texts.js";
import { html, useEffect, useRef, useState } from "../view.js";
import { Icon } from "./icons.js";
import { toast } from "./toast.js";

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

/* Sets the focus into an element once it is shown. */
export function useFocus(wanted = true) {
    const place = useRef(null);
    useEffect(() => {
        if (wanted && place.current !== null) {
            place.current.focus();
        }
    }, [wanted]);
    return place;
}
