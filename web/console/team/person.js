/* SPDX-License-Identifier: MIT */
/* The page of one person: details, what the person may do and why, sessions, and what ends things. */
import * as api from "../api.js";
import {
    Badge, Button, CopyId, ErrorNotice, LinkButton, Notice, PageHead, toast, Waiting, When,
} from "../components/basic.js";
import { Field, Form, useForm, useUnsaved } from "../components/form.js";
import { List, useList } from "../components/list.js";
import { go, link, reachable } from "../router.js";
import { device } from "../screens/account-access.js";
import { may, session } from "../session.js";
import { errorText, t } from "../texts.js";
import { html, useEffect, useState } from "../view.js";
import { changedPerson, disable, enable, endSessions, erase, personPath, resend, unlock } from "./actions.js";
import { Rights } from "./rights.js";
import { isLocked, personName, roleName, statusWords } from "./words.js";

/* ---- details ---- */

function Edit({ person, onDone }) {
    const form = useForm({ firstName: person.firstName, lastName: person.lastName, phone: person.phone || "" });
    useUnsaved(form);
    const check = (values) => ["firstName", "lastName"].filter((name) => values[name].trim() === "")
        .map((field) => ({ field, message: t("This is missing.") }));
    const send = ({ firstName, lastName, phone }) => api.patch(personPath(person),
        { firstName: firstName.trim(), lastName: lastName.trim(), phone: phone.trim() === "" ? null : phone.trim() });
    const done = (reply) => {
        form.reset(form.values);
        changedPerson.set(reply.body.user);
        toast(t("Saved."));
        onDone();
    };
    return html`<${Form} form=${form} check=${check} send=${send} done=${done} label=${t("Save")} busy=${t("Saving …")}
        title=${t("Nothing is saved yet")} more=${html`<${Button} label=${t("Cancel")} onPress=${onDone} />`}>
        <${Field} form=${form} name="firstName" label=${t("First name")} />
        <${Field} form=${form} name="lastName" label=${t("Last name")} />
        <${Field} form=${form} name="phone" label=${t("Phone")} type="tel" hint=${t("With the country: +49 …")} />
    </${Form}>`;
}

function Details({ person }) {
    const [editing, setEditing] = useState(false);
    const [meaning, word] = statusWords(person.status);
    if (editing) {
        return html`<section class="card"><h2>${t("Details")}</h2>
            <${Edit} person=${person} onDone=${() => setEditing(false)} /></section>`;
    }
    return html`<section class="card"><h2>${t("Details")}</h2><dl class="facts">
        <dt>${t("E-mail address")}</dt><dd>${person.email}</dd>
        <dt>${t("Phone")}</dt><dd>${person.phone || "–"}</dd>
        <dt>${t("State")}</dt><dd><${Badge} meaning=${meaning}>${word}</${Badge}></dd>
        <dt>${t("Last sign-in")}</dt><dd><${When} at=${person.lastLoginAt} none=${t("Never")} /></dd>
        <dt>${t("Here since")}</dt><dd><${When} at=${person.createdAt} /></dd>
        <dt>${t("Id")}</dt><dd><${CopyId} id=${person.id} /></dd></dl>
        <div class="actions">
            ${may("cus:user:w") && html`<${Button} icon="edit" label=${t("Change")}
                onPress=${() => setEditing(true)} />`}
            ${reachable("files") && html`<${LinkButton} icon="files" label=${t("Files of this person")}
                href=${link(["files"], { by: person.id })} />`}</div></section>`;
}

/* What waits for somebody: an invitation, wrong passwords. */
function Waits({ person }) {
    const again = may("cus:user:w") && html`<${Button} icon="mail" label=${t("Send the e-mail again")}
        onPress=${() => resend(person)} />`;
    return html`${person.status === "awaiting-first-login" && html`<${Notice} meaning="warning"
            title=${t("The invitation is not answered yet.")}>
            ${person.invitationExpiresAt !== null && html`<p>${t("It ends")}${" "}
                <${When} at=${person.invitationExpiresAt} />.</p>`}${again}</${Notice}>`}
        ${person.status === "awaiting-confirmation" && html`<${Notice} meaning="warning"
            title=${t("The e-mail address is not confirmed yet.")}>${again}</${Notice}>`}
        ${isLocked(person) && html`<${Notice} meaning="warning"
            title=${t("Too many wrong passwords: this person has to wait.")}>
            ${may("cus:user:w") && html`<${Button} label=${t("End the wait")} onPress=${() => unlock(person)} />`}
        </${Notice}>`}`;
}

/* ---- what the person may do ---- */

function sourceName(source) {
    return source.startsWith("role:") ? t("role {name}", { name: roleName(source.slice(5)) }) : t("given by itself");
}

function Why({ person }) {
    const list = useList(personPath(person, "/permissions"), { limit: null });
    const columns = [
        { title: t("Permission"), kind: "main", show: (one) => html`<code>${one.permission}</code>` },
        { title: t("Comes from"), kind: "quiet", show: (one) => one.sources.map(sourceName).join(", ") },
        { title: t("Last used"), kind: "quiet", show: (one) => html`<${When} at=${one.lastUsedAt}
            none=${t("Not in 90 days")} />` },
    ];
    return html`<${List} list=${list} columns=${columns} label=${t("Permissions")} rowKey=${(one) => one.permission}
        empty=${html`<p class="quiet">${t("Nothing beyond the own account.")}</p>`} />`;
}

/* ---- sessions ---- */

function Sessions({ person }) {
    const list = useList(personPath(person, "/sessions"), { limit: null });
    const end = async (one) => {
        const reply = await api.remove(personPath(person, `/sessions/${one.id}`));
        toast(reply.ok ? t("The session has ended.") : errorText(reply.error), reply.ok ? {} : { meaning: "danger" });
        list.reload();
    };
    const columns = [
        { title: t("Device"), kind: "main", show: (one) => device(one.userAgent) },
        { title: t("Address"), kind: "quiet", show: (one) => one.clientAddress || "–" },
        { title: t("Last used"), kind: "quiet", show: (one) => html`<${When} at=${one.lastUsedAt} />` },
        may("cus:user:w") && { title: t("Actions"), kind: "actions", show: (one) => html`<${Button} kind="plain"
            label=${t("End")} onPress=${() => end(one)} />` },
    ].filter(Boolean);
    const endAll = async () => await endSessions(person) && list.reload();
    const some = list.items !== null && list.items.length > 0;
    return html`<section class="card"><div class="page-head"><h2>${t("Sessions")}</h2>
            ${some && may("cus:user:w") && html`<${Button} label=${t("End all sessions")} onPress=${endAll} />`}</div>
        <${List} list=${list} columns=${columns} label=${t("Sessions")} rowName=${(one) => device(one.userAgent)}
            empty=${html`<p class="quiet">${t("This person is signed in nowhere.")}</p>`} /></section>`;
}

/* ---- all of it ---- */

function Ending({ person }) {
    const own = person.id === session.get().me.user.id;
    if (!may("cus:user:w") || own) {
        return null;
    }
    const gone = async () => await erase(person) && go(["team"]);
    return html`${person.status === "disabled" ? html`<${Button} label=${t("Let sign in again")}
            onPress=${() => enable(person)} /><${Button} kind="danger" label=${t("Erase")} onPress=${gone} />`
        : person.status === "active" && html`<${Button} label=${t("Disable")} onPress=${() => disable(person)} />`}`;
}

function usePerson(id) {
    const [state, setState] = useState({ person: null, error: null });
    const read = async () => {
        const reply = await api.get(personPath({ id }));
        setState(reply.ok ? { person: reply.body.user, error: null } : { person: null, error: reply.error });
    };
    useEffect(() => {
        setState({ person: null, error: null });
        read();
        return changedPerson.watch((person) => person.id === id && setState({ person, error: null }));
    }, [id]);
    return { ...state, read };
}

export function Person({ id }) {
    const { person, error, read } = usePerson(id);
    const back = { href: link(["team"]), label: t("Team") };
    if (error !== null) {
        return html`<${PageHead} title=${t("Person")} back=${back} /><${ErrorNotice} error=${error} onRetry=${read} />`;
    }
    if (person === null) {
        return html`<${PageHead} title=${t("Person")} back=${back} /><${Waiting} />`;
    }
    return html`<${PageHead} title=${personName(person)} facts=${person.email} back=${back}>
            <${Ending} person=${person} /></${PageHead}>
        <${Waits} person=${person} />
        <${Details} person=${person} />
        <section class="card"><h2>${t("What this person may do")}</h2>
            ${may("cus:user:w") && html`<${Rights} person=${person} />`}
            <h3>${t("Now, and why")}</h3><${Why} key=${person.updatedAt} person=${person} /></section>
        <${Sessions} person=${person} />`;
}
