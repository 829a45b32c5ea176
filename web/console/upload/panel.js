/* SPDX-License-Identifier: MIT */
/* The panel that shows the queue of uploads at the lower edge of the page, whatever screen is shown. */
import { Button, Icon, LinkButton, Notice } from "../components/basic.js";
import { useLimits } from "../files/limits.js";
import { Sign } from "../files/picture.js";
import { readTags, typeOptions, wrongTags } from "../files/record.js";
import { language } from "../preferences.js";
import { link } from "../router.js";
import { session } from "../session.js";
import { bytes, duration, errorText, percent, plural, t } from "../texts.js";
import { html, shared, useEffect, useLayoutEffect, useName, useRef, useShared, useState } from "../view.js";
import { typesFor } from "./kind.js";
import { secondsFor } from "./pace.js";
import * as queue from "./queue.js";
import { forget, listKept } from "./send.js";

/* ---- failures in words ---- */

/* Why an upload failed, in words: what happened, what it means, what to do. */

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
function failureText(item, limits) {
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

/* ---- the panel ---- */

/* {open, turn}: turn counts how often files were chosen; each time the focus goes to the button that sends them. */
const panel = shared({ open: true, turn: 0 });

export function showPanel() {
    panel.set({ open: true, turn: panel.get().turn + 1 });
}

function useQueue() {
    const [, again] = useState({});
    useLayoutEffect(() => queue.listen(() => again({})), []);
    return queue.list();
}

/* ---- one file ---- */

/* Seconds until the next try, counted down. */
function Countdown({ item }) {
    const [rest, setRest] = useState(item.wait);
    useEffect(() => {
        const end = Date.now() + item.wait * 1000;
        const timer = setInterval(() => setRest(Math.max(0, Math.ceil((end - Date.now()) / 1000))), 1000);
        return () => clearInterval(timer);
    }, [item.wait]);
    return rest === 0 ? t("Next try now") : t("Next try in {time}", { time: duration(rest) });
}

function Progress({ item }) {
    const part = item.size === 0 ? 0 : item.sent / item.size;
    return html`<progress max="1" value=${part} aria-label=${t("Progress of {name}", { name: item.name })}></progress>`;
}

function sendingText(item) {
    if (item.sent >= item.size) {
        return t("All sent. It is being stored …");
    }
    return t("{sent} of {size}", { sent: bytes(item.sent), size: bytes(item.size) });
}

/* What stands under the name. */
function State({ item, limits }) {
    switch (item.state) {
    case "ready":
        return bytes(item.size);
    case "waiting":
        return navigator.onLine === false ? t("Waiting for the connection") : t("Waiting for its turn");
    case "sending":
        return html`<${Progress} item=${item} />${sendingText(item)}`;
    case "pausing":
        return html`<${Progress} item=${item} />${t("Interrupted.")} <${Countdown} item=${item} />`;
    case "done":
        return t("Uploaded");
    default:
        return failureText(item, limits);
    }
}

function TypeSelect({ item, limits }) {
    const types = typesFor(limits.buckets, item.isPicture);
    const options = typeOptions(types.includes(item.type) ? types : [...types, item.type]);
    return html`<select aria-label=${t("Type of {name}", { name: item.name })} value=${item.type}
        onChange=${(event) => queue.setType(item.key, event.target.value)}>
        ${options.map((one) => html`<option key=${one.value} value=${one.value}>${one.label}</option>`)}</select>`;
}

/* What can be done about a failure: another try, or a look at the file that is there. */
function Failure({ item }) {
    const { error } = item;
    const { id } = error.detail;
    return html`${error.code === "file.duplicate" && id !== undefined
            && html`<${LinkButton} label=${t("Show it")} href=${link(["files", id])} />`}
        ${queue.canTryAgain(error) && html`<${Button} icon="refresh" label=${t("Try again")}
            onPress=${() => queue.again(item.key)} />`}`;
}

function removeLabel(item) {
    return ["waiting", "sending", "pausing"].includes(item.state) ? t("Cancel {name}", { name: item.name })
        : t("Take {name} out of the list", { name: item.name });
}

function Item({ item, limits }) {
    return html`<li class="upload ${item.state}">
        <${Sign} contentType=${item.isPicture ? "image/" : item.file.type} />
        <div class="what"><p class="name" title=${item.name}>${item.state === "done"
            ? html`<a href=${link(["files", item.record.id])}>${item.record.info.name}</a>` : item.name}</p>
            <p class="state">${item.state === "done" && html`<${Icon} name="check" />`}${item.state === "failed"
                && html`<${Icon} name="warning" />`}<${State} item=${item} limits=${limits} /></p>
            ${item.state === "failed" && html`<div class="actions"><${Failure} item=${item} /></div>`}
        </div>
        ${item.state === "ready" && html`<${TypeSelect} item=${item} limits=${limits} />`}
        <${Button} kind="icon" icon="close" label=${removeLabel(item)} onPress=${() => queue.remove(item.key)} />
    </li>`;
}

/* ---- all of them ---- */

function count(items, ...states) {
    return items.filter((item) => states.includes(item.state)).length;
}

/* The line beside the title. It is read out when it changes, so it tells of files and not of bytes. */
function summary(items) {
    const done = count(items, "done");
    const failed = count(items, "failed");
    const going = count(items, "waiting", "sending", "pausing");
    const ready = count(items, "ready");
    if (going > 0) {
        return t("{done} of {total} uploaded", { done, total: done + going + failed });
    }
    if (ready > 0) {
        return plural("{n} file is ready", "{n} files are ready", ready);
    }
    return [done > 0 && plural("{n} file is uploaded", "{n} files are uploaded", done),
        failed > 0 && plural("{n} failed", "{n} failed", failed)].filter(Boolean).join(" · ");
}

/* All that is under way: how much of it, and how long the rest takes. */
function Overall({ items }) {
    const going = items.filter((item) => ["waiting", "sending", "pausing"].includes(item.state));
    if (going.length === 0) {
        return null;
    }
    const size = going.reduce((sum, item) => sum + item.size, 0);
    const sent = going.reduce((sum, item) => sum + item.sent, 0);
    const speed = queue.speed();
    const rest = secondsFor(size - sent, speed);
    const pace = rest === 0 ? [] : [t("{time} left", { time: duration(rest) }),
        t("{size} per second", { size: bytes(speed) })];
    return html`<p class="overall quiet small">${[percent(size === 0 ? 0 : sent / size), ...pace].join(" · ")}</p>`;
}

/* Before they are sent: the tags for all of them, and the button. */
function Ready({ items, limits, turn }) {
    const [text, setText] = useState("");
    const place = useRef(null);
    const name = useName("tags");
    const ready = count(items, "ready");
    useLayoutEffect(() => {
        if (place.current !== null) {
            place.current.querySelector("button.primary").focus();
        }
    }, [turn]);
    if (ready === 0) {
        return null;
    }
    const tags = readTags(text);
    const wrong = wrongTags(tags, limits.file);
    const send = (event) => {
        event.preventDefault();
        if (wrong === "") {
            queue.start(tags);
            setText("");
        }
    };
    return html`<form class="ready" ref=${place} onSubmit=${send}>
        <div class="field"><label for=${name}>${t("Tags for all of them")}</label>
            <p class="hint" id="${name}-hint">${t("Separate them with commas. You can leave this empty.")}</p>
            ${wrong !== "" && html`<p class="error" id="${name}-error">${wrong === "many"
                ? t("These are too many. A file has up to {n} tags.", { n: limits.file.tags })
                : t("One of them is too long. A tag has up to {n} characters.", { n: limits.file.tagCharacters })}</p>`}
            <input type="text" id=${name} autocomplete="off" value=${text}
                aria-invalid=${wrong === "" ? undefined : "true"}
                aria-describedby=${wrong === "" ? `${name}-hint` : `${name}-hint ${name}-error`}
                onInput=${(event) => setText(event.target.value)} /></div>
        <div class="actions"><button type="submit" class="button primary"><${Icon} name="upload" />
            <span>${plural("Upload {n} file", "Upload {n} files", ready)}</span></button></div></form>`;
}

/* Large files that a former page has begun. */
function Interrupted({ items, userId }) {
    const [, again] = useState({});
    const isListed = (one) => items.some((item) => item.name === one.name && item.size === one.size);
    const open = listKept(userId).filter((one) => !isListed(one));
    if (open.length === 0) {
        return null;
    }
    const drop = () => {
        open.forEach((one) => forget(one.id));
        again({});
    };
    const title = plural("{n} upload was interrupted.", "{n} uploads were interrupted.", open.length);
    return html`<${Notice} title=${title}>
        <p>${t("Choose the same file again, and it goes on where it was: {names}",
            { names: open.map((one) => one.name).join(", ") })}</p>
        <${Button} label=${t("Forget")} onPress=${drop} /></${Notice}>`;
}

function Head({ items, open }) {
    const toggle = () => panel.set({ ...panel.get(), open: !open });
    const verb = open ? t("Make the list of uploads small") : t("Show the list of uploads");
    return html`<header><h2>${t("Uploads")}</h2><p class="quiet" role="status">${summary(items)}</p>
        <${Button} kind="icon" icon="chevron" label=${verb} aria-expanded=${String(open)} onPress=${toggle} />
        ${items.length > 0 && !queue.isBusy() && html`<${Button} kind="icon" icon="close"
            label=${t("Close the list of uploads")} onPress=${() => queue.clear()} />`}</header>`;
}

export function UploadPanel() {
    const { open, turn } = useShared(panel);
    const { me, phase } = useShared(session);
    useShared(language);
    const items = useQueue();
    const limits = useLimits();
    const kept = me === null ? [] : listKept(me.user.id);
    if (phase === "out" || phase === "starting" || (items.length === 0 && kept.length === 0)) {
        return null;
    }
    return html`<section class="uploads ${open ? "open" : ""}" aria-label=${t("Uploads")}>
        <${Head} items=${items} open=${open} />
        <${Overall} items=${items} />
        ${open && html`<div class="content">
            <${Interrupted} items=${items} userId=${me.user.id} />
            <ul class="rows">${items.map((item) => html`<${Item} key=${item.key} item=${item}
                limits=${limits} />`)}</ul>
            <${Ready} items=${items} limits=${limits} turn=${turn} /></div>`}
    </section>`;
}
