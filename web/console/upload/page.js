/* SPDX-License-Identifier: MIT */
/*
 * The way into the queue of uploads: the button that chooses files, and files or folders that are dropped anywhere. It
 * stays while people go from screen to screen; so does the panel that shows the queue.
 */
import { acting, upload } from "../api.js";
import { toast } from "../components/basic.js";
import { limits } from "../files/limits.js";
import { may, session } from "../session.js";
import { number, plural, t } from "../texts.js";
import { html, render } from "../view.js";
import { showPanel, UploadPanel } from "./panel.js";
import * as queue from "./queue.js";
import { walkDrop } from "./walk.js";

/* Uploads come in swarms: lists and numbers are read again once they rest. */
const REST_MS = 1000;
/* So many files are taken at a time. */
const FILES_MAX = 1000;

async function take(files) {
    if (files.length === 0) {
        return;
    }
    await queue.add(files, (await limits()).maxFileBytes);
    showPanel();
}

/* Opens the browser's own dialog; it may choose many. */
export function chooseFiles() {
    const input = document.createElement("input");
    input.type = "file";
    input.multiple = true;
    input.onchange = () => take([...input.files].slice(0, FILES_MAX));
    input.click();
}

/* Calls `act` a moment after files have been stored. Returns what ends that. */
export function afterUploads(act) {
    let timer = 0;
    const end = queue.onStored(() => {
        clearTimeout(timer);
        timer = setTimeout(act, REST_MS);
    });
    return () => {
        clearTimeout(timer);
        end();
    };
}

/* ---- what is dropped ---- */

function mayUpload() {
    return session.get().phase === "in" && may("cus:file:w") && !acting.get().foreign;
}

function tellRefused() {
    if (acting.get().foreign) {
        toast(t("You look at another organisation. Go back to your own to upload."), { meaning: "danger" });
    } else {
        toast(t("Uploading needs the permission {permission}. Ask the owner of your organisation for it.",
            { permission: "cus:file:w" }), { meaning: "danger" });
    }
}

function tellFound({ more, unread }) {
    if (more) {
        toast(t("Only the first {n} files were taken. Drop the others after these.", { n: number(FILES_MAX) }));
    }
    if (unread.length > 0) {
        toast(plural("{n} file could not be read: {path}", "{n} files could not be read, among them {path}",
            unread.length, { path: unread[0] }), { meaning: "danger" });
    }
}

function hasFiles(event) {
    return event.dataTransfer !== null && [...event.dataTransfer.types].includes("Files");
}

async function drop(event) {
    if (!hasFiles(event)) {
        return;
    }
    event.preventDefault();
    showTarget(false);
    if (session.get().phase !== "in") {
        return;
    }
    if (!mayUpload()) {
        tellRefused();
        return;
    }
    const found = await walkDrop(event.dataTransfer, FILES_MAX);
    tellFound(found);
    await take(found.files);
}

let target = null;

/* The frame that says that files may be dropped. */
function showTarget(shown) {
    if (target !== null) {
        target.textContent = shown ? t("Drop the files to upload them") : "";
        target.hidden = !shown;
    }
}

function drag(event) {
    if (!hasFiles(event)) {
        return;
    }
    event.preventDefault();
    event.dataTransfer.dropEffect = mayUpload() ? "copy" : "none";
    showTarget(mayUpload());
}

/* The pointer has left the page, and not only one of its elements. */
function leave(event) {
    if (event.relatedTarget === null) {
        showTarget(false);
    }
}

/* ---- once for the page ---- */

function start() {
    const place = document.createElement("div");
    target = document.createElement("p");
    target.className = "drop-target";
    target.hidden = true;
    target.setAttribute("aria-hidden", "true");
    document.body.append(place, target);
    render(html`<${UploadPanel} />`, place);
    addEventListener("dragenter", drag);
    addEventListener("dragover", drag);
    addEventListener("dragleave", leave);
    addEventListener("drop", drop);
    const follow = ({ me }) => queue.connect(me === null ? "" : me.user.id, upload);
    session.watch(follow);
    follow(session.get());
}

start();
