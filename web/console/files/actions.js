/* SPDX-License-Identifier: MIT */
/*
 * What is done with files: download, open, archive, restore. Archiving and restoring are told in a toast that takes
 * them back.
 */
import * as api from "../api.js";
import { toast } from "../components/basic.js";
import { errorText, plural, t } from "../texts.js";
import { shared } from "../view.js";

/* Links that the console makes for itself end so soon, in seconds. They are in no list of links. */
export const OWN_LINK_SECONDS = 60;
const BULK = 100;

/* Set to the records of the service whenever some have changed: lists and drawers take them over. */
export const changed = shared([]);

function refuse(reply) {
    toast(errorText(reply.error), { meaning: "danger" });
}

function ownLink(record) {
    return api.post(`/system/files/${record.id}/link`, { expiresIn: OWN_LINK_SECONDS });
}

/* The browser loads the file down by itself: it shows the progress, and goes on after a break. */
export async function downloadFile(record) {
    const reply = await ownLink(record);
    if (!reply.ok) {
        refuse(reply);
        return;
    }
    const anchor = document.createElement("a");
    anchor.href = reply.body.url + "?download=1";
    anchor.rel = "noreferrer";
    anchor.download = record.info.name;
    anchor.click();
}

/* Opens the file in a tab of its own, which must be there before anything is waited for. */
export async function openFile(record) {
    const tab = window.open("about:blank", "_blank");
    if (tab !== null) {
        tab.opener = null;
    }
    const reply = await ownLink(record);
    if (!reply.ok) {
        if (tab !== null) {
            tab.close();
        }
        refuse(reply);
    } else if (tab === null) {
        toast(t("The browser does not allow a new tab for this page."), { meaning: "danger" });
    } else {
        tab.location.replace(reply.body.url);
    }
}

/* ---- archive and restore ---- */

/* Sends the ids, at most a hundred at a time, each hundred all or nothing. Resolves to {records, error}. */
async function sendAll(verb, ids) {
    const records = [];
    for (let at = 0; at < ids.length; at += BULK) {
        const reply = await api.post(`/system/files/${verb}`, { ids: ids.slice(at, at + BULK) });
        if (!reply.ok) {
            return { records, error: reply.error };
        }
        records.push(...reply.body.items);
    }
    return { records, error: null };
}

/* The words for `n` files, or for the name of the one. */
function told(verb, records) {
    const name = records[0].info.name;
    if (verb === "archive") {
        return records.length === 1 ? t("“{name}” is archived.", { name })
            : plural("{n} file is archived.", "{n} files are archived.", records.length);
    }
    return records.length === 1 ? t("“{name}” is restored.", { name })
        : plural("{n} file is restored.", "{n} files are restored.", records.length);
}

/*
 * Archives or restores (`verb`) the records. Resolves to the error of the service, or null. What was done before a
 * refusal stays done, and is told, too.
 */
async function move(verb, records, undo) {
    const said = await sendAll(verb, records.map((record) => record.id));
    if (said.records.length > 0) {
        changed.set(said.records);
        toast(told(verb, said.records), undo ? { undo: () => undo(said.records) } : {});
    }
    return said.error;
}

async function takeBack(verb, records) {
    const error = await move(verb, records, null);
    if (error !== null) {
        refuse({ error });
    }
}

export function archiveFiles(records) {
    return move("archive", records, (done) => takeBack("restore", done));
}

export function restoreFiles(records) {
    return move("restore", records, (done) => takeBack("archive", done));
}

/* The same for one file from a button beside it: a refusal is told in a toast. */
export async function moveOne(record) {
    const error = await (record.status === "active" ? archiveFiles : restoreFiles)([record]);
    if (error !== null) {
        refuse({ error });
    }
}
