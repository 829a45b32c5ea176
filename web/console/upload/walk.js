/* SPDX-License-Identifier: MIT */
/*
 * What was dropped, as a flat list of files. A dropped folder is walked, its folders with it. The service has no
 * folders: files keep their own names only.
 */

/* What systems leave in folders and nobody means to upload. */
const LITTER = new Set([".ds_store", "thumbs.db", "desktop.ini"]);

function readSome(reader) {
    return new Promise((resolve, reject) => reader.readEntries(resolve, reject));
}

function fileOf(entry) {
    return new Promise((resolve, reject) => entry.file(resolve, reject));
}

/* A reader gives at most a hundred entries at a time, and none when it is through. */
async function entriesOf(folder) {
    const all = [];
    const reader = folder.createReader();
    for (;;) {
        const some = await readSome(reader);
        if (some.length === 0) {
            return all;
        }
        all.push(...some);
    }
}

/*
 * Resolves to {files, folders, unread, more}: the files under the entries, at most `limit` of them; how many folders
 * were walked; the paths of those files and folders that could not be read; whether there were more than `limit`.
 */
export async function walk(entries, limit) {
    const found = { files: [], folders: 0, unread: [], more: false };
    const todo = entries.slice();
    while (todo.length > 0) {
        const entry = todo.shift();
        try {
            if (entry.isDirectory) {
                found.folders++;
                todo.push(...await entriesOf(entry));
            } else if (LITTER.has(entry.name.toLowerCase())) {
                continue;
            } else if (found.files.length === limit) {
                found.more = true;
                return found;
            } else {
                found.files.push(await fileOf(entry));
            }
        } catch {
            found.unread.push(entry.fullPath || entry.name);
        }
    }
    return found;
}

/*
 * The same of a drop event's dataTransfer. Its entries must be taken before anything is waited for: the browser empties
 * the list when the event is over.
 */
export function walkDrop(transfer, limit) {
    const entries = [];
    const plain = [];
    for (const item of transfer.items) {
        if (item.kind !== "file") {
            continue;
        }
        const entry = item.webkitGetAsEntry ? item.webkitGetAsEntry() : null;
        if (entry !== null) {
            entries.push(entry);
        } else if (item.getAsFile() !== null) {
            plain.push(item.getAsFile());
        }
    }
    return walk(entries, limit).then((found) => {
        const room = limit - found.files.length;
        return { ...found, files: found.files.concat(plain.slice(0, room)), more: found.more || plain.length > room };
    });
}
