/* SPDX-License-Identifier: MIT */
/* The customers, for internal staff: the list, a new one, and one of them with its use, services and quotas. */
import * as api from "../api.js";
import { acting } from "../api.js";
import {
    Badge, Bar, Button, CopyId, Empty, ErrorNotice, LinkButton, PageHead, toast, Waiting, When,
} from "../components/basic.js";
import { FilterSelect, SearchField } from "../components/form.js";
import { List, useList } from "../components/list.js";
import { ask, Dialog, Drawer } from "../components/overlay.js";
import { EditOrganisation, NewOrganisation, serviceName } from "../organisations/edit.js";
import { go, link, replaceQuery, setQuery } from "../router.js";
import { Reason } from "../shell.js";
import { bytes, errorText, number, t } from "../texts.js";
import { html, useEffect, useShared, useState } from "../view.js";

function Status({ organisation }) {
    return organisation.status === "active" ? html`<${Badge} meaning="good">${t("Active")}</${Badge}>`
        : html`<${Badge} meaning="danger">${t("Disabled")}</${Badge}>`;
}

function services(organisation) {
    return organisation.services.map(serviceName).join(", ");
}

/* ---- the list ---- */

function All({ query }) {
    const { search, status } = query;
    const list = useList("/customers/organisations", { search, status });
    const [adding, setAdding] = useState(false);
    const columns = [
        {
            title: t("Name"),
            kind: "main",
            show: (one) => html`<a href=${link(["organisations", one.id])}>${one.name}</a>`,
        },
        { title: t("Status"), show: (one) => html`<${Status} organisation=${one} />` },
        { title: t("Services"), kind: "quiet", show: services },
        { title: t("People"), kind: "number", show: (one) => number(one.userCount) },
        { title: t("Files"), kind: "number", show: (one) => number(one.usedFiles) },
        { title: t("Used"), kind: "number", show: (one) => bytes(one.usedBytes) },
        { title: t("Since"), kind: "quiet", show: (one) => html`<${When} at=${one.createdAt} />` },
    ];
    const states = [{ value: "", label: t("All") }, { value: "active", label: t("Active") },
        { value: "disabled", label: t("Disabled") }];
    const added = ({ organisation, user }) => {
        setAdding(false);
        toast(t("{name} is created. {email} gets an e-mail.", { name: organisation.name, email: user.email }),
            { meaning: "good" });
        go(["organisations", organisation.id]);
    };
    const add = html`<${Button} kind="primary" icon="plus" label=${t("New organisation")}
        onPress=${() => setAdding(true)} />`;
    return html`<${PageHead} title=${t("Organisations")}>${add}</${PageHead}>
        <div class="filters">
            <${SearchField} label=${t("Search by name")} value=${search}
                onSearch=${(text) => replaceQuery({ search: text })} />
            <${FilterSelect} label=${t("Status")} value=${status} options=${states}
                onChange=${(wanted) => setQuery({ status: wanted })} />
        </div>
        <${List} list=${list} columns=${columns} label=${t("Organisations")} rowName=${(one) => one.name}
            filtered=${Boolean(search || status)} clear=${() => go(["organisations"])}
            empty=${html`<${Empty} icon="organisations" title=${t("There is no organisation yet.")}>
                ${add}</${Empty}>`} />
        ${adding && html`<${Drawer} title=${t("New organisation")} onClose=${() => setAdding(false)}>
            <${NewOrganisation} onDone=${added} /></${Drawer}>`}`;
}

/* ---- one ---- */

function Use({ organisation }) {
    const { usedBytes, quotaBytes, usedFiles, quotaFiles, userCount } = organisation;
    const of = (used, limit) => limit === null ? used : t("{used} of {limit}", { used, limit });
    return html`<section class="card"><h2>${t("Use")}</h2>
        <dl class="facts">
            <dt>${t("People")}</dt><dd class="number">${number(userCount)}</dd>
            <dt>${t("Room")}</dt>
            <dd class="number">${of(bytes(usedBytes), quotaBytes === null ? null : bytes(quotaBytes))}
                <${Bar} used=${usedBytes} limit=${quotaBytes} label=${t("Room in use")} /></dd>
            <dt>${t("Files")}</dt>
            <dd class="number">${of(number(usedFiles), quotaFiles === null ? null : number(quotaFiles))}
                <${Bar} used=${usedFiles} limit=${quotaFiles} label=${t("Files in use")} /></dd>
            <dt>${t("Since")}</dt><dd><${When} at=${organisation.createdAt} /></dd>
            <dt>${t("Id")}</dt><dd><${CopyId} id=${organisation.id} /></dd>
        </dl></section>`;
}

/* To look at people and files of the organisation one says why, as in the header. */
function Look({ organisation }) {
    const { id } = useShared(acting);
    const [open, setOpen] = useState(false);
    if (id === organisation.id) {
        return html`<${LinkButton} icon="people" label=${t("Its people")} href=${link(["team"])} />`;
    }
    return html`<${Button} icon="organisations" label=${t("Look at its data")} onPress=${() => setOpen(true)} />
        ${open && html`<${Dialog} title=${t("Look at another organisation")} onClose=${() => setOpen(false)}>
            <${Reason} chosen=${organisation} onDone=${() => setOpen(false)} /></${Dialog}>`}`;
}

async function setStatus(organisation, status, onDone) {
    const reply = await api.patch(`/customers/organisations/${organisation.id}`, { status });
    if (!reply.ok) {
        toast(errorText(reply.error), { meaning: "danger" });
        return;
    }
    onDone(reply.body.organisation);
    const words = status === "disabled" ? t("{name} is disabled.", organisation)
        : t("{name} is active again.", organisation);
    toast(words, { meaning: "good", undo: () => setStatus(organisation, organisation.status, onDone) });
}

function Disable({ organisation, onDone }) {
    if (organisation.status === "disabled") {
        return html`<${Button} icon="restore" label=${t("Enable")}
            onPress=${() => setStatus(organisation, "active", onDone)} />`;
    }
    const press = async () => {
        const sure = await ask({
            title: t("Disable {name}?", organisation),
            text: t("All its people are signed out at once and cannot sign in. Its files stay."),
            action: t("Disable"),
            danger: true,
        });
        if (sure) {
            await setStatus(organisation, "disabled", onDone);
        }
    };
    return html`<${Button} icon="pause" label=${t("Disable")} onPress=${press} />`;
}

function One({ id }) {
    const [reply, setReply] = useState(null);
    const read = async () => setReply(await api.get(`/customers/organisations/${id}`));
    useEffect(() => {
        setReply(null);
        read();
    }, [id]);
    const back = { href: link(["organisations"]), label: t("Organisations") };
    if (reply === null) {
        return html`<${Waiting} />`;
    }
    if (!reply.ok) {
        return html`<${PageHead} title=${t("Organisation")} back=${back} />
            <${ErrorNotice} error=${reply.error} onRetry=${read} />`;
    }
    const { organisation } = reply.body;
    const changed = (now) => setReply({ ok: true, body: { organisation: now } });
    const saved = (now) => {
        changed(now);
        toast(t("Saved."), { meaning: "good" });
    };
    return html`<${PageHead} title=${organisation.name} back=${back}
            facts=${html`<${Status} organisation=${organisation} /> ${services(organisation)}`}>
            <${Look} organisation=${organisation} /><${Disable} organisation=${organisation} onDone=${changed} />
        </${PageHead}>
        <div class="cards">
            <${Use} organisation=${organisation} />
            <section class="card"><h2>${t("Name, services and limits")}</h2>
                <${EditOrganisation} organisation=${organisation} onDone=${saved} /></section>
        </div>`;
}

export default function Organisations({ route }) {
    const id = route.path[1];
    return id === undefined ? html`<${All} query=${route.query} />` : html`<${One} key=${id} id=${id} />`;
}
