/* SPDX-License-Identifier: MIT */
/* The people of the organisation: search, invitations, and the page of one person (#/team/{id}). */
import * as api from "../api.js";
import { acting, inOrganisation } from "../api.js";
import { Badge, Button, Empty, Initials, PageHead, toast, When } from "../components/basic.js";
import { Field, FilterSelect, Form, SearchField, useForm, useUnsaved } from "../components/form.js";
import { List, useList } from "../components/list.js";
import { Drawer, Menu } from "../components/overlay.js";
import { go, link, replaceQuery, setQuery, setUnsaved } from "../router.js";
import { may, session } from "../session.js";
import { changedPerson, disable, enable, resend, unlock } from "../team/actions.js";
import { Person } from "../team/person.js";
import { isLocked, personName, roleName, statusOptions, statusWords } from "../team/words.js";
import { t } from "../texts.js";
import { html, useEffect, useRef } from "../view.js";

const USERS = "/customers/organisations/users";

/* ---- invite ---- */

function check(values) {
    const missing = ["firstName", "lastName"].filter((name) => values[name].trim() === "")
        .map((field) => ({ field, message: t("This is missing.") }));
    return /^\S+@\S+$/.test(values.email.trim()) ? missing
        : [{ field: "email", message: t("Enter an e-mail address.") }, ...missing];
}

function refused(error) {
    return error.code === "user.exists"
        ? [{ field: "email", message: t("There is an account with this e-mail address already.") }] : [];
}

function Invite({ onClose, onDone }) {
    const form = useForm({ email: "", firstName: "", lastName: "" });
    useUnsaved(form);
    const send = ({ email, firstName, lastName }) => api.post(USERS,
        { email: email.trim(), firstName: firstName.trim(), lastName: lastName.trim() });
    const done = (reply) => {
        setUnsaved(null);
        toast(t("The invitation to {email} is on its way.", { email: reply.body.user.email }));
        onDone(reply.body.user);
    };
    return html`<${Drawer} title=${t("Invite somebody")} onClose=${onClose}>
        <p>${t("The person gets an e-mail with a link and chooses a password there. You never see it.")}</p>
        <${Form} form=${form} check=${check} send=${send} done=${done} refused=${refused} label=${t("Invite")}
            busy=${t("Inviting …")} title=${t("The person is not invited yet")}>
            <${Field} form=${form} name="email" label=${t("E-mail address")} type="email" />
            <${Field} form=${form} name="firstName" label=${t("First name")} />
            <${Field} form=${form} name="lastName" label=${t("Last name")} />
        </${Form}>
        <p class="quiet">${t("What the person may do is chosen on the next page.")}</p></${Drawer}>`;
}

/* ---- the list ---- */

function actionsOf(person) {
    const own = person.id === session.get().me.user.id;
    const waits = person.status.startsWith("awaiting-");
    const active = person.status === "active" && !own;
    return [
        { label: t("Details and rights"), icon: "info", href: link(["team", person.id]) },
        waits && { label: t("Send the e-mail again"), icon: "mail", onPress: () => resend(person) },
        /* The record does not tell of the waits of known browsers. */
        (active || isLocked(person)) && { label: t("End the wait"), icon: "refresh", onPress: () => unlock(person) },
        active && { label: t("Disable"), icon: "pause", onPress: () => disable(person) },
        person.status === "disabled" && { label: t("Let sign in again"), icon: "check", onPress: () => enable(person) },
    ].filter(Boolean);
}

function Name({ person }) {
    return html`<span class="named"><${Initials} name=${personName(person)} /><span>
        <a href=${link(["team", person.id])}>${personName(person)}</a>
        <span class="tags-of">${person.email}</span></span></span>`;
}

function Status({ person }) {
    const [meaning, word] = statusWords(person.status);
    return html`<${Badge} meaning=${meaning}>${word}</${Badge}>${isLocked(person)
        && html` <${Badge} meaning="danger">${t("Has to wait")}</${Badge}>`}`;
}

function columns() {
    return [
        { title: t("Name"), kind: "main", show: (person) => html`<${Name} person=${person} />` },
        { title: t("Roles"), kind: "quiet", show: (person) => person.roles.map(roleName).join(", ") || "–" },
        { title: t("State"), show: (person) => html`<${Status} person=${person} />` },
        { title: t("Last sign-in"), kind: "quiet", show: (person) => html`<${When} at=${person.lastLoginAt}
            none=${t("Never")} />` },
        may("cus:user:w") && { title: t("Actions"), kind: "actions", show: (person) => html`<${Menu}
            label=${t("Actions for {name}", { name: personName(person) })} items=${actionsOf(person)} />` },
    ];
}

function People({ search, status, inviting }) {
    const list = useList(USERS, inOrganisation({ search, status }));
    const latest = useRef(list);
    latest.current = list;
    useEffect(() => changedPerson.watch((person) => latest.current.setItems((items) => items.map((one) =>
        one.id === person.id ? person : one))), []);
    const invite = may("cus:user:w") && !acting.get().foreign;
    const close = () => go(["team"], { search, status });
    return html`<${PageHead} title=${t("Team")}>
            ${invite && html`<${Button} kind="primary" icon="plus" label=${t("Invite")}
                onPress=${() => go(["team", "invite"], { search, status })} />`}</${PageHead}>
        <div class="filters"><${SearchField} label=${t("Name or e-mail address")} value=${search}
                onSearch=${(text) => replaceQuery({ search: text })} />
            <${FilterSelect} label=${t("State")} value=${status} options=${statusOptions()}
                onChange=${(wanted) => setQuery({ status: wanted })} /></div>
        <div class="files-list"><${List} list=${list} columns=${columns()} label=${t("Team")} rowName=${personName}
            filtered=${Boolean(search || status)} clear=${() => go(["team"])}
            empty=${html`<${Empty} icon="people" title=${t("Nobody is here yet.")} />`} /></div>
        ${inviting && invite && html`<${Invite} onClose=${close} onDone=${(person) => go(["team", person.id])} />`}`;
}

export default function Team({ route }) {
    const id = route.path[1];
    const { search, status } = route.query;
    return id === undefined || id === "invite" ? html`<${People} search=${search} status=${status}
        inviting=${id === "invite"} />` : html`<${Person} key=${id} id=${id} />`;
}
