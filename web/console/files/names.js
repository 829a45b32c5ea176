/* SPDX-License-Identifier: MIT */
/* The words for the types, buckets and states of files. A type that this table does not know stands as it is. */
import { t } from "../texts.js";

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
