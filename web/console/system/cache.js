/* SPDX-License-Identifier: MIT */
/* The service cache: how full it is and how often it helps; removing entries; having secrets read again. */
import * as api from "../api.js";
import { Bar, Button, ErrorNotice, toast, Waiting } from "../components/basic.js";
import { Field, Form, useForm } from "../components/form.js";
import { ask } from "../components/overlay.js";
import { bytes, errorText, number, percent, t } from "../texts.js";
import { html, useEffect, useState } from "../view.js";

const PATH = "/system/cache";

async function change(body, done) {
    const reply = await api.post(PATH, body);
    toast(reply.ok ? reply.body.message : errorText(reply.error), { meaning: reply.ok ? "good" : "danger" });
    if (reply.ok) {
        done();
    }
}

function Numbers({ cache }) {
    const { entries, bytes: used, maximumBytes, hits, misses } = cache;
    return html`<div class="cards">
        <section class="card"><h2>${t("Entries")}</h2><p class="figure">${number(entries)}</p></section>
        <section class="card"><h2>${t("Room")}</h2>
            <p class="figure">${t("{used} of {limit}", { used: bytes(used), limit: bytes(maximumBytes) })}</p>
            <${Bar} used=${used} limit=${maximumBytes} label=${t("Room in use")} /></section>
        <section class="card"><h2>${t("Found there")}</h2>
            <p class="figure">${hits + misses === 0 ? "–" : percent(hits / (hits + misses))}</p>
            <p class="quiet">${t("{hits} found, {misses} not found",
                { hits: number(hits), misses: number(misses) })}</p></section>
    </div>`;
}

function Prefixes({ prefixes, done }) {
    return html`<div class="list"><table aria-label=${t("Kinds of entries")}>
        <thead><tr><th scope="col">${t("Kind")}</th><th scope="col" class="number">${t("Entries")}</th>
            <th scope="col" class="actions"><span class="unseen">${t("Actions")}</span></th></tr></thead>
        <tbody>${prefixes.map(({ prefix, entries }) => html`<tr key=${prefix}>
            <td class="main"><code>${prefix}</code></td>
            <td class="number" data-label=${t("Entries")}>${number(entries)}</td>
            <td class="actions"><${Button} icon="trash" label=${t("Remove")}
                aria-label=${t("Remove {prefix}", { prefix })}
                onPress=${() => change({ prefixes: [prefix] }, done)} /></td></tr>`)}</tbody></table></div>`;
}

function OneKey({ done }) {
    const form = useForm({ key: "" });
    const check = ({ key }) => key.trim() === "" ? [{ field: "key", message: t("This is missing.") }] : [];
    const send = ({ key }) => api.post(PATH, { keys: [key.trim()] });
    const sent = (reply) => {
        toast(reply.body.message, { meaning: "good" });
        form.reset({ key: "" });
        done();
    };
    return html`<${Form} form=${form} check=${check} send=${send} done=${sent} kind="" label=${t("Remove the entry")}
        title=${t("Nothing has been removed")}>
        <${Field} form=${form} name="key" label=${t("One entry, by its key")} spellcheck="false"
            autocapitalize="none" /></${Form}>`;
}

async function flush(done) {
    const sure = await ask({
        title: t("Empty the whole cache?"),
        text: t("Nothing is lost. For a moment requests take longer, since everything is read from the database "
            + "again."),
        action: t("Empty the cache"),
        danger: true,
    });
    if (sure) {
        await change({ flush: true }, done);
    }
}

async function readSecrets(done) {
    const sure = await ask({
        title: t("Read all secrets again?"),
        text: t("Every worker on every host reads passwords and keys from their files before the answer comes. "
            + "Where a file cannot be read, the old value stays and the log says so."),
        action: t("Read the secrets"),
    });
    if (sure) {
        await change({ secrets: true }, done);
    }
}

export function Cache() {
    const [reply, setReply] = useState(null);
    const read = async () => setReply(await api.get(PATH));
    useEffect(() => {
        read();
    }, []);
    if (reply === null) {
        return html`<${Waiting} />`;
    }
    if (!reply.ok) {
        return html`<${ErrorNotice} error=${reply.error} onRetry=${read} />`;
    }
    return html`<${Numbers} cache=${reply.body} />
        ${reply.body.prefixes.length > 0 && html`<${Prefixes} prefixes=${reply.body.prefixes} done=${read} />`}
        <section class="stack narrow"><h2>${t("Remove one entry")}</h2><${OneKey} done=${read} /></section>
        <section class="stack"><h2>${t("Everything")}</h2><div class="actions">
            <${Button} kind="danger" icon="trash" label=${t("Empty the cache")} onPress=${() => flush(read)} />
            <${Button} icon="refresh" label=${t("Read the secrets again")} onPress=${() => readSecrets(read)} />
        </div></section>`;
}
