/* SPDX-License-Identifier: MIT */
/* The forms of an organisation: a new customer with its owner, and what internal staff change of one. */
import * as api from "../api.js";
import { Choice, Field, Form, useForm, useUnsaved } from "../components/form.js";
import { number, t } from "../texts.js";
import { html } from "../view.js";

/* Quotas are typed in gigabytes, as people count; the service has bytes. */
const GIGABYTE = 1e9;

export function serviceName(service) {
    const words = { inventory: () => t("Inventory"), logistics: () => t("Logistics") };
    return words[service] === undefined ? service : words[service]();
}

const SERVICES = ["inventory", "logistics"];

function chosenServices(values) {
    return SERVICES.filter((service) => values[service]);
}

function Services({ form }) {
    const fault = form.faults.services;
    form.labels.services = t("Services");
    return html`<fieldset><legend>${t("Services")}</legend>
        ${fault && html`<p class="error">${fault}</p>`}
        ${SERVICES.map((service) => html`<${Choice} key=${service} form=${form} name=${service}
            label=${serviceName(service)} />`)}</fieldset>`;
}

function noService(values) {
    return chosenServices(values).length > 0 ? []
        : [{ field: "services", message: t("Choose one service or more.") }];
}

/* ---- a new customer ---- */

const OWNER = { "organisation.name": "", email: "", firstName: "", lastName: "", phone: "", inventory: true,
    logistics: false };

export function NewOrganisation({ onDone }) {
    const form = useForm(OWNER);
    useUnsaved(form);
    const send = (values) => api.post("/customers/signup", {
        organisation: { name: values["organisation.name"].trim() },
        email: values.email.trim(),
        firstName: values.firstName.trim(),
        lastName: values.lastName.trim(),
        ...values.phone.trim() === "" ? {} : { phone: values.phone.trim() },
        services: chosenServices(values),
    });
    const done = (reply) => {
        form.reset(OWNER);
        onDone(reply.body);
    };
    return html`<${Form} form=${form} check=${noService} send=${send} done=${done}
        label=${t("Create the organisation")} busy=${t("Creating …")} title=${t("The organisation is not created yet")}>
        <${Field} form=${form} name="organisation.name" label=${t("Name of the organisation")} />
        <${Services} form=${form} />
        <h3>${t("The owner")}</h3>
        <p class="quiet">${t("The owner gets an e-mail with a link and a temporary password.")}</p>
        <${Field} form=${form} name="email" type="email" label=${t("E-mail address")} />
        <${Field} form=${form} name="firstName" label=${t("First name")} />
        <${Field} form=${form} name="lastName" label=${t("Last name")} />
        <${Field} form=${form} name="phone" type="tel" label=${t("Phone (optional)")}
            hint=${t("With the country, for example +44 20 7946 0000.")} /></${Form}>`;
}

/* ---- one that there is ---- */

function isQuota(text) {
    return text.trim() === "" || /^\d+(\.\d+)?$/.test(text.trim());
}

function checkQuotas(values) {
    const faults = [];
    if (!isQuota(values.quotaBytes)) {
        faults.push({
            field: "quotaBytes",
            message: t("Enter a number such as {example}, or nothing.", { example: "10" }),
        });
    }
    if (!/^\d*$/.test(values.quotaFiles.trim())) {
        faults.push({ field: "quotaFiles", message: t("Enter a whole number, or nothing.") });
    }
    return [...noService(values), ...faults];
}

function formValues(organisation) {
    const { name, services, quotaBytes, quotaFiles } = organisation;
    return {
        name,
        inventory: services.includes("inventory"),
        logistics: services.includes("logistics"),
        quotaBytes: quotaBytes === null ? "" : String(quotaBytes / GIGABYTE),
        quotaFiles: quotaFiles === null ? "" : String(quotaFiles),
    };
}

/* Only what was changed is sent. */
function changesOf(values, organisation) {
    const wanted = {
        name: values.name.trim(),
        services: chosenServices(values),
        quotaBytes: values.quotaBytes.trim() === "" ? null : Math.round(Number(values.quotaBytes) * GIGABYTE),
        quotaFiles: values.quotaFiles.trim() === "" ? null : Number(values.quotaFiles),
    };
    return Object.fromEntries(Object.entries(wanted).filter(([name, value]) =>
        JSON.stringify(value) !== JSON.stringify(organisation[name])));
}

export function EditOrganisation({ organisation, onDone }) {
    const form = useForm(formValues(organisation));
    useUnsaved(form);
    const send = (values) => {
        const changes = changesOf(values, organisation);
        return Object.keys(changes).length === 0 ? { ok: true, body: { organisation } }
            : api.patch(`/customers/organisations/${organisation.id}`, changes);
    };
    const done = (reply) => {
        form.reset(formValues(reply.body.organisation));
        onDone(reply.body.organisation);
    };
    return html`<${Form} form=${form} check=${checkQuotas} send=${send} done=${done} label=${t("Save the changes")}
        busy=${t("Saving …")} title=${t("The changes are not saved yet")}>
        <${Field} form=${form} name="name" label=${t("Name")} />
        <${Services} form=${form} />
        <${Field} form=${form} name="quotaBytes" label=${t("Room for files, in gigabytes")} inputmode="decimal"
            hint=${t("Nothing means: no limit.")} />
        <${Field} form=${form} name="quotaFiles" label=${t("Largest number of files")} inputmode="numeric"
            hint=${t("Nothing means: no limit. Now there are {n}.", { n: number(organisation.usedFiles) })} />
    </${Form}>`;
}
