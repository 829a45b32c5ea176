/* SPDX-License-Identifier: MIT */
/*
 * What the page shows, read from the OpenAPI document that the service itself serves: its operations by tag, the fields
 * of what they take and give, the errors, and a curl command each. No part of this file touches the page.
 */

const DEPTH_MAX = 8;

function resolve(document, schema) {
    const name = (schema.$ref || "").replace("#/components/schemas/", "");
    return name === "" ? schema : document.components.schemas[name] || {};
}

function types(schema) {
    return Array.isArray(schema.type) ? schema.type : [schema.type];
}

/* "1 to 100 characters", "at least 12", "" */
function span(low, high, unit) {
    const what = unit === "" ? "" : " " + unit;
    if (low !== undefined && low === high) {
        return `exactly ${low}${what}`;
    }
    if (low && high !== undefined) {
        return `${low} to ${high}${what}`;
    }
    if (high !== undefined) {
        return `at most ${high}${what}`;
    }
    return low ? `at least ${low}${what}` : "";
}

const NAMES = { string: "text", integer: "whole number", number: "number", boolean: "true or false", object: "object" };

const FORMATS = {
    "uuid": "id (UUID)", "date-time": "time (RFC 3339)", "binary": "bytes", "email": "e-mail address", "uri": "address",
};

/* The kind of a value in words, without its bounds. */
function kind(document, schema) {
    const one = resolve(document, schema);
    const main = types(one).find((type) => type !== "null");
    if (main === "array") {
        return "list of " + kind(document, one.items || {});
    }
    return FORMATS[one.format] || NAMES[main] || "any value";
}

/* A text without control characters, as nearly all are. */
const PLAIN_TEXT = "^[^\\u0000-\\u001F\\u007F-\\u009F]*$";

/* What a value must hold: sentences, each with an optional piece of code. */
function bounds(document, schema) {
    const said = [];
    const add = (text, code) => text !== "" && said.push({ text, code });
    if (types(schema).includes("array")) {
        add(span(schema.minItems, schema.maxItems, "entries"));
        add(schema.uniqueItems ? "none twice" : "");
        const inner = resolve(document, schema.items || {});
        return said.concat(inner.properties ? [] : bounds(document, inner).map((part) => (
            { ...part, text: part.text.startsWith("one of") ? part.text : "each: " + part.text })));
    }
    add(span(schema.minLength, schema.maxLength, "characters"));
    add(span(schema.minimum, schema.maximum, ""));
    if (schema.enum) {
        add("one of", schema.enum.map(String));
    }
    if (schema.pattern && schema.pattern !== PLAIN_TEXT && schema.format !== "uuid") {
        add("matches", [schema.pattern]);
    }
    if (schema.default !== undefined) {
        add("default", [JSON.stringify(schema.default)]);
    }
    return said;
}

function field(document, name, schema, required) {
    const whole = resolve(document, schema);
    const inner = types(whole).includes("array") ? resolve(document, whole.items || {}) : {};
    return {
        name,
        kind: kind(document, schema) + (types(whole).includes("null") ? " or null" : ""),
        required,
        bounds: bounds(document, whole),
        description: whole.description || inner.description || "",
    };
}

/* The fields of a schema, those of its objects behind it: `organisation`, `organisation.name`, `items[].id`. */
export function fields(document, schema, prefix = "", depth = 0) {
    const whole = resolve(document, schema);
    const list = [];
    for (const [name, member] of Object.entries(whole.properties || {})) {
        const path = prefix + name;
        list.push(field(document, path, member, (whole.required || []).includes(name)));
        if (depth < DEPTH_MAX) {
            const value = resolve(document, member);
            const isList = types(value).includes("array");
            const inner = isList ? value.items || {} : value;
            list.push(...fields(document, inner, path + (isList ? "[]." : "."), depth + 1));
        }
    }
    return list;
}

/* ---- curl ---- */

function quoted(text) {
    return "'" + text.replace(/'/g, "'\\''") + "'";
}

const EXAMPLE_ID = "01980a6e-52c1-7c44-8f3d-3a0b6f1d2e77";

const EXAMPLE_HEADERS = {
    "Tus-Resumable": "1.0.0", "Upload-Offset": "0", "Upload-Length": "48213",
    "Upload-Metadata": "bucket ZmlsZXM=,type Y29udHJhY3Q=,filename Y29udHJhY3QucGRm",
};

function headerLines(operation) {
    const names = operation.parameters.filter((one) => one.in === "header" && one.required).map((one) => one.name);
    if (operation.id === "createUpload") {
        names.push("Upload-Length");
    }
    return names.map((name) => `-H ${quoted(`${name}: ${EXAMPLE_HEADERS[name] || "…"}`)}`);
}

function formLines(example) {
    const lines = [];
    for (const [name, value] of Object.entries(example)) {
        for (const one of Array.isArray(value) ? value : [value]) {
            lines.push(name === "file" ? "-F file=@contract.pdf" : `-F ${quoted(`${name}=${one}`)}`);
        }
    }
    return lines;
}

function bodyLines(operation) {
    const { media, example, required } = operation.body || {};
    if (media === "multipart/form-data") {
        return formLines(example || {});
    }
    if (media === "application/json") {
        return [`--json ${quoted(JSON.stringify(example === undefined ? {} : example, null, 4))}`];
    }
    return media !== undefined && (required || operation.method === "PATCH")
        ? [`-H ${quoted(`Content-Type: ${media}`)}`, "--data-binary @contract.pdf"] : [];
}

function methodWord({ method, body }) {
    if (method === "HEAD") {
        return " --head";
    }
    const usual = body && body.media !== "application/offset+octet-stream" ? "POST" : "GET";
    return method === usual ? "" : ` -X ${method}`;
}

/* One command that works once $BASE and $TOKEN are set. */
function curl(operation) {
    const path = operation.path.replace("{token}", "$LINK").replace(/\{[a-zA-Z]+\}/g, EXAMPLE_ID);
    const token = operation.token ? ' --oauth2-bearer "$TOKEN"' : "";
    const first = `curl -sS${methodWord(operation)}${token} "$BASE${path}"`;
    return [first, ...headerLines(operation), ...bodyLines(operation)].join(" \\\n    ");
}

/* ---- operations ---- */

function readBody(content, required) {
    const [media] = Object.keys(content || {});
    return media === undefined ? null
        : { media, required, schema: content[media].schema || {}, example: content[media].example };
}

function readCodes(reply) {
    const schema = reply.content && reply.content["application/json"] && reply.content["application/json"].schema;
    return (schema && schema.properties && schema.properties.code && schema.properties.code.enum) || [];
}

function readReplies(responses) {
    const replies = [];
    const failures = [];
    for (const [status, reply] of Object.entries(responses)) {
        const codes = readCodes(reply);
        if (Number(status) >= 400) {
            failures.push({ status, description: reply.description, codes });
        } else {
            replies.push({ status, description: reply.description, body: readBody(reply.content, true),
                headers: Object.entries(reply.headers || {}) });
        }
    }
    return { replies, failures };
}

/* The kinds of a body: the schemas of oneOf, or the one that there is. */
export function alternatives(document, schema) {
    const whole = resolve(document, schema);
    return whole.oneOf && !whole.properties ? whole.oneOf : [schema];
}

/* Whether a body is a list by itself. */
export function isList(document, schema) {
    return types(resolve(document, schema)).includes("array");
}

function readOperation(document, path, method, row) {
    const operation = {
        id: row.operationId,
        path,
        method: method.toUpperCase(),
        tag: row.tags[0],
        summary: row.summary,
        description: row.description || "",
        permission: row["x-permission"] || "",
        token: (row.security || []).length > 0,
        parameters: (row.parameters || []).map((one) => (
            { ...field(document, one.name, one.schema, one.required), in: one.in })),
        body: readBody(row.requestBody && row.requestBody.content, row.requestBody && row.requestBody.required),
        ...readReplies(row.responses),
    };
    operation.bodyFields = operation.body === null ? [] : fields(document, operation.body.schema);
    operation.bodyNote = operation.body === null ? "" : resolve(document, operation.body.schema).description || "";
    operation.curl = curl(operation);
    return operation;
}

/* Everything that a search may find an operation by, in small letters. */
function searchText(operation) {
    return [operation.id, operation.method, operation.path, operation.tag, operation.summary, operation.description,
        operation.permission, ...operation.parameters.map((one) => one.name),
        ...operation.bodyFields.map((one) => one.name),
        ...operation.failures.flatMap((one) => one.codes)].join(" ").toLowerCase();
}

/* {title, version, description, base, tags: [{name, description, operations}], errors: [{code, status, message}]} */
export function read(document, address) {
    const operations = Object.entries(document.paths).flatMap(([path, methods]) => (
        Object.entries(methods).map(([method, row]) => readOperation(document, path, method, row))));
    for (const operation of operations) {
        operation.text = searchText(operation);
    }
    const [server] = document.servers || [];
    return {
        title: document.info.title,
        version: document.info.version,
        description: document.info.description,
        base: server && server.url !== "/" ? server.url : address,
        tags: document.tags.map(({ name, description }) => (
            { name, description, operations: operations.filter((one) => one.tag === name) })),
        errors: (document["x-errors"] || []).map((error) => ({ ...error,
            operations: operations.filter((one) => one.failures.some(({ codes }) => codes.includes(error.code))) })),
    };
}

/* Whether all words stand in the text. */
export function fits(text, words) {
    return words.every((word) => text.includes(word));
}
