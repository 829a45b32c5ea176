/* SPDX-License-Identifier: MIT */
/* The elements of the page. All texts of the document become text nodes: none is ever read as HTML. */
import { alternatives, fields, isList } from "./document.js";

/* An element: element("a", { href: "#x" }, "text", child, null, [more]). An attribute that is null stays away. */
export function element(name, attributes, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
        if (value !== null) {
            made.setAttribute(key, value);
        }
    }
    made.append(...children.flat(2).filter((child) => child !== null && child !== ""));
    return made;
}

function code(text) {
    return element("code", null, text);
}

/* Texts of the document name fields and paths in plain words; an address such as /system/limits stays as it is. */
function paragraph(text) {
    return text === "" ? null : element("p", null, text);
}

export function operationAnchor(id) {
    return "operation-" + id;
}

export function errorAnchor(name) {
    return "error-" + name;
}

/* ---- tables ---- */

function boundsOf({ text, code: values }) {
    return element("li", null, text, values ? values.map((value, i) => [i > 0 ? ", " : " ", code(value)]) : []);
}

function fieldRow(field, place) {
    const need = field.required ? "required" : "optional";
    return element("tr", null,
        element("th", { scope: "row" }, code(field.name),
            element("span", { class: need }, need)),
        place ? element("td", null, field.in) : null,
        element("td", null, field.kind,
            field.bounds.length > 0 ? element("ul", { class: "bounds" }, field.bounds.map(boundsOf)) : null),
        element("td", null, field.description));
}

function fieldTable(caption, list, place = false) {
    return element("div", { class: "table", role: "group", tabindex: "0", "aria-label": caption },
        element("table", null, element("caption", null, caption),
            element("thead", null, element("tr", null, element("th", { scope: "col" }, "Name"),
                place ? element("th", { scope: "col" }, "In") : null, element("th", { scope: "col" }, "Value"),
                element("th", { scope: "col" }, "Meaning"))),
            element("tbody", null, list.map((field) => fieldRow(field, place)))));
}

/* ---- code that people copy ---- */

function copyButton(text) {
    if (!navigator.clipboard) {
        return null;
    }
    const button = element("button", { type: "button", class: "copy" }, "Copy");
    button.addEventListener("click", async () => {
        const done = await navigator.clipboard.writeText(text).then(() => true, () => false);
        button.textContent = done ? "Copied" : "Not copied";
        setTimeout(() => {
            button.textContent = "Copy";
        }, 2000);
    });
    return button;
}

function block(caption, text) {
    return element("figure", null, element("figcaption", null, caption, copyButton(text)),
        element("pre", { role: "group", tabindex: "0", "aria-label": caption }, code(text)));
}

function example(value) {
    return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

/* ---- one operation ---- */

function access(operation) {
    if (!operation.token) {
        return element("p", { class: "access" }, "Works without signing in.");
    }
    return element("p", { class: "access" }, "Needs an access token",
        operation.permission === "" ? "." : [" with the permission ", code(operation.permission), "."]);
}

function request(operation) {
    const parts = [];
    if (operation.parameters.length > 0) {
        parts.push(fieldTable("Parameters", operation.parameters, true));
    }
    if (operation.body !== null) {
        const { media, required } = operation.body;
        parts.push(element("p", null, "Body: ", code(media), required ? "." : ", which may be left out.",
            operation.bodyNote === "" ? "" : " " + operation.bodyNote));
        if (operation.bodyFields.length > 0) {
            parts.push(fieldTable("Fields of the body", operation.bodyFields));
        }
    }
    return parts;
}

function replyFields(whole, schema) {
    return alternatives(whole, schema).map((one, i, all) => {
        const list = isList(whole, one);
        const found = fields(whole, list ? one.items || {} : one, list ? "[]." : "");
        const caption = all.length > 1 ? `Fields of the reply, form ${i + 1} of ${all.length}` : "Fields of the reply";
        return found.length > 0 ? fieldTable(caption, found) : null;
    });
}

function reply(whole, { status, description, body, headers }) {
    return [
        element("p", null, element("span", { class: "status good" }, status), " ", description,
            body === null ? "" : [" ", code(body.media)]),
        headers.length > 0 ? element("ul", null, headers.map(([name, header]) => (
            element("li", null, code(name), ": ", header.description || "")))) : null,
        body === null ? null : replyFields(whole, body.schema),
        body === null || body.example === undefined ? null : block(`Example of ${status}`, example(body.example)),
    ];
}

function failure({ status, description, codes }) {
    return element("tr", null, element("th", { scope: "row" }, element("span", { class: "status bad" }, status)),
        element("td", null, description),
        element("td", null, codes.map((one, i) => [i > 0 ? ", " : "",
            element("a", { href: "#" + errorAnchor(one) }, code(one))])));
}

function failures(list) {
    if (list.length === 0) {
        return null;
    }
    return element("div", { class: "table", role: "group", tabindex: "0", "aria-label": "Errors" },
        element("table", null, element("caption", null, "Errors"),
            element("thead", null, element("tr", null, element("th", { scope: "col" }, "Status"),
                element("th", { scope: "col" }, "When"), element("th", { scope: "col" }, "Codes"))),
            element("tbody", null, list.map(failure))));
}

export function method(name) {
    return element("span", { class: "method " + name.toLowerCase() }, name);
}

/* The article of an operation; what it takes and gives is added by fill(). */
export function operationView(operation) {
    const anchor = operationAnchor(operation.id);
    return element("article", { id: anchor, "aria-labelledby": anchor + "-name", tabindex: "-1" },
        element("h3", { id: anchor + "-name" },
            element("a", { href: "#" + anchor, title: "Address of this operation" }, operation.summary)),
        element("p", { class: "path" }, method(operation.method), " ", code(operation.path)),
        paragraph(operation.description), access(operation));
}

export function fill(article, whole, operation) {
    article.append(...[block("With curl", operation.curl), request(operation),
        operation.replies.map((one) => reply(whole, one)), failures(operation.failures)]
        .flat(3).filter((part) => part !== null));
}

/* ---- the page ---- */

export function introduction({ title, description, base }) {
    return element("section", { class: "introduction", "aria-labelledby": "top" },
        element("h1", { id: "top" }, title, " interface"), paragraph(description),
        element("p", null, "This page is made from ", element("a", { href: "system/openapi.json" },
            "the OpenAPI document of this very service"), ", which your own tools can read too."),
        block("Once, before the commands below", `BASE=${base}
TOKEN=$(curl -sS "$BASE/customers/login" \\
    --json '{"username": "you@example.org", "password": "…"}' | jq -r .tokens.accessToken)`),
        element("p", null, "Objects that you send may have the members that stand here and no others. Every error has ",
            "the same six members; ", code("code"), " says what happened, and ",
            element("a", { href: "#errors" }, "the list of codes"), " what to do."));
}

export function tagView({ name, description, operations }) {
    const anchor = "tag-" + name.toLowerCase();
    return element("section", { class: "tag", "aria-labelledby": anchor }, element("h2", { id: anchor }, name),
        paragraph(description), operations.map(operationView));
}

function errorView(error) {
    const { operations } = error;
    return element("article", { id: errorAnchor(error.code), class: "error", tabindex: "-1" },
        element("h3", null, element("a", { href: "#" + errorAnchor(error.code), title: "Address of this code" },
            code(error.code)), " ", element("span", { class: "status bad" }, String(error.status))),
        paragraph(error.message),
        operations.length === 0 ? null : element("details", null,
            element("summary", null, operations.length === 1 ? "1 operation answers it"
                : `${operations.length} operations answer it`),
            element("ul", null, operations.map((one) => element("li", null,
                element("a", { href: "#" + operationAnchor(one.id) }, one.summary), " ",
                code(`${one.method} ${one.path}`))))));
}

export function errorsView(errors) {
    return element("section", { class: "tag", "aria-labelledby": "errors" }, element("h2", { id: "errors" }, "Errors"),
        element("p", null, "Every code that the service answers with, with the sentence that it sends along."),
        errors.map(errorView));
}

function contentsGroup(anchor, name, links) {
    return element("details", { open: "" }, element("summary", null, name),
        element("ul", { "data-of": anchor }, links));
}

export function contentsView({ tags, errors }) {
    return [
        ...tags.map(({ name, operations }) => contentsGroup("tag-" + name.toLowerCase(), name, operations.map((one) => (
            element("li", { "data-for": operationAnchor(one.id) }, element("a", { href: "#" + operationAnchor(one.id) },
                method(one.method), " ", element("span", null, one.summary))))))),
        contentsGroup("errors", "Errors", errors.map((one) => element("li", { "data-for": errorAnchor(one.code) },
            element("a", { href: "#" + errorAnchor(one.code) }, element("span", null, one.code))))),
    ];
}
