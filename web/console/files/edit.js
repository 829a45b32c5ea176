/* SPDX-License-Identifier: MIT */
/* What one changes of a file in its drawer: name and tags, links. */
import * as api from "../api.js";
import { Button, CopyId, ErrorNotice, Notice, toast, When } from "../components/basic.js";
import { Field, Form, useForm, useUnsaved } from "../components/form.js";
import { ask } from "../components/overlay.js";
import { may, session } from "../session.js";
import { dateTime, errorText, plural, t } from "../texts.js";
import { html, useEffect, useLayoutEffect, useName, useRef, useState } from "../view.js";
import { changed, OWN_LINK_SECONDS } from "./actions.js";
import { useLimits } from "./limits.js";
import { nameBytes, readTags, splitName, wrongTags } from "./record.js";

/* ---- name and tags ---- */

/* The form that changes the name and the tags of a file. */

function nameFault(name, limits) {
    if (name.trim() === "") {
        return t("Enter a name.");
    }
    return nameBytes(name.trim()) > limits.nameBytes
        ? t("This name is too long. It may have {n} bytes, about as many letters.", { n: limits.nameBytes }) : "";
}

function tagFault(text, limits) {
    switch (wrongTags(readTags(text), limits)) {
    case "many":
        return t("These are too many. A file has up to {n} tags.", { n: limits.tags });
    case "long":
        return t("One of them is too long. A tag has up to {n} characters.", { n: limits.tagCharacters });
    default:
        return "";
    }
}

function check(values, limits) {
    const found = [["name", nameFault(values.name, limits)], ["tags", tagFault(values.tags, limits)]];
    return found.filter(([, message]) => message !== "").map(([field, message]) => ({ field, message }));
}

/* What the service says of a name or a tag, at the field that holds it. */
function refused(error) {
    if (error.code === "file.duplicate") {
        return [{ field: "name", message: t("You have the same file under this name already.") }];
    }
    return error.validation.map(({ path, code, message }) => ({
        field: path.startsWith("tags") ? "tags" : path,
        message: path === "name" && code === "mismatch" ? t("This ending stands for another kind of file.") : message,
    }));
}

/* The words of the service for a name that it cleaned need not be those that were typed: its record holds. */
export function Edit({ record, onDone }) {
    const { file: limits } = useLimits();
    const form = useForm({ name: record.info.name, tags: record.tags.join(", ") });
    const place = useRef(null);
    useUnsaved(form);
    useLayoutEffect(() => {
        const input = place.current.querySelector("input");
        input.focus();
        input.setSelectionRange(0, splitName(record.info.name)[0].length);
    }, []);
    const send = ({ name, tags }) => api.patch(`/system/files/${record.id}`,
        { name: name.trim(), tags: readTags(tags) });
    const done = (reply) => {
        form.reset(form.values);
        changed.set([reply.body]);
        toast(t("“{name}” is saved.", { name: reply.body.info.name }));
        onDone();
    };
    return html`<div ref=${place}><${Form} form=${form} label=${t("Save")} busy=${t("Saving …")}
        title=${t("Nothing is saved yet")} check=${(values) => check(values, limits)} send=${send} done=${done}
        refused=${refused} more=${html`<${Button} label=${t("Cancel")} onPress=${onDone} />`}>
        <${Field} form=${form} name="name" label=${t("Name")} spellcheck="false" />
        <${Field} form=${form} name="tags" label=${t("Tags")} hint=${t("Separate them with commas.")} />
    </${Form}></div>`;
}

/* ---- links ---- */

/* The links of one file: make one with an end, see how often each was used, revoke it. */

const HOUR = 3600;

function lives() {
    return [
        [HOUR, t("1 hour")],
        [24 * HOUR, t("1 day")],
        [7 * 24 * HOUR, t("1 week")],
    ];
}

/* Not one that the console made for a download or for another tab. */
function isShared(link) {
    return Date.parse(link.expiresAt) - Date.parse(link.createdAt) > (OWN_LINK_SECONDS + 5) * 1000;
}

/* The address of a link that was just made. The service tells it only now. */
function Made({ made }) {
    const place = useRef(null);
    const name = useName("address");
    useLayoutEffect(() => {
        place.current.focus();
        place.current.select();
    }, [made.url]);
    const copy = async () => {
        place.current.select();
        try {
            await navigator.clipboard.writeText(made.url);
            toast(t("Copied."));
        } catch (failure) {
            toast(t("The browser does not allow copying. The address is marked: copy it with the keyboard."));
        }
    };
    const title = t("The link holds until {time}.", { time: dateTime(made.expiresAt) });
    return html`<${Notice} meaning="good" title=${title}>
        <p id="${name}-hint">${t("Whoever has it can open the file. It is shown only now.")}</p>
        <div class="made"><input type="text" readonly ref=${place} value=${made.url}
            aria-label=${t("Address of the link")} aria-describedby="${name}-hint"
            onFocus=${(event) => event.target.select()} />
        <${Button} icon="copy" label=${t("Copy")} onPress=${copy} /></div></${Notice}>`;
}

function Make({ record, onMade }) {
    const [seconds, setSeconds] = useState(HOUR);
    const [error, setError] = useState(null);
    const name = useName("life");
    const make = async () => {
        const reply = await api.post(`/system/files/${record.id}/link`, { expiresIn: seconds });
        setError(reply.ok ? null : reply.error);
        if (reply.ok) {
            onMade(reply.body);
        }
    };
    return html`<div class="make"><label for=${name}>${t("It holds for")}</label>
        <select id=${name} value=${seconds} onChange=${(event) => setSeconds(Number(event.target.value))}>
            ${lives().map(([value, label]) => html`<option key=${value} value=${value}>${label}</option>`)}</select>
        <${Button} icon="link" label=${t("Make a link")} busy=${t("Making it …")} onPress=${make} />
        ${error !== null && html`<${ErrorNotice} error=${error} />`}</div>`;
}

function One({ link, onRevoke }) {
    const own = link.userId === session.get().me.user.id;
    return html`<li>
        <div><p>${link.uses === 0 ? t("Not used yet") : plural("Used once", "Used {n} times", link.uses)}</p>
            <p class="quiet small">${t("Ends")} <${When} at=${link.expiresAt} /> · ${t("made")}${" "}
            <${When} at=${link.createdAt} />${" "}
            ${own ? t("by you") : html`${t("by")} <${CopyId} id=${link.userId} />`}</p></div>
        ${may("cus:file:w") && html`<${Button} label=${t("Revoke")} onPress=${onRevoke} />`}
    </li>`;
}

/* The links, null before the first answer; and a function that reads them again. */
function useLinks(record) {
    const [reply, setReply] = useState(null);
    const read = async () => setReply(await api.get(`/system/files/${record.id}/links`, { limit: 100 }));
    useEffect(() => {
        setReply(null);
        read();
    }, [record.id]);
    return [reply, read];
}

export function Links({ record }) {
    const [reply, read] = useLinks(record);
    const [made, setMade] = useState(null);
    const onMade = (link) => {
        setMade(link);
        read();
    };
    const revoke = async (link) => {
        if (!await ask({ title: t("Revoke this link?"), danger: true, action: t("Revoke the link"),
            text: t("Whoever has it can no longer open the file. You can make another link, but not this one.") })) {
            return;
        }
        const said = await api.remove(`/system/files/${record.id}/links/${link.id}`);
        toast(said.ok ? t("The link is revoked.") : errorText(said.error), { meaning: said.ok ? "neutral" : "danger" });
        if (said.ok) {
            setMade(null);
        }
        await read();
    };
    const links = reply !== null && reply.ok ? reply.body.items.filter(isShared) : [];
    return html`<section class="links-of"><h3>${t("Links")}</h3>
        <p class="quiet">${t("A link opens this one file without signing in, until its time is over.")}</p>
        <${Make} record=${record} onMade=${onMade} />
        ${made !== null && html`<${Made} made=${made} />`}
        ${reply !== null && !reply.ok && html`<${ErrorNotice} error=${reply.error} onRetry=${read} />`}
        ${links.length > 0 && html`<ul class="rows">${links.map((link) => html`<${One} key=${link.id} link=${link}
            onRevoke=${() => revoke(link)} />`)}</ul>`}
        ${reply !== null && reply.ok && links.length === 0 && html`<p class="quiet small">
            ${t("No link is open at the moment.")}</p>`}
    </section>`;
}
