/* SPDX-License-Identifier: MIT */
/*
 * Pictures of files: the sign of their kind, the thumbnail, the preview. An <img> cannot send the token, so the bytes
 * are fetched and shown as a blob. Addresses of blobs are kept for the rows that come back, the oldest are given up.
 */
import * as api from "../api.js";
import { signOf } from "../upload/kind.js";
import { html, useEffect, useRef, useState } from "../view.js";
import { hasThumbnail } from "./record.js";

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
export async function pictureAddress(record, signal) {
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
