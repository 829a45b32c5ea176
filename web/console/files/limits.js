/* SPDX-License-Identifier: MIT */
/* What the service takes (GET /system/limits), asked once a page. */
import * as api from "../api.js";
import { useEffect, useState } from "../view.js";

/* Until the service has answered, and where it does not. */
const UNKNOWN = {
    maxFileBytes: Number.MAX_SAFE_INTEGER,
    file: { nameBytes: 255, tags: 16, tagCharacters: 64 },
    linkSeconds: { minimum: 60, maximum: 604800, default: 3600 },
    bulkIds: 100,
    buckets: [],
};

let known = null;
let asking = null;

/* Resolves to the limits. */
export async function limits() {
    if (known !== null) {
        return known;
    }
    asking = asking || api.get("/system/limits");
    const reply = await asking;
    asking = null;
    known = reply.ok ? reply.body : known;
    return known || UNKNOWN;
}

/* The limits, for a component. */
export function useLimits() {
    const [now, set] = useState(known || UNKNOWN);
    useEffect(() => {
        limits().then(set);
    }, []);
    return now;
}

/* Every type of every bucket. */
export function allTypes({ buckets }) {
    return [...new Set(buckets.flatMap((bucket) => bucket.types.map((type) => type.name)))];
}
