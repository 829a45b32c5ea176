/* SPDX-License-Identifier: MIT */
/*
 * The live settings: what is logged. Each save is a version; the history shows what each version changed, and goes back
 * to it. A save names the version it began with, so that nobody overwrites what somebody else has just changed.
 */
import * as api from "../api.js";
import { Badge, Button, CopyId, Empty, ErrorNotice, toast, Waiting, When } from "../components/basic.js";
import { Field, Form, Select, useForm, useUnsaved } from "../components/form.js";
import { List, useList } from "../components/list.js";
import { ask } from "../components/overlay.js";
import { errorText, number, t } from "../texts.js";
import { html, useEffect, useState } from "../view.js";

const LEVELS = ["fatal", "error", "warn", "info", "debug", "trace"];
const PATH = "/system/settings";

/* The settings and their version; {ok: false, error} when they cannot be read. */
async function readSettings() {
    const reply = await api.get(PATH);
    return reply.ok ? { ok: true, settings: reply.body, version: reply.header("ETag") } : reply;
}

function valuesOf({ logging }) {
    return { level: logging.level, filter: logging.filter };
}

/* ---- the form ---- */

function Edit({ state, onSaved, onStale }) {
    const form = useForm(valuesOf(state.settings));
    useUnsaved(form);
    const send = ({ level, filter }) => api.put(PATH, { logging: { level, filter: filter.trim() } },
        { headers: { "If-Match": state.version } });
    const refused = (error) => {
        if (error.code === "settings.stale") {
            onStale();
        }
        return error.validation.map(({ path, message }) => ({ field: path.replace("logging.", ""), message }));
    };
    const done = () => {
        form.reset(form.values);
        toast(t("Saved. It holds from the next request on."), { meaning: "good" });
        onSaved();
    };
    return html`<${Form} form=${form} send=${send} refused=${refused} done=${done} label=${t("Save the settings")}
        busy=${t("Saving …")} title=${t("The settings are not saved yet")}>
        <${Select} form=${form} name="level" label=${t("What is logged")}
            options=${LEVELS.map((level) => ({ value: level, label: level }))}
            hint=${t("From few lines (fatal) to very many (trace).")} />
        <${Field} form=${form} name="filter" label=${t("Other levels for single parts")} spellcheck="false"
            autocapitalize="none" hint=${t("For example: {example}", { example: "*=warn,files=debug" })} />
    </${Form}>`;
}

/* Somebody else has saved meanwhile: what holds now stands beside what was typed. */
function Stale({ now, onTake }) {
    const { level, filter } = now.settings.logging;
    return html`<div class="notice warning" role="alert"><div>
        <p class="strong">${t("Somebody else has changed the settings meanwhile.")}</p>
        <p>${t("Now they are: {level}", { level })}${filter !== "" && html`, <code>${filter}</code>`}</p>
        <${Button} label=${t("Go on with those")} onPress=${onTake} /></div></div>`;
}

/* ---- the history ---- */

/* What a version changed, against the one before it. */
function changesBetween(row, before) {
    if (before === undefined) {
        return [];
    }
    return ["level", "filter"].filter((name) => row.settings.logging[name] !== before.settings.logging[name])
        .map((name) => ({ name, from: before.settings.logging[name], to: row.settings.logging[name] }));
}

function Changes({ row, before }) {
    const changes = changesBetween(row, before);
    if (before !== undefined && changes.length === 0) {
        return html`<span class="quiet">${t("Nothing else than before")}</span>`;
    }
    if (changes.length === 0) {
        const { level, filter } = row.settings.logging;
        return html`<code>${level}${filter === "" ? "" : ` ${filter}`}</code>`;
    }
    return html`<ul class="changes">${changes.map(({ name, from, to }) => html`<li key=${name}>
        <del>${from || t("none")}</del> <ins>${to || t("none")}</ins></li>`)}</ul>`;
}

async function goBackTo(row, done) {
    const { level, filter } = row.settings.logging;
    const sure = await ask({
        title: t("Go back to version {n}?", { n: row.version }),
        text: t("The level becomes {level}, the filter {filter}. This is saved as a new version.",
            { level, filter: filter || t("none") }),
        action: t("Go back"),
    });
    if (!sure) {
        return;
    }
    const now = await readSettings();
    const reply = now.ok ? await api.put(PATH, row.settings, { headers: { "If-Match": now.version } }) : now;
    if (reply.ok) {
        toast(t("The settings of version {n} hold again.", { n: row.version }), { meaning: "good" });
        done();
    } else {
        toast(errorText(reply.error), { meaning: "danger" });
    }
}

function History({ list, done }) {
    const items = list.items || [];
    const columns = [
        {
            title: t("Version"),
            kind: "main",
            show: (row) => html`${number(row.version)} ${row === items[0]
                && html`<${Badge} meaning="good">${t("Holds now")}</${Badge}>`}`,
        },
        {
            title: t("What changed"),
            show: (row) => html`<${Changes} row=${row} before=${items[items.indexOf(row) + 1]} />`,
        },
        { title: t("By"), kind: "quiet", show: (row) => row.userId ? html`<${CopyId} id=${row.userId} />` : "–" },
        { title: t("When"), kind: "quiet", show: (row) => html`<${When} at=${row.at} />` },
        {
            title: t("Actions"),
            kind: "actions",
            show: (row) => row !== items[0] && html`<${Button} icon="restore" label=${t("Go back")}
                onPress=${() => goBackTo(row, done)} />`,
        },
    ];
    return html`<${List} list=${list} columns=${columns} rowKey=${(row) => row.version} label=${t("History")}
        empty=${html`<${Empty} icon="settings" title=${t("Nobody has changed the settings yet.")} />`} />`;
}

export function Settings() {
    const [state, setState] = useState(null);
    const [newer, setNewer] = useState(null);
    const list = useList(PATH + "/history");
    const read = async () => {
        setNewer(null);
        setState(await readSettings());
    };
    useEffect(() => {
        read();
    }, []);
    if (state === null) {
        return html`<${Waiting} />`;
    }
    if (!state.ok) {
        return html`<${ErrorNotice} error=${state.error} onRetry=${read} />`;
    }
    const again = async () => {
        await read();
        list.reload();
    };
    const stale = async () => {
        const now = await readSettings();
        if (now.ok) {
            setNewer(now);
        }
    };
    return html`<section class="stack narrow"><h2>${t("Logging")}</h2>
            ${newer && html`<${Stale} now=${newer} onTake=${again} />`}
            <${Edit} key=${state.version} state=${state} onSaved=${again} onStale=${stale} /></section>
        <section class="stack"><h2>${t("History")}</h2><${History} list=${list} done=${again} /></section>`;
}
