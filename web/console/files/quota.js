/* SPDX-License-Identifier: MIT */
/* How much of its room the organisation uses. */
import * as api from "../api.js";
import { acting } from "../api.js";
import { Bar } from "../components/basic.js";
import { bytes, number, plural, t } from "../texts.js";
import { afterUploads } from "../upload/page.js";
import { html, useEffect, useShared, useState } from "../view.js";

/* The organisation that is looked at, null while it is not known. It is read again after uploads. */
export function useQuota() {
    const { id, foreign } = useShared(acting);
    const [organisation, setOrganisation] = useState(null);
    useEffect(() => {
        let current = true;
        const read = async () => {
            const reply = await api.get(foreign ? `/customers/organisations/${id}` : "/customers/me");
            if (current && reply.ok) {
                setOrganisation(reply.body.organisation);
            }
        };
        read();
        const end = afterUploads(read);
        return () => {
            current = false;
            end();
        };
    }, [id, foreign]);
    return organisation;
}

function filesText({ usedFiles, quotaFiles }) {
    return quotaFiles === null ? plural("{n} file", "{n} files", usedFiles)
        : t("{n} of {total} files", { n: number(usedFiles), total: number(quotaFiles) });
}

function bytesText({ usedBytes, quotaBytes }) {
    return quotaBytes === null ? bytes(usedBytes)
        : t("{size} of {whole}", { size: bytes(usedBytes), whole: bytes(quotaBytes) });
}

/* The narrower of the two bounds makes the bar. */
function narrower({ usedBytes, quotaBytes, usedFiles, quotaFiles }) {
    const inBytes = quotaBytes === null ? -1 : usedBytes / Math.max(1, quotaBytes);
    const inFiles = quotaFiles === null ? -1 : usedFiles / Math.max(1, quotaFiles);
    return inFiles > inBytes ? { used: usedFiles, limit: quotaFiles } : { used: usedBytes, limit: quotaBytes };
}

export function Quota({ quota }) {
    if (quota === null) {
        return html`<span class="quota">${"\u00a0"}</span>`;
    }
    return html`<span class="quota" title=${t("Archived files count until they are removed for good.")}>
        <span>${bytesText(quota)} · ${filesText(quota)}</span>
        <${Bar} label=${t("Room that is used")} ...${narrower(quota)} /></span>`;
}
