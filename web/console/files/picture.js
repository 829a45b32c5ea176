/* SPDX-License-Identifier: MIT */
/*
 * Pictures of files: the sign of their kind, the thumbnail, the preview. An <img> cannot send the token, so the bytes
 * are fetched and shown as a blob. Addresses of blobs are kept for the rows that come back, the oldest are given up.
 */
import * as api from "../api.js";
import { Button, ErrorNotice, Waiting } from "../components/basic.js";
import { bytes, t } from "../texts.js";
import { signOf } from "../upload/kind.js";
import { html, useEffect, useRef, useState } from "../view.js";
import { openFile } from "./actions.js";
import { contentName, hasThumbnail, PICTURE_BYTES, previewOf, TEXT_BYTES } from "./record.js";

const KEPT = 200;
const addresses = new Map();

function keep(hash, blob) {
    const address = URL.createObjectURL(blob);
    addresses.set(hash, address);
    if (addresses.size > KEPT) {
        const [oldest, old] = addresses.entries().next().value;
        addresses.delete(oldest);
        URL.revokeObjectURL(old);
    }
    return address;
}

/* Resolves to the reply of the service; its body is the address of the picture. */
async function pictureAddress(record, signal) {
    const { hash } = record.info;
    if (addresses.has(hash)) {
        return { ok: true, body: addresses.get(hash) };
    }
    const reply = await api.getBlob(`/system/files/${record.id}`, {}, { signal });
    return reply.ok ? { ok: true, body: keep(hash, reply.body) } : reply;
}

/* The sign of a kind of file, from the sprite. */
export function Sign({ contentType }) {
    const sign = signOf(contentType);
    return html`<svg class="sign ${sign}" viewBox="0 0 32 32" aria-hidden="true">
        <use href="console/signs.svg#${sign}"></use></svg>`;
}

/* Calls `seen` once the element comes near the screen. */
function useSeen(place, wanted, seen) {
    useEffect(() => {
        if (!wanted) {
            return undefined;
        }
        const observer = new IntersectionObserver((entries) => {
            if (entries.some((entry) => entry.isIntersecting)) {
                observer.disconnect();
                seen();
            }
        }, { rootMargin: "200px" });
        observer.observe(place.current);
        return () => observer.disconnect();
    }, [wanted]);
}

/* The picture itself where it is small, else the sign of its kind. It says nothing: the name stands beside it. */
export function Thumbnail({ record }) {
    const place = useRef(null);
    const [address, setAddress] = useState("");
    useSeen(place, hasThumbnail(record), () => pictureAddress(record).then((reply) => {
        if (reply.ok) {
            setAddress(reply.body);
        }
    }));
    return html`<span class="thumbnail" ref=${place}>${address === ""
        ? html`<${Sign} contentType=${record.info.contentType} />`
        : html`<img src=${address} alt="" onError=${() => setAddress("")} />`}</span>`;
}

/* ---- previews ---- */

/* What a file holds, shown beside its facts: a picture, the beginning of a text, or a way to open it. */

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
