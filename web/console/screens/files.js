/* SPDX-License-Identifier: MIT */
/* The files of the organisation: search, filters, what is done with many at once, and the drawer of one file. */
import { acting, inOrganisation } from "../api.js";
import { Badge, Button, Empty, ErrorNotice, LinkButton, PageHead, When } from "../components/basic.js";
import { List, useList } from "../components/list.js";
import { Menu } from "../components/overlay.js";
import { archiveFiles, changed, downloadFile, moveOne, restoreFiles } from "../files/actions.js";
import { Filters } from "../files/filters.js";
import { allTypes, useLimits } from "../files/limits.js";
import { Thumbnail } from "../files/picture.js";
import { isNarrow, readFilter, requestOf, writeFilter } from "../files/query.js";
import { Quota, useQuota } from "../files/quota.js";
import { typeName } from "../files/record.js";
import { go, link, replaceQuery } from "../router.js";
import { may } from "../session.js";
import { bytes, plural, t } from "../texts.js";
import { afterUploads, chooseFiles } from "../upload/page.js";
import { html, useEffect, useMemo, useRef, useState } from "../view.js";
import { FileDrawer } from "./file.js";

/* ---- the list ---- */

function rowActions(record) {
    const active = record.status === "active";
    return [
        active && { label: t("Download"), icon: "download", onPress: () => downloadFile(record) },
        { label: t("Details and links"), icon: "info", href: link(["files", record.id]) },
        may("cus:file:w") && { label: active ? t("Archive") : t("Restore"), icon: active ? "archive" : "restore",
            onPress: () => moveOne(record) },
    ].filter(Boolean);
}

function Actions({ record }) {
    const quick = rowActions(record).filter((action) => action.onPress !== undefined);
    return html`<span class="quick">${quick.map(({ label, icon, onPress }) => html`<${Button} key=${label} kind="icon"
            icon=${icon} label=${`${label}: ${record.info.name}`} onPress=${onPress} />`)}</span>
        <${Menu} label=${t("Actions for {name}", { name: record.info.name })} items=${rowActions(record)} />`;
}

function Name({ record, query }) {
    return html`<span class="named"><${Thumbnail} key=${record.info.hash + record.status} record=${record} />
        <span><a href=${link(["files", record.id], query)}>${record.info.name}</a>
        ${record.status === "archived" && html` <${Badge} meaning="warning">${t("Archived")}</${Badge}>`}
        ${record.tags.length > 0 && html`<span class="tags-of">${record.tags.join(" · ")}</span>`}</span></span>`;
}

function columnsFor(query) {
    return [
        { title: t("Name"), kind: "main", show: (record) => html`<${Name} record=${record} query=${query} />` },
        { title: t("Type"), kind: "quiet wraps", show: (record) => typeName(record.type) },
        { title: t("Size"), kind: "number", show: (record) => bytes(record.info.size) },
        { title: t("Uploaded"), kind: "quiet", show: (record) => html`<${When} at=${record.createdAt} />` },
        { title: t("By"), kind: "quiet", show: (record) => record.userName || t("nobody any more") },
        { title: t("Actions"), kind: "actions", show: (record) => html`<${Actions} record=${record} />` },
    ];
}

/* Rows that a change concerns are replaced; those that the filter no longer shows go. */
function takeOver(items, records, status) {
    return items.map((item) => records.find((record) => record.id === item.id) || item)
        .filter((item) => status === "all" || item.status === status);
}

function useFiles(filter) {
    const now = useMemo(() => new Date(), [filter.period]);
    const list = useList("/system/files", inOrganisation(requestOf(filter, now)));
    const latest = useRef(list);
    latest.current = list;
    useEffect(() => changed.watch((records) => {
        const known = latest.current.items || [];
        const returns = records.some((record) => !known.some((item) => item.id === record.id));
        latest.current.setItems((items) => takeOver(items, records, filter.status));
        /* What comes back has its place by the order of the service. */
        if (returns) {
            latest.current.reload();
        }
    }), [filter.status]);
    useEffect(() => afterUploads(() => latest.current.reload()), []);
    return list;
}

/* ---- many at once ---- */

function Chosen({ records, clear, onError }) {
    const active = records.filter((record) => record.status === "active");
    const archived = records.filter((record) => record.status === "archived");
    const run = async (act, which) => {
        const error = await act(which);
        onError(error);
        if (error === null) {
            clear();
        }
    };
    return html`<div class="chosen-bar" role="region" aria-label=${t("Chosen files")}>
        <p class="strong" role="status">${plural("{n} file is chosen", "{n} files are chosen", records.length)}</p>
        <div class="actions">
            ${active.length > 0 && html`<${Button} icon="archive" busy=${t("Archiving …")}
                label=${plural("Archive {n} file", "Archive {n} files", active.length)}
                onPress=${() => run(archiveFiles, active)} />`}
            ${archived.length > 0 && html`<${Button} icon="restore" busy=${t("Restoring …")}
                label=${plural("Restore {n} file", "Restore {n} files", archived.length)}
                onPress=${() => run(restoreFiles, archived)} />`}
            <${Button} kind="plain" label=${t("Choose none")} onPress=${clear} />
        </div>
    </div>`;
}

/* What stood in the way, with the names of the files that the service means (ids[n]). */
function BulkError({ error, records }) {
    const names = error.validation.map(({ path }) => /^ids\[(\d+)\]$/.exec(path)).filter(Boolean)
        .map(([, at]) => records[Number(at) % 100]).filter(Boolean).map((record) => record.info.name);
    const few = names.slice(0, 3).join(", ") + (names.length > 3 ? " …" : "");
    return html`<${ErrorNotice} error=${error} title=${names.length === 0 ? t("Nothing was changed.")
        : t("Nothing was changed, because of {names}.", { names: few })} />`;
}

/* ---- the screen ---- */

function mayUpload() {
    return may("cus:file:w") && !acting.get().foreign;
}

function UploadButton() {
    return html`<${Button} kind="primary" icon="upload" label=${t("Upload files")} onPress=${chooseFiles} />`;
}

function Nothing({ filter }) {
    if (filter.status === "archived") {
        return html`<${Empty} icon="archive" title=${t("Nothing is archived.")}
            text=${t("Files that you archive stay here until they are removed for good.")}>
            <${LinkButton} label=${t("Show the other files")} href=${link(["files"])} /></${Empty}>`;
    }
    return html`<${Empty} icon="files" title=${t("There are no files yet.")}
        text=${mayUpload() ? t("Drop files or folders anywhere on this page, or choose them.") : undefined}>
        ${mayUpload() && html`<${UploadButton} />`}</${Empty}>`;
}

/* The name of the person whose files the filter shows, from the rows. */
function nameOf(list, by) {
    const found = (list.items || []).find((record) => record.userId === by);
    return found === undefined ? "" : found.userName || "";
}

/* A total that the service does not count, where the organisation's own number is near. */
function withTotal(list, filter, quota) {
    const near = list.more !== null && list.total === null && quota !== null && !isNarrow(filter)
        && filter.status !== "archived";
    return near ? { ...list, total: quota.usedFiles } : list;
}

export default function Files({ route }) {
    const filter = readFilter(new URLSearchParams(route.query));
    const query = writeFilter(filter);
    const list = useFiles(filter);
    const quota = useQuota();
    const limits = useLimits();
    const [chosen, setChosen] = useState(new Set());
    const [failed, setFailed] = useState({ error: null, records: [] });
    const records = (list.items || []).filter((record) => chosen.has(record.id));
    const set = (changes) => {
        setChosen(new Set());
        (changes.name === undefined ? go : replace)(["files"], writeFilter({ ...filter, ...changes }));
    };
    const columns = useMemo(() => columnsFor(query), [JSON.stringify(query)]);
    const id = route.path[1];
    return html`<${PageHead} title=${t("Files")} facts=${html`<${Quota} quota=${quota} />`}>
            ${mayUpload() && html`<${UploadButton} />`}</${PageHead}>
        <${Filters} filter=${filter} types=${allTypes(limits)} by=${nameOf(list, filter.by)} set=${set} />
        ${records.length > 0 && html`<${Chosen} records=${records} clear=${() => setChosen(new Set())}
            onError=${(error) => setFailed({ error, records })} />`}
        ${failed.error !== null && html`<${BulkError} ...${failed} />`}
        <div class="files-list"><${List} list=${withTotal(list, filter, quota)} columns=${columns} label=${t("Files")}
            rowName=${(record) => record.info.name} filtered=${isNarrow(filter)} clear=${() => go(["files"])}
            selection=${may("cus:file:w") ? { chosen, set: setChosen } : undefined}
            empty=${html`<${Nothing} filter=${filter} />`} /></div>
        ${id !== undefined && html`<${FileDrawer} key=${id} id=${id} query=${query}
            known=${(list.items || []).find((record) => record.id === id)} onClose=${() => go(["files"], query)} />`}`;
}

function replace(path, query) {
    replaceQuery({ name: "", ...query });
}
