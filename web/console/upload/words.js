/* SPDX-License-Identifier: MIT */
/* Why an upload failed, in words: what happened, what it means, what to do. */
import { errorText } from "../errors.js";
import { bytes, t } from "../texts.js";

/* By the code of the fault that the service names for the file, its name or its tags. */
const FAULTS = {
    contentType: (item) => item.isPicture ? t("The service does not know this kind of picture.")
        : t("Programs and installers are not taken."),
    mismatch: () => t("The ending of the name does not fit the content. Rename the file, then choose it again."),
    pixels: () => t("The picture has too many pixels. Make it smaller, then choose it again."),
    infected: () => t("The virus scanner has found something in this file. It is not stored."),
    empty: () => t("The file is empty. Empty files are not stored."),
    duplicate: () => t("You have exactly this file already."),
};

function faultOf(item) {
    const fault = item.error.validation.find(({ code }) => FAULTS[code] !== undefined);
    return fault === undefined ? undefined : FAULTS[fault.code];
}

/* What the service says of it in particular, where it says more than that something is wrong. */
function ownWords({ validation }) {
    return validation.length === 0 ? "" : validation.map(({ path, message }) => `${path}: ${message}`).join("; ");
}

/* `item` is one of the queue that has failed; `limits` are those of the service. */
export function failureText(item, limits) {
    const { error } = item;
    const fault = faultOf(item);
    if (fault !== undefined) {
        return fault(item);
    }
    if (error.code === "empty") {
        return FAULTS.empty();
    }
    if (error.code === "tooLarge" || error.status === 413) {
        return t("The file is too large. At most {size} are taken.", { size: bytes(limits.maxFileBytes) });
    }
    return ownWords(error) || errorText(error);
}
