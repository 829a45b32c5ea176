/* SPDX-License-Identifier: MIT */
/* What a file holds, shown beside its facts: a picture, the beginning of a text, or a way to open it. */
import * as api from "../api.js";
import { Button, ErrorNotice, Waiting } from "../components/basic.js";
import { bytes, t } from "../texts.js";
import { html, useEffect, useState } from "../view.js";
import { openFile } from "./actions.js";
import { contentName } from "./names.js";
import { pictureAddress, Sign } from "./picture.js";
import { PICTURE_BYTES, previewOf, TEXT_BYTES } from "./record.js";

/* Runs `read(signal)` for the record and returns its reply, null meanwhile; and a function that reads again. */
function useReply(record, read) {
    const [reply, setReply] = useState(null);
    const [turn, setTurn] = useState(0);
    useEffect(() => {
        const stop = new AbortController();
        setReply(null);
        read(stop.signal).then((said) => stop.signal.aborted || setReply(said));
        return () => stop.abort();
    }, [record.id, turn]);
    return [reply, () => setTurn(turn + 1)];
}

function Picture({ record }) {
    const [reply, again] = useReply(record, (signal) => pictureAddress(record, signal));
    const [broken, setBroken] = useState(false);
    if (reply === null) {
        return html`<${Waiting} />`;
    }
    if (!reply.ok) {
        return html`<${ErrorNotice} error=${reply.error} onRetry=${again} />`;
    }
    return broken ? html`<${Closed} record=${record} text=${t("The browser cannot draw this picture.")} />`
        : html`<img src=${reply.body} alt=${record.info.name} onError=${() => setBroken(true)} />`;
}

async function readText(record, signal) {
    const headers = { "Range": `bytes=0-${TEXT_BYTES - 1}` };
    const reply = await api.getBlob(`/system/files/${record.id}`, {}, { signal, headers });
    return reply.ok ? { ok: true, body: await reply.body.text() } : reply;
}

function Text({ record }) {
    const [reply, again] = useReply(record, (signal) => readText(record, signal));
    if (reply === null) {
        return html`<${Waiting} />`;
    }
    if (!reply.ok) {
        return html`<${ErrorNotice} error=${reply.error} onRetry=${again} />`;
    }
    const label = t("The text of {name}", { name: record.info.name });
    return html`<pre tabindex="0" role="region" aria-label=${label}>${reply.body}</pre>
        ${record.info.size > TEXT_BYTES && html`<p class="quiet small">${t("The first {size} of {whole}.",
            { size: bytes(TEXT_BYTES), whole: bytes(record.info.size) })}</p>`}`;
}

/* A file that is not drawn here. */
function Closed({ record, text }) {
    return html`<div class="closed"><${Sign} contentType=${record.info.contentType} />
        <p class="quiet">${text || contentName(record.info.contentType)}</p>
        ${previewOf(record) !== "" && html`<${Button} icon="external" label=${t("Open in a new tab")}
            onPress=${() => openFile(record)} />`}</div>`;
}

export function Preview({ record }) {
    if (record.status === "archived") {
        return html`<div class="preview"><div class="closed"><${Sign} contentType=${record.info.contentType} />
            <p class="quiet">${t("The file is archived. Restore it to look at it.")}</p></div></div>`;
    }
    const kind = previewOf(record);
    if (kind === "picture" && record.info.size <= PICTURE_BYTES) {
        return html`<div class="preview"><${Picture} record=${record} /></div>`;
    }
    if (kind === "text") {
        return html`<div class="preview"><${Text} record=${record} /></div>`;
    }
    return html`<div class="preview"><${Closed} record=${record} /></div>`;
}
