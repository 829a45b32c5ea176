/* SPDX-License-Identifier: MIT */
/*
 * A form of labelled fields. A field is an input, and an element with the input's id and "-error" takes its message;
 * the form's element of the class "summary" lists all messages and receives the focus, so that everybody sees, or
 * hears, what went wrong.
 */
import { translated } from "./texts.js";

let title = document.title;

/* The page's title while there is no fault. */
export function setTitle(text) {
    title = text;
    document.title = text;
}

function setFieldError(input, message) {
    const place = document.getElementById(input.id + "-error");
    place.textContent = message;
    place.hidden = message === "";
    if (message === "") {
        input.removeAttribute("aria-invalid");
    } else {
        input.setAttribute("aria-invalid", "true");
    }
}

export function clearErrors(form) {
    document.title = title;
    const summary = form.querySelector(".summary");
    summary.hidden = true;
    summary.replaceChildren();
    for (const input of form.querySelectorAll(".field input")) {
        setFieldError(input, "");
    }
}

function element(name, text) {
    const made = document.createElement(name);
    made.textContent = text;
    return made;
}

function summaryItem(input, message) {
    const item = document.createElement("li");
    const link = element("a", message);
    link.href = "#" + input.id;
    link.addEventListener("click", (event) => {
        event.preventDefault();
        input.focus();
    });
    item.append(link);
    return item;
}

/* The service says what is wrong with a value ("must have …"); the label names the value. */
function sentence(input, message) {
    const said = translated(message);
    if (!/^[a-z]/.test(message)) {
        return said;
    }
    const label = input.labels[0].textContent;
    return label + " " + said + (/[.!?]$/.test(said) ? "" : ".");
}

/*
 * Shows `heading`, the faults [{field, message}] at their fields and in the summary, and `note` in small print. A fault
 * whose field the form does not show stands in the summary alone. A field keeps its first message.
 */
export function showErrors(form, heading, faults, note) {
    clearErrors(form);
    const summary = form.querySelector(".summary");
    const inputs = Array.from(form.querySelectorAll(".field:not([hidden]) input"));
    const list = document.createElement("ul");
    for (const { field, message } of faults) {
        const input = inputs.find((candidate) => candidate.name === field);
        if (input === undefined) {
            list.append(element("li", translated(message)));
            continue;
        }
        const said = sentence(input, message);
        if (!input.hasAttribute("aria-invalid")) {
            setFieldError(input, said);
        }
        list.append(summaryItem(input, said));
    }
    summary.append(element("h2", translated(heading)));
    if (list.hasChildNodes()) {
        summary.append(list);
    }
    if (note) {
        const small = element("p", note);
        small.className = "note";
        summary.append(small);
    }
    document.title = translated("Error:") + " " + title;
    summary.hidden = false;
    summary.focus();
}

/* ---- sending ---- */

/* Forms that have to wait before they may be sent again: when that ends. */
const waits = new WeakMap();

/* The element that tells screen readers what the form is doing. */
function statusOf(form) {
    let status = form.querySelector(".busy");
    if (status === null) {
        status = element("p", "");
        status.className = "busy";
        status.setAttribute("role", "status");
        form.append(status);
    }
    return status;
}

/*
 * The button is off and says what it is doing; passwords that are shown are hidden, so that no browser remembers them.
 */
function begin(button, form) {
    button.setAttribute("aria-disabled", "true");
    button.textContent = translated("Sending …");
    form.setAttribute("aria-busy", "true");
    form.dispatchEvent(new Event("sending"));
    statusOf(form).textContent = translated("Sending …");
}

function end(button, form, words) {
    button.textContent = words;
    button.removeAttribute("aria-disabled");
    form.removeAttribute("aria-busy");
    form.dispatchEvent(new Event("sent"));
    statusOf(form).textContent = "";
}

/* A handler that runs `act`, one at a time. */
function oneAtATime(button, form, act) {
    let busy = false;
    return async (event) => {
        event.preventDefault();
        if (busy || Date.now() < (waits.get(form) || 0)) {
            return;
        }
        busy = true;
        const words = button.textContent;
        begin(button, form);
        try {
            await act();
        } finally {
            busy = false;
            end(button, form, words);
            showWait(button, form, words);
        }
    };
}

/* While the form has to wait, its button is off and counts the seconds. */
function showWait(button, form, words) {
    const left = Math.ceil(((waits.get(form) || 0) - Date.now()) / 1000);
    if (left > 0) {
        button.setAttribute("aria-disabled", "true");
        button.textContent = `${words} (${left})`;
        setTimeout(() => showWait(button, form, words), 1000);
    } else {
        button.removeAttribute("aria-disabled");
        button.textContent = words;
    }
}

/* The form may not be sent again for so many seconds. */
export function pause(form, seconds) {
    waits.set(form, Date.now() + seconds * 1000);
}

/*
 * Runs `act` for each submission. It also switches the form on, which is off in the page so that it cannot be sent
 * without a script.
 */
export function onSubmit(form, act) {
    const button = form.querySelector("button[type=submit]");
    form.addEventListener("submit", oneAtATime(button, form, act));
    button.disabled = false;
}

/* The same for a button that does something else with the form. */
export function onPress(button, form, act) {
    button.addEventListener("click", oneAtATime(button, form, act));
    button.disabled = false;
}

/* Makes the checkbox `box` show and hide what is typed into the form's password fields. */
export function showPasswordsWith(box, form) {
    const inputs = Array.from(form.querySelectorAll("input[type=password]"));
    const apply = () => inputs.forEach((input) => {
        input.type = box.checked ? "text" : "password";
    });
    box.addEventListener("change", apply);
    form.addEventListener("sending", () => inputs.forEach((input) => {
        input.type = "password";
    }));
    form.addEventListener("sent", apply);
    apply();
}
