/* SPDX-License-Identifier: MIT */
/*
 * Which uploads in pieces are under way, in sessionStorage: so one goes on after the page was loaded anew and the same
 * file was chosen again. An entry is {userId, id, name, size, modified, at}: the upload's id, and by what the file is
 * known again. Nothing of the file's content is kept.
 */
const KEY = "gatehouse-uploads";
/* The service gives an upload up after a day. */
const LIFE_MS = 24 * 3600 * 1000;

function read() {
    try {
        const kept = JSON.parse(sessionStorage.getItem(KEY) || "[]");
        return Array.isArray(kept) ? kept.filter((one) => Date.now() - one.at < LIFE_MS) : [];
    } catch (failure) {
        return [];
    }
}

function write(kept) {
    try {
        if (kept.length === 0) {
            sessionStorage.removeItem(KEY);
        } else {
            sessionStorage.setItem(KEY, JSON.stringify(kept));
        }
    } catch (failure) {
        /* The storage is full or switched off: the upload works, it only does not outlive the page. */
    }
}

function isSame(one, file, userId) {
    return one.userId === userId && one.name === file.name && one.size === file.size
        && one.modified === file.lastModified;
}

/* The id of the upload of this file by this person; "" when none is under way. */
export function findKept(file, userId) {
    const found = read().find((one) => isSame(one, file, userId));
    return found === undefined ? "" : found.id;
}

export function keep(file, userId, id) {
    const others = read().filter((one) => !isSame(one, file, userId));
    write([...others, { userId, id, name: file.name, size: file.size, modified: file.lastModified, at: Date.now() }]);
}

export function forget(id) {
    write(read().filter((one) => one.id !== id));
}

/* The uploads of this person that are under way, here or on the page before: [{id, name, size}]. */
export function listKept(userId) {
    return read().filter((one) => one.userId === userId).map(({ id, name, size }) => ({ id, name, size }));
}
