/* SPDX-License-Identifier: MIT */
/*
 * The audit trail: who did what, when, from where, and what became of it. Owners read their organisation's; internal
 * staff read everything, or the organisation that they look at. What the filters leave can be saved as a file.
 */
import * as api from "../api.js";
import { acting } from "../api.js";
import { actionOptions, actionText, targetText } from "../audit/actions.js";
import { Badge, Button, CopyId, Empty, PageHead, toast, When } from "../components/basic.js";
import { Field, FilterSelect, Form, useForm } from "../components/form.js";
import { List, useList } from "../components/list.js";
import { Drawer, Menu } from "../components/overlay.js";
import { save } from "../components/save.js";
import { go, reachable, setQuery } from "../router.js";
import { may } from "../session.js";
import { dateTime, errorText, t } from "../texts.js";
import { html, useEffect, useState } from "../view.js";

/* Names are read for so many people of the organisation; others are shown by their id. */
const NAMES = 100;
const FORMATS = {
    csv: { type: "text/csv", name: "audit.csv", label: () => t("As a table (CSV)") },
    ndjson: { type: "application/x-ndjson", name: "audit.ndjson", label: () => t("As lines of JSON") },
};

/* Which list of the service is read: {path, organisationId}. */
function source() {
    if (!may("sys:audit:a")) {
        return { path: "/customers/organisation/audit" };
    }
    const { id, foreign } = acting.get();
    return { path: "/system/audit", organisationId: foreign ? id : undefined };
}

/* A day of the calendar, as the reader's clock has it, to the moment that the service compares with. */
function moment(day, daysLater) {
    if (!day) {
        return undefined;
    }
    const [year, month, date] = day.split("-").map(Number);
    return new Date(year, month - 1, date + daysLater).toISOString();
}

function asked({ action, outcome, userId, targetId, requestId, from, to }) {
    return { action, outcome, userId, targetId, requestId, since: moment(from, 0), until: moment(to, 1) };
}

/* The names of people by their ids, read once for a whole list. */
function useNames(organisationId) {
    const [names, setNames] = useState(new Map());
    useEffect(() => {
        if (!may("cus:user:r")) {
            return undefined;
        }
        let current = true;
        api.get("/customers/organisations/users", { limit: NAMES, organisationId }).then((reply) => {
            if (current && reply.ok) {
                setNames(new Map(reply.body.items.map((one) => [one.id, `${one.firstName} ${one.lastName}`])));
            }
        });
        return () => {
            current = false;
        };
    }, [organisationId]);
    return names;
}

function Who({ id, names }) {
    if (id === null) {
        return html`<span class="quiet">${t("Nobody who was signed in")}</span>`;
    }
    return names.has(id) ? names.get(id) : html`<${CopyId} id=${id} />`;
}

/* ---- one row in full ---- */

function shown(value) {
    return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function Facts({ row, names }) {
    return html`<dl class="facts">
        <dt>${t("When")}</dt><dd>${dateTime(row.at)}</dd>
        <dt>${t("What")}</dt><dd>${actionText(row.action)} <code>${row.action}</code></dd>
        <dt>${t("Outcome")}</dt><dd><${Outcome} row=${row} /></dd>
        <dt>${t("Who")}</dt><dd><${Who} id=${row.userId} names=${names} /></dd>
        <dt>${t("About")}</dt><dd>${targetText(row.targetType)}
            ${row.targetId && html` <${CopyId} id=${row.targetId} />`}</dd>
        <dt>${t("Address")}</dt><dd>${row.clientAddress || "–"}</dd>
        <dt>${t("Request")}</dt><dd>${row.requestId ? html`<${CopyId} id=${row.requestId} />` : "–"}</dd>
        ${Object.entries(row.details || {}).map(([name, value]) => html`<dt key=${name}><code>${name}</code></dt>
            <dd key=${name + "-value"}>${shown(value)}</dd>`)}
    </dl>`;
}

function Row({ row, names, onClose }) {
    const only = (query) => () => {
        onClose();
        go(["audit"], query);
    };
    const foot = html`
        ${row.targetId && html`<${Button} icon="filter" label=${t("Everything about this")}
            onPress=${only({ targetId: row.targetId })} />`}
        ${row.userId && html`<${Button} icon="filter" label=${t("Everything by this person")}
            onPress=${only({ userId: row.userId })} />`}
        ${row.targetType === "user" && reachable("team") && html`<${Button} icon="people" label=${t("Open the person")}
            onPress=${() => go(["team", row.targetId])} />`}`;
    return html`<${Drawer} title=${actionText(row.action)} onClose=${onClose} foot=${foot}>
        <${Facts} row=${row} names=${names} /></${Drawer}>`;
}

function Outcome({ row }) {
    return row.outcome === "success" ? html`<${Badge} meaning="good">${t("Done")}</${Badge}>`
        : html`<${Badge} meaning="danger">${t("Failed")}</${Badge}>`;
}

/* ---- filters and export ---- */

function Day({ label, value, onChange }) {
    return html`<label class="filter"><span>${label}</span>
        <input type="date" value=${value || ""} onChange=${(event) => onChange(event.target.value)} /></label>`;
}

/* A filter that another screen or a row has set: it is named, and can be taken away. */
function Narrowed({ label, name, value }) {
    return value && html`<span class="badge">${label} ${"…" + value.slice(-8)}
        <${Button} kind="icon" icon="close" label=${t("Show others, too")}
            onPress=${() => setQuery({ [name]: "" })} /></span>`;
}

function Filters({ query }) {
    const outcomes = [{ value: "", label: t("All") }, { value: "success", label: t("Done") },
        { value: "failure", label: t("Failed") }];
    return html`<div class="filters">
        <${FilterSelect} label=${t("What")} value=${query.action} options=${actionOptions()}
            onChange=${(action) => setQuery({ action })} />
        <${FilterSelect} label=${t("Outcome")} value=${query.outcome} options=${outcomes}
            onChange=${(outcome) => setQuery({ outcome })} />
        <div class="filters"><${Day} label=${t("From")} value=${query.from} onChange=${(from) => setQuery({ from })} />
            <${Day} label=${t("To")} value=${query.to} onChange=${(to) => setQuery({ to })} /></div>
        <${Narrowed} label=${t("Only by")} name="userId" value=${query.userId} />
        <${Narrowed} label=${t("Only about")} name="targetId" value=${query.targetId} />
        <${Narrowed} label=${t("Only the request")} name="requestId" value=${query.requestId} />
    </div>`;
}

async function exportRows(format, { path, organisationId }, query) {
    toast(t("The rows are being collected …"));
    const reply = await api.get(path, { ...asked(query), organisationId },
        { blob: true, headers: { Accept: format.type } });
    if (reply.ok) {
        save(reply.body, format.name);
    } else {
        toast(errorText(reply.error), { meaning: "danger" });
    }
}

/* Whether the operator wants to know why internal staff look at everybody's trail, and nobody has said it yet. */
function wantsReason(error) {
    return error !== null && error.validation.some(({ path }) => path === "X-Reason");
}

function Why({ onDone }) {
    const form = useForm({ reason: "" });
    const done = () => {
        api.giveReason(form.values.reason.trim());
        onDone();
    };
    return html`<${Form} form=${form} label=${t("Go on")} send=${async () => ({ ok: true })} done=${done}>
        <${Field} form=${form} name="reason" label=${t("Reason")} maxlength="200"
            hint=${t("The owner of the organisation can read it in the audit trail.")} /></${Form}>`;
}

export default function Audit({ route }) {
    const { query } = route;
    const from = source();
    const list = useList(from.path, { ...asked(query), organisationId: from.organisationId });
    const names = useNames(from.organisationId);
    const [open, setOpen] = useState(null);
    const columns = [
        {
            title: t("What"),
            kind: "main",
            show: (row) => html`<button type="button" class="button plain as-text" onClick=${() => setOpen(row)}>
                ${actionText(row.action)}</button>`,
        },
        { title: t("Outcome"), show: (row) => html`<${Outcome} row=${row} />` },
        { title: t("Who"), show: (row) => html`<${Who} id=${row.userId} names=${names} />` },
        { title: t("About"), kind: "quiet", show: (row) => targetText(row.targetType) },
        { title: t("Address"), kind: "quiet", show: (row) => row.clientAddress || "–" },
        { title: t("When"), kind: "quiet", show: (row) => html`<${When} at=${row.at} />` },
    ];
    const filtered = Object.values(query).some(Boolean);
    return html`<${PageHead} title=${t("Audit")} facts=${t("Who did what. Newest first.")}>
            <${Menu} kind="" label=${t("Save as a file")} items=${Object.values(FORMATS).map((format) => ({
                label: format.label(), icon: "download", onPress: () => exportRows(format, from, query),
            }))}>${t("Save as a file")}</${Menu}></${PageHead}>
        <${Filters} query=${query} />
        ${wantsReason(list.error) ? html`<${Why} onDone=${list.reload} />`
            : html`<${List} list=${list} columns=${columns} label=${t("Audit")} filtered=${filtered}
                clear=${() => go(["audit"])}
                empty=${html`<${Empty} icon="audit" title=${t("Nothing has happened yet.")} />`} />`}
        ${open && html`<${Row} row=${open} names=${names} onClose=${() => setOpen(null)} />`}`;
}
