/* SPDX-License-Identifier: MIT */
/* How a file reaches the service: whole, or in pieces that go on after a break. */

/* ---- uploads under way ---- */

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
function findKept(file, userId) {
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

/* ---- a file as a whole ---- */

/* A file that goes to the service whole, as a form (POST /system/files). */

/*
 * Sends the job {file, bucket, type, tags, progress(bytes)} and resolves to the reply: the record, or what stood in the
 * way. `call` is upload() of api.js; signal ends it.
 */
export function sendWhole(job, call, signal) {
    const form = new FormData();
    form.append("bucket", job.bucket);
    form.append("type", job.type);
    for (const tag of job.tags) {
        form.append("tags", tag);
    }
    form.append("file", job.file, job.file.name);
    return call({
        method: "POST", path: "/system/files", body: form, signal,
        /* The lines of the form count as bytes, too: more than all never left. */
        onProgress: (sent) => job.progress(Math.min(sent, job.file.size)),
    });
}

/* ---- a file in pieces ---- */

/*
 * A large file goes to the service in pieces (the protocol tus 1.0.0 at /system/uploads). POST begins an upload, each
 * PATCH adds a piece, HEAD tells how many bytes are safe after a break, DELETE gives it up. The reply to the last piece
 * is the file's record.
 */

export const PIECE_BYTES = 8 * 1024 * 1024;
/* How often one call looks anew for the place to go on. */
const PLACES = 3;
/* How often, and after which wait, an upload is given up that another request still holds. */
const GIVE_UP_TRIES = 5;
const GIVE_UP_MS = 500;
const VERSION = { "Tus-Resumable": "1.0.0" };

function encoded(text) {
    return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

/* The header that holds the form: names, and values in base64. Tags are one a line. */
export function metadata({ file, bucket, type, tags }) {
    const fields = [["bucket", bucket], ["type", type], ["filename", file.name]];
    if (tags.length > 0) {
        fields.push(["tags", tags.join("\n")]);
    }
    return fields.map(([name, value]) => name + " " + encoded(value)).join(",");
}

/* The last part of Location. The address itself is ours: a reply does not choose where the bytes go. */
export function uploadId(location) {
    const found = /([0-9a-f-]{36})\/?$/.exec(location || "");
    return found === null ? "" : found[1];
}

function header(reply, name) {
    return reply.header === undefined ? null : reply.header(name);
}

function pathOf(id) {
    return "/system/uploads/" + id;
}

/* Unknown, or its time is over. */
function isGone(reply) {
    return !reply.ok && (reply.error.status === 404 || reply.error.status === 410);
}

/* The service has other bytes than we thought. */
function isElsewhere(reply) {
    return !reply.ok && (reply.error.status === 460 || reply.error.code === "upload.offset");
}

/* A refusal that ends the upload at the service. */
function isFinal({ error }) {
    return error.status >= 400 && error.status < 500 && ![401, 403, 423, 429].includes(error.status);
}

/*
 * Where to go on: {id, offset}, or {reply} when there is nothing to send: the file is there already, or its record, or
 * what stood in the way. An upload of before is asked; one that is gone is begun anew.
 */
async function place(job, call, signal) {
    const known = findKept(job.file, job.userId);
    if (known !== "") {
        const reply = await call({ method: "HEAD", path: pathOf(known), headers: VERSION, signal });
        const fileId = header(reply, "Upload-File-Id");
        if (reply.ok && fileId) {
            forget(known);
            return { reply: await call({ method: "GET", path: `/system/files/${fileId}/info`, signal }) };
        }
        if (reply.ok) {
            return { id: known, offset: Number(header(reply, "Upload-Offset")) };
        }
        if (!isGone(reply)) {
            return { reply };
        }
        forget(known);
    }
    const headers = { ...VERSION, "Upload-Length": String(job.file.size), "Upload-Metadata": metadata(job) };
    const reply = await call({ method: "POST", path: "/system/uploads", headers, signal });
    if (!reply.ok) {
        return { reply };
    }
    const id = uploadId(header(reply, "Location"));
    keep(job.file, job.userId, id);
    return { id, offset: 0 };
}

function add(job, id, offset, call, signal) {
    return call({
        method: "PATCH", path: pathOf(id), body: job.file.slice(offset, offset + PIECE_BYTES), signal,
        headers: { ...VERSION, "Upload-Offset": String(offset), "Content-Type": "application/offset+octet-stream" },
        onProgress: (sent) => job.progress(Math.min(offset + sent, job.file.size)),
    });
}

/* Sends pieces from `offset` on until the file is whole or a piece is refused. Only the last reply has a record. */
async function sendFrom(job, id, offset, call, signal) {
    for (let at = offset; ;) {
        const reply = await add(job, id, at, call, signal);
        const next = Number(header(reply, "Upload-Offset"));
        if (!reply.ok || reply.body.id !== undefined || !(next > at)) {
            return reply;
        }
        at = next;
        job.kept(at);
    }
}

/*
 * Sends the job {file, userId, bucket, type, tags, progress(bytes), kept(bytes)} and resolves to the last reply: the
 * record, or what stood in the way. progress() hears what has left, kept() what is safe. Called again after a break, it
 * goes on where the service is. `call` is upload() of api.js; signal ends it.
 */
export async function sendInPieces(job, call, signal) {
    let reply = null;
    for (let tries = 0; tries < PLACES; tries++) {
        const start = await place(job, call, signal);
        if (start.reply !== undefined) {
            return start.reply;
        }
        job.kept(start.offset);
        reply = await sendFrom(job, start.id, start.offset, call, signal);
        if (isElsewhere(reply)) {
            continue;
        }
        if (reply.ok || isFinal(reply)) {
            forget(start.id);
        }
        if (!isGone(reply)) {
            break;
        }
    }
    return reply;
}

/*
 * Gives up what the service holds of the file. The request that was broken off may hold it for a moment (423). What
 * cannot be told it now ends by itself after a day.
 */
export async function giveUp(file, userId, call) {
    const known = findKept(file, userId);
    if (known === "") {
        return;
    }
    forget(known);
    for (let tries = 1; tries <= GIVE_UP_TRIES; tries++) {
        const reply = await call({ method: "DELETE", path: pathOf(known), headers: VERSION });
        if (reply.ok || reply.error.status !== 423) {
            return;
        }
        await new Promise((resolve) => setTimeout(resolve, GIVE_UP_MS * tries));
    }
}
