/* SPDX-License-Identifier: MIT */
/*
 * Forms. The faults of a form stand at their fields and in a summary that takes the focus, so that everybody sees, or
 * hears, what went wrong. What was typed stays.
 */
import { setUnsaved } from "../router.js";
import { errorText, t } from "../texts.js";
import { html, useEffect, useLayoutEffect, useName, useRef, useState } from "../view.js";
import { CopyId } from "./basic.js";
import { ask } from "./overlay.js";

/*
 * The values of a form, and what is wrong with them. `values` are the first ones. Returns {values, faults, error, busy,
 * changed, set(name, value), reset(values)}; faults is {name: text}.
 */
export function useForm(values) {
    const [first, setFirst] = useState(values);
    const [state, setState] = useState({ values, faults: {}, list: [], error: null, busy: false, turn: 0 });
    const labels = useRef({});
    const change = (what) => setState((old) => ({ ...old, ...what }));
    return {
        ...state,
        labels: labels.current,
        changed: Object.keys(first).some((name) => String(first[name]) !== String(state.values[name])),
        set: (name, value) => setState((old) => ({ ...old, values: { ...old.values, [name]: value } })),
        reset(next) {
            setFirst(next);
            change({ values: next, faults: {}, list: [], error: null });
        },
        change,
    };
}

/* Asks before the form's changes are lost by leaving. */
export function useUnsaved(form) {
    useEffect(() => {
        if (!form.changed) {
            return undefined;
        }
        setUnsaved(() => ask({
            title: t("Leave without saving?"), text: t("What you have changed here is not saved yet."),
            action: t("Leave"), danger: true,
        }));
        return () => setUnsaved(null);
    }, [form.changed]);
}

/* The words for the commonest faults of a value; `message` is the service's own. */
function faultText({ code, message }, label) {
    const words = {
        required: () => t("This is missing."),
        format: () => t("This does not have the right form."),
        length: () => t("This is too short or too long."),
        common: () => t("This is one of the most common passwords. Choose another one."),
        personal: () => t("This must not be the e-mail address, the name or the organisation's name."),
        mismatch: () => t("This is not right."),
    }[code];
    if (words !== undefined) {
        return words();
    }
    return /^[a-z]/.test(message) ? `${label || ""} ${message}.`.trim() : message;
}

function showFaults(form, list, error) {
    const faults = {};
    for (const { field, message } of list) {
        faults[field] = faults[field] || message;
    }
    form.change({ faults, list, error, busy: false, turn: form.turn + 1 });
}

function Summary({ form, title }) {
    const place = useRef(null);
    useLayoutEffect(() => {
        if (form.turn > 0) {
            place.current?.focus();
        }
    }, [form.turn]);
    if (form.list.length === 0 && form.error === null) {
        return null;
    }
    const lead = (event, field) => {
        event.preventDefault();
        place.current.closest("form").elements.namedItem(field)?.focus();
    };
    const known = (field) => form.labels[field] !== undefined;
    return html`<div class="summary" role="alert" tabindex="-1" ref=${place}>
        <p class="strong">${form.list.length > 0 ? title : errorText(form.error)}</p>
        ${form.list.length > 0 && html`<ul>${form.list.map(({ field, message }) => html`<li key=${field + message}>
            ${known(field) ? html`<a href="#" onClick=${(event) => lead(event, field)}>
                ${form.labels[field]}: ${message}</a>` : message}</li>`)}</ul>`}
        ${form.error !== null && form.error.requestId !== "" && html`<p class="quiet small">
            ${t("Request")} <${CopyId} id=${form.error.requestId} /></p>`}
    </div>`;
}

/*
 * form        what useForm() returned
 * check       gives the faults that are known without asking: [{field, message}]
 * send        sends the values; resolves to a reply of api.js
 * done        is called with the reply when it was good
 * refused     may turn an error into faults: [{field, message}]; else the service's own are shown
 * label, busy the words on the button, before and while it is sent
 * blocked     it cannot be sent at the moment
 * title       what the summary says, such as "The person is not invited yet"
 */
export function Form(given) {
    const { form, check, send, done, refused, label, busy, title, kind = "primary", more, blocked, children,
        ...rest } = given;
    const submit = async (event) => {
        event.preventDefault();
        if (form.busy || blocked) {
            return;
        }
        const found = check ? check(form.values) : [];
        if (found.length > 0) {
            showFaults(form, found, null);
            return;
        }
        form.change({ busy: true, faults: {}, list: [], error: null });
        const reply = await send(form.values);
        if (reply.ok) {
            form.change({ busy: false });
            await done(reply);
            return;
        }
        const own = refused ? refused(reply.error) : [];
        showFaults(form, own.length > 0 ? own : reply.error.validation.map((entry) => ({
            field: entry.path, message: faultText(entry, form.labels[entry.path]),
        })), reply.error);
    };
    return html`<form method="post" novalidate aria-busy=${String(form.busy)} onSubmit=${submit} ...${rest}>
        <${Summary} form=${form} title=${title || t("Check what you have entered")} />
        ${children}
        <div class="actions">
            <button type="submit" class="button ${kind}" aria-disabled=${form.busy || blocked ? "true" : undefined}>
                ${form.busy ? busy || t("Sending …") : label}</button>
            ${more}
        </div>
        <p class="unseen" role="status">${form.busy ? busy || t("Sending …") : ""}</p>
    </form>`;
}

/* ---- fields ---- */

/* The label, hint and fault round an input, which is given its attributes. */
function Labelled({ form, name, label, hint, show, className = "" }) {
    const id = useName(name);
    const fault = form.faults[name];
    form.labels[name] = label;
    const described = [hint && `${id}-hint`, fault && `${id}-error`].filter(Boolean).join(" ");
    return html`<div class="field ${className}">
        <label for=${id}>${label}</label>
        ${hint && html`<p class="hint" id="${id}-hint">${hint}</p>`}
        ${fault && html`<p class="error" id="${id}-error">${fault}</p>`}
        ${show({ id, name, "aria-invalid": fault ? "true" : undefined, "aria-describedby": described || undefined })}
    </div>`;
}

/* A line of text: type, autocomplete, inputmode and the like go to the input. */
export function Field({ form, name, label, hint, className, ...rest }) {
    return html`<${Labelled} form=${form} name=${name} label=${label} hint=${hint} className=${className}
        show=${(own) => html`<input type="text" autocomplete="off" value=${form.values[name]}
            onInput=${(event) => form.set(name, event.target.value)} ...${own} ...${rest} />`} />`;
}

/* A password, which a button shows and hides. It is hidden again while it is sent. */
export function PasswordField({ form, name, label, hint, ...rest }) {
    const [shown, setShown] = useState(false);
    const verb = shown ? t("Hide") : t("Show");
    return html`<${Labelled} form=${form} name=${name} label=${label} hint=${hint}
        show=${(own) => html`<span class="password"><input type=${shown && !form.busy ? "text" : "password"}
            autocapitalize="none" spellcheck="false" value=${form.values[name]}
            onInput=${(event) => form.set(name, event.target.value)} ...${own} ...${rest} />
            <button type="button" class="button plain" aria-label="${verb}: ${label}" aria-pressed=${String(shown)}
                onClick=${() => setShown(!shown)}>${verb}</button></span>`} />`;
}

/* options: [{value, label}] */
export function Select({ form, name, label, hint, options, ...rest }) {
    return html`<${Labelled} form=${form} name=${name} label=${label} hint=${hint}
        show=${(own) => html`<select value=${form.values[name]}
            onChange=${(event) => form.set(name, event.target.value)} ...${own} ...${rest}>
            ${options.map((one) => html`<option key=${one.value} value=${one.value}>${one.label}</option>`)}
            </select>`} />`;
}

/* A check box; `hint` stands behind its label. */
export function Choice({ form, name, label, hint, disabled }) {
    const id = useName(name);
    form.labels[name] = label;
    return html`<div class="choice"><input type="checkbox" id=${id} name=${name} checked=${form.values[name]}
        disabled=${disabled} aria-describedby=${hint ? `${id}-hint` : undefined}
        onChange=${(event) => form.set(name, event.target.checked)} />
        <div><label for=${id}>${label}</label>${hint && html`<p class="hint" id="${id}-hint">${hint}</p>`}</div></div>`;
}

/* ---- filters ---- */

const PAUSE_MS = 250;

/* A field that searches a moment after the last key; Enter searches at once. */
export function SearchField({ label, value, onSearch }) {
    const [text, setText] = useState(value || "");
    const timer = useRef(0);
    useEffect(() => setText(value || ""), [value]);
    useEffect(() => () => clearTimeout(timer.current), []);
    const search = (wanted) => {
        clearTimeout(timer.current);
        onSearch(wanted.trim());
    };
    const input = (event) => {
        const wanted = event.target.value;
        setText(wanted);
        clearTimeout(timer.current);
        timer.current = setTimeout(() => search(wanted), PAUSE_MS);
    };
    const send = (event) => {
        event.preventDefault();
        search(text);
    };
    return html`<form role="search" class="search" onSubmit=${send}><input type="search" aria-label=${label}
        placeholder=${label} autocomplete="off" spellcheck="false" value=${text} onInput=${input} /></form>`;
}

/* A choice that is set at once: options [{value, label}]. */
export function FilterSelect({ label, value, options, onChange }) {
    return html`<label class="filter"><span>${label}</span>
        <select value=${value || ""} onChange=${(event) => onChange(event.target.value)}>
            ${options.map((one) => html`<option key=${one.value} value=${one.value}>${one.label}</option>`)}
        </select></label>`;
}
