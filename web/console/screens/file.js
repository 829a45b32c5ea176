/* SPDX-License-Identifier: MIT */
/*
 * One file, in a drawer over the list: what it holds, its facts, its links, and what can be done with it. It has an
 * address of its own (#/files/{id}), so Back closes it and a colleague can be sent there.
 */
import * as api from "../api.js";
import { Badge, Button, CopyId, ErrorNotice, Waiting, When } from "../components/basic.js";
import { Drawer } from "../components/overlay.js";
import { changed, downloadFile, moveOne, openFile } from "../files/actions.js";
import { Edit, Links } from "../files/edit.js";
import { Preview } from "../files/picture.js";
import { contentName, previewOf, typeName } from "../files/record.js";
import { link } from "../router.js";
import { may } from "../session.js";
import { bytes, number, t } from "../texts.js";
import { html, useEffect, useState } from "../view.js";

/* The record: that of the list where it has it, and anew from the service; {record, error, read()}. */
function useRecord(id, known) {
    const [state, setState] = useState({ record: known, error: null });
    const read = async () => {
        const reply = await api.get(`/system/files/${id}/info`);
        setState((old) => (reply.ok ? { record: reply.body, error: null } : { ...old, error: reply.error }));
    };
    useEffect(() => {
        if (known === undefined) {
            read();
        }
        return changed.watch((records) => {
            const found = records.find((record) => record.id === id);
            if (found !== undefined) {
                setState({ record: found, error: null });
            }
        });
    }, [id]);
    return { ...state, read };
}

function Person({ record, query }) {
    if (record.userName === null) {
        return t("somebody who is no longer there");
    }
    return html`<a href=${link(["files"], { ...query, by: record.userId })} title=${t("All files of this person")}>
        ${record.userName}</a>`;
}

function Tags({ tags, query }) {
    return tags.length === 0 ? html`<span class="quiet">${t("None")}</span>`
        : html`<ul class="tags">${tags.map((tag) => html`<li key=${tag}>
            <a href=${link(["files"], { ...query, tag })}>${tag}</a></li>`)}</ul>`;
}

function Facts({ record, query }) {
    const { info } = record;
    return html`<dl class="facts">
        <dt>${t("Type")}</dt><dd>${typeName(record.type)}</dd>
        <dt>${t("Content")}</dt><dd title=${info.contentType}>${contentName(info.contentType)}</dd>
        <dt>${t("Size")}</dt><dd title=${t("{n} bytes", { n: number(info.size) })}>${bytes(info.size)}</dd>
        <dt>${t("Tags")}</dt><dd><${Tags} tags=${record.tags} query=${query} /></dd>
        <dt>${t("Uploaded")}</dt><dd><${When} at=${record.createdAt} /> ${t("by")}${" "}
            <${Person} record=${record} query=${query} /></dd>
        ${record.updatedAt !== record.createdAt && html`<dt>${t("Changed")}</dt>
            <dd><${When} at=${record.updatedAt} /></dd>`}
        ${record.archivedAt !== null && html`<dt>${t("Archived")}</dt><dd><${When} at=${record.archivedAt} /></dd>`}
        <dt>SHA-256</dt><dd><${CopyId} id=${info.hash} /></dd>
        <dt>${t("Id")}</dt><dd><${CopyId} id=${record.id} /></dd>
    </dl>`;
}

function Actions({ record, onEdit }) {
    const active = record.status === "active";
    return html`<div class="actions">
        ${active && html`<${Button} kind="primary" icon="download" label=${t("Download")}
            onPress=${() => downloadFile(record)} />`}
        ${active && previewOf(record) !== "" && html`<${Button} icon="external" label=${t("Open")}
            onPress=${() => openFile(record)} />`}
        ${active && may("cus:file:w") && html`<${Button} icon="edit" label=${t("Rename, tags")} onPress=${onEdit} />`}
        ${may("cus:file:w") && html`<${Button} icon=${active ? "archive" : "restore"}
            label=${active ? t("Archive") : t("Restore")} onPress=${() => moveOne(record)} />`}
    </div>`;
}

function Content({ record, query }) {
    const [editing, setEditing] = useState(false);
    return html`<${Preview} key=${record.id + record.status} record=${record} />
        ${editing ? html`<${Edit} key=${record.updatedAt} record=${record} onDone=${() => setEditing(false)} />`
            : html`<${Actions} record=${record} onEdit=${() => setEditing(true)} />`}
        <${Facts} record=${record} query=${query} />
        ${record.status === "active" && html`<${Links} record=${record} />`}`;
}

/* `known` is the record that the list has; `query` is that of the list, which stays in the address. */
export function FileDrawer({ id, known, query, onClose }) {
    const { record, error, read } = useRecord(id, known);
    const facts = record !== undefined && record.status === "archived"
        && html`<${Badge} meaning="warning">${t("Archived")}</${Badge}>`;
    const title = record === undefined ? t("File") : record.info.name;
    return html`<${Drawer} title=${title} facts=${facts} onClose=${onClose}>
        ${error !== null && html`<${ErrorNotice} error=${error} onRetry=${read} />`}
        ${record === undefined && error === null && html`<${Waiting} />`}
        ${record !== undefined && html`<${Content} record=${record} query=${query} />`}
    </${Drawer}>`;
}
