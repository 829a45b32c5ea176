/* SPDX-License-Identifier: MIT */
/* What the console shows of a file's record beyond its members, and the words for it. */
import { t } from "../texts.js";

/* A picture up to this size is its own thumbnail. */
const THUMBNAIL_BYTES = 1024 * 1024;
/* A picture up to this size is drawn in the preview. */
export const PICTURE_BYTES = 32 * 1024 * 1024;
/* So much of a text is shown in the preview. */
export const TEXT_BYTES = 64 * 1024;

/* Pictures that every browser of today draws. */
const DRAWN = new Set(["image/jpeg", "image/png", "image/gif", "image/webp", "image/avif", "image/bmp"]);

function isDrawn(record) {
    return DRAWN.has(record.info.contentType);
}

export function hasThumbnail(record) {
    return record.status === "active" && isDrawn(record) && record.info.size <= THUMBNAIL_BYTES;
}

/* How a file is previewed: "picture", "text", "pdf", or "" where the browser would only download it. */
export function previewOf(record) {
    const type = record.info.contentType;
    if (isDrawn(record)) {
        return "picture";
    }
    if (type === "application/pdf") {
        return "pdf";
    }
    return type.startsWith("text/") || type === "application/json" ? "text" : "";
}

/* "report" and ".pdf": people rename the first part; the service refuses an ending that belies the bytes. */
export function splitName(name) {
    const at = name.lastIndexOf(".");
    return at <= 0 || name.length - at > 12 ? [name, ""] : [name.slice(0, at), name.slice(at)];
}

/* How many bytes a name has: the service counts these, not characters. */
export function nameBytes(name) {
    return new TextEncoder().encode(name).length;
}

/* Tags that were typed with commas between them; each once, in their order. */
export function readTags(text) {
    return [...new Set(text.split(",").map((tag) => tag.trim().replace(/\s+/g, " ")).filter((tag) => tag !== ""))];
}

/* What is wrong with tags: "", "many" or "long". Characters are counted as the service counts them. */
export function wrongTags(tags, limits) {
    if (tags.length > limits.tags) {
        return "many";
    }
    return tags.some((tag) => [...tag].length > limits.tagCharacters) ? "long" : "";
}

/* ---- words ---- */

/* The words for the types, buckets and states of files. A type that this table does not know stands as it is. */

const TYPES = {
    "avatar": () => t("Portrait"),
    "contract": () => t("Contract"),
    "image": () => t("Picture"),
    "logistics-delivery": () => t("Delivery note"),
    "logistics-load": () => t("Load"),
    "logo": () => t("Logo"),
    "misc": () => t("Other"),
    "sample": () => t("Sample"),
    "terms-conditions": () => t("Terms and conditions"),
    "vehicle": () => t("Vehicle"),
    "weighbridge": () => t("Weighbridge ticket"),
};

export function typeName(type) {
    return TYPES[type] === undefined ? type : TYPES[type]();
}

/* Options of a choice of types, by their words. `types` are the names of the service. */
export function typeOptions(types) {
    return types.map((value) => ({ value, label: typeName(value) })).sort((a, b) => a.label.localeCompare(b.label));
}

const CONTENTS = [
    [/^image\/(\w+)/, ([, kind]) => t("{kind} picture", { kind: kind.toUpperCase() })],
    [/^application\/pdf$/, () => t("PDF document")],
    [/^text\/csv$/, () => t("Table (CSV)")],
    [/^text\/html$/, () => t("HTML text")],
    [/^text\//, () => t("Text")],
    [/spreadsheet|excel/, () => t("Spreadsheet")],
    [/presentation|powerpoint/, () => t("Presentation")],
    [/wordprocessing|msword|opendocument\.text/, () => t("Text document")],
    [/^application\/(zip|gzip|x-tar|x-7z|x-rar|x-xz|zstd)/, () => t("Archive of files")],
    [/^video\//, () => t("Film")],
    [/^audio\//, () => t("Sound")],
    [/json|xml/, () => t("Data")],
];

/* What the bytes are, in words. */
export function contentName(contentType) {
    for (const [pattern, name] of CONTENTS) {
        const found = pattern.exec(contentType);
        if (found !== null) {
            return name(found);
        }
    }
    return t("File");
}
