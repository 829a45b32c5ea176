/* SPDX-License-Identifier: MIT */
/*
 * The editor of what a person may do: roles, and single permissions by area. Beside it stands what would come of it:
 * the service says so for the draft (POST /customers/authorise/simulate), before anything is saved.
 */
import * as api from "../api.js";
import { Badge, ErrorNotice, Notice, toast, Waiting } from "../components/basic.js";
import { Form, useForm, useUnsaved } from "../components/form.js";
import { t } from "../texts.js";
import { html, useEffect, useState } from "../view.js";
import { changedPerson, personPath } from "./actions.js";
import { areaName, levelName, personName, roleName } from "./words.js";

const PAUSE_MS = 400;

/* The reply of a list that does not change while the page is there, null meanwhile. */
function useReply(path) {
    const [reply, setReply] = useState(null);
    const read = async () => setReply(await api.get(path));
    useEffect(() => {
        read();
    }, [path]);
    return [reply, read];
}

/* {area: [letters]} of the catalogue, in its order: "cus:file" has "r", "w" and "a". */
function areasOf(catalogue) {
    const areas = new Map();
    for (const { permission } of catalogue) {
        const at = permission.lastIndexOf(":");
        const area = permission.slice(0, at);
        areas.set(area, [...(areas.get(area) || []), permission.slice(at + 1)]);
    }
    return areas;
}

/* The letter of the area among the person's own permissions, "" when there is none. */
function levelOf(permissions, area) {
    return ["a", "w", "r"].find((letter) => permissions.includes(`${area}:${letter}`)) || "";
}

function withLevel(permissions, area, letter) {
    const others = permissions.filter((one) => one.slice(0, one.lastIndexOf(":")) !== area);
    return letter === "" ? others : [...others, `${area}:${letter}`];
}

function Roles({ roles, form }) {
    const { values } = form;
    const without = (id) => values.roles.filter((one) => one !== id);
    const toggle = (id, on) => form.set("roles", on ? [...values.roles, id] : without(id));
    return html`<fieldset><legend>${t("Roles")}</legend>${roles.map((role) => html`<div class="choice" key=${role.id}>
        <input type="checkbox" id="role-${role.id}" checked=${values.roles.includes(role.id)}
            disabled=${!role.grantable} aria-describedby="role-${role.id}-hint"
            onChange=${(event) => toggle(role.id, event.target.checked)} />
        <div><label for="role-${role.id}">${roleName(role.id)}</label>
            <p class="hint" id="role-${role.id}-hint"><code>${role.permissions.join(" ")}</code>
            ${!role.grantable && html` · ${t("You do not hold all of this yourself, so you cannot give it.")}`}</p>
        </div>
    </div>`)}</fieldset>`;
}

/* An area of which the caller can give nothing, and the person has nothing, is left out. */
function Areas({ catalogue, form }) {
    const { permissions } = form.values;
    const grantable = new Set(catalogue.filter((one) => one.grantable).map((one) => one.permission));
    return html`<fieldset><legend>${t("Single permissions")}</legend>
        ${[...areasOf(catalogue)].map(([area, letters]) => {
            const level = levelOf(permissions, area);
            const offered = ["", ...letters.filter((one) => one === level || grantable.has(`${area}:${one}`))];
            return offered.length > 1 && html`<label class="area" key=${area}>
                <span>${areaName(area)} <code>${area}</code></span>
                <select value=${level} onChange=${(event) => form.set("permissions",
                    withLevel(permissions, area, event.target.value))}>
                    ${offered.map((letter) => html`<option key=${letter} value=${letter}>
                        ${levelName(letter)}</option>`)}
                </select></label>`;
        })}</fieldset>`;
}

/* Permissions that the areas do not show, such as those with "*": they can only be taken away. */
function Others({ catalogue, form }) {
    const known = new Set([...areasOf(catalogue).keys()]);
    const { permissions } = form.values;
    const others = permissions.filter((one) => !known.has(one.slice(0, one.lastIndexOf(":"))));
    if (others.length === 0) {
        return null;
    }
    return html`<fieldset><legend>${t("Further permissions")}</legend>${others.map((one) => html`<div class="choice"
        key=${one}><input type="checkbox" id="further-${one}" checked onChange=${() => form.set("permissions",
            permissions.filter((other) => other !== one))} />
            <label for="further-${one}"><code>${one}</code></label></div>`)}
    </fieldset>`;
}

/* ---- what would come of it ---- */

function useDraft(person, values) {
    const [reply, setReply] = useState(null);
    const key = JSON.stringify([values.roles, values.permissions]);
    useEffect(() => {
        let current = true;
        const timer = setTimeout(async () => {
            const said = await api.post("/customers/authorise/simulate",
                { userId: person.id, roles: values.roles, permissions: values.permissions });
            if (current) {
                setReply(said);
            }
        }, reply === null ? 0 : PAUSE_MS);
        return () => {
            current = false;
            clearTimeout(timer);
        };
    }, [key]);
    return reply;
}

function Operations({ title, meaning, names }) {
    return names.length > 0 && html`<div><p class="strong">${title}</p><ul class="tags">${names.map((name) => html`<li
        key=${name}><${Badge} meaning=${meaning}>${name}</${Badge}></li>`)}</ul></div>`;
}

function Result({ person, values }) {
    const reply = useDraft(person, values);
    if (reply === null) {
        return html`<${Waiting} />`;
    }
    if (!reply.ok) {
        return reply.error.code === "user.self" ? html`<${Notice} meaning="warning" title=${t("You cannot save this.")}>
                <p>${t("Nobody takes rights from themselves. Another owner can.")}</p></${Notice}>`
            : html`<${ErrorNotice} error=${reply.error} />`;
    }
    const { permissions, gained, lost, notGrantable } = reply.body;
    const same = gained.length === 0 && lost.length === 0;
    return html`<div class="result" role="status">
        <p class="strong">${t("What {name} may do then", { name: personName(person) })}</p>
        <p>${permissions.length === 0 ? t("Nothing beyond the own account.")
            : html`<code>${permissions.join(" ")}</code>`}</p>
        ${same ? html`<p class="quiet">${t("The same operations as now.")}</p>`
            : html`<${Operations} title=${t("New")} meaning="good" names=${gained} />
                <${Operations} title=${t("No longer")} meaning="danger" names=${lost} />`}
        ${notGrantable.length > 0 && html`<${Notice} meaning="warning" title=${t("You cannot save this.")}>
            ${notGrantable.map((one) => html`<p key=${one.path}>${one.message}</p>`)}</${Notice}>`}
    </div>`;
}

function Editor({ person, roles, catalogue }) {
    const form = useForm({ roles: person.roles, permissions: person.permissions });
    useUnsaved(form);
    const send = ({ roles: wanted, permissions }) => api.patch(personPath(person), { roles: wanted, permissions });
    const done = (reply) => {
        form.reset(form.values);
        changedPerson.set(reply.body.user);
        toast(t("The rights of {name} are saved. They hold at once.", { name: personName(person) }));
    };
    return html`<div class="rights"><${Form} form=${form} send=${send} done=${done} label=${t("Save the rights")}
            busy=${t("Saving …")} title=${t("The rights are not changed")}>
            <${Roles} roles=${roles} form=${form} />
            <${Areas} catalogue=${catalogue} form=${form} />
            <${Others} catalogue=${catalogue} form=${form} />
        </${Form}>
        <${Result} person=${person} values=${form.values} /></div>`;
}

export function Rights({ person }) {
    const [roles, readRoles] = useReply("/customers/roles");
    const [catalogue, readCatalogue] = useReply("/customers/permissions");
    if (roles === null || catalogue === null) {
        return html`<${Waiting} />`;
    }
    if (!roles.ok || !catalogue.ok) {
        const [reply, again] = roles.ok ? [catalogue, readCatalogue] : [roles, readRoles];
        return html`<${ErrorNotice} error=${reply.error} onRetry=${again} />`;
    }
    return html`<${Editor} key=${person.updatedAt} person=${person} roles=${roles.body.items}
        catalogue=${catalogue.body.items} />`;
}
