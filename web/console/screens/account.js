/* SPDX-License-Identifier: MIT */
/* One's own account: profile, e-mail address, password, sessions, and what the console looks like. */
import * as api from "../api.js";
import { CopyId, PageHead, toast } from "../components/basic.js";
import { Field, Form, Select, useForm, useUnsaved } from "../components/form.js";
import { setTheme, theme } from "../preferences.js";
import { loadMe, session } from "../session.js";
import { LANGUAGES, t } from "../texts.js";
import { html, useShared } from "../view.js";
import { EmailSection, PasswordSection, SessionsSection } from "./account-access.js";

function profileOf({ firstName, lastName, phone, locale }) {
    return { firstName, lastName, phone: phone || "", locale: locale || "" };
}

/* The languages that there are, and the person's own where it is another one. */
function languageChoices(own) {
    const known = Object.entries(LANGUAGES).map(([value, label]) => ({ value, label }));
    return [{ value: "", label: t("As the browser says") }, ...known,
        ...(own !== "" && LANGUAGES[own] === undefined ? [{ value: own, label: own }] : [])];
}

function profileFaults(values) {
    const faults = [];
    if (values.firstName.trim() === "") {
        faults.push({ field: "firstName", message: t("Enter your first name.") });
    }
    if (values.lastName.trim() === "") {
        faults.push({ field: "lastName", message: t("Enter your last name.") });
    }
    return faults;
}

function ProfileSection({ user }) {
    const form = useForm(profileOf(user));
    useUnsaved(form);
    const send = (values) => api.patch("/customers/me", {
        firstName: values.firstName.trim(), lastName: values.lastName.trim(),
        phone: values.phone.replace(/[\s()/-]/g, "") || null, locale: values.locale || null,
    });
    const done = async (reply) => {
        form.reset(profileOf(reply.body.user));
        await loadMe();
        toast(t("Saved."));
    };
    return html`<section class="card"><h2>${t("Profile")}</h2>
        <${Form} form=${form} check=${profileFaults} send=${send} done=${done} label=${t("Save")} busy=${t("Saving …")}
            title=${t("Your profile is not saved")}>
            <${Field} form=${form} name="firstName" label=${t("First name")} autocomplete="given-name" />
            <${Field} form=${form} name="lastName" label=${t("Last name")} autocomplete="family-name" />
            <${Field} form=${form} name="phone" label=${t("Phone")} type="tel" autocomplete="tel"
                hint=${t("With the code of the country, such as +44 1632 960123. It may stay empty.")} />
            <${Select} form=${form} name="locale" label=${t("Language")} options=${languageChoices(form.values.locale)}
                hint=${t("Of the console, and of the e-mails to you.")} />
        </${Form}></section>`;
}

function LooksSection() {
    const now = useShared(theme);
    const choices = [["", t("As the system says")], ["light", t("Light")], ["dark", t("Dark")]];
    return html`<section class="card"><h2>${t("Looks")}</h2>
        <fieldset><legend class="unseen">${t("Theme")}</legend>
            ${choices.map(([value, label]) => html`<div class="choice" key=${value}>
                <input type="radio" name="theme" id="theme-${value}" checked=${now === value}
                    onChange=${() => setTheme(value)} />
                <label for="theme-${value}">${label}</label></div>`)}
        </fieldset>
        <p class="hint">${t("For this browser only.")}</p></section>`;
}

export default function Account() {
    const { me } = useShared(session);
    const facts = html`${me.user.email} · ${me.organisation.name} · <${CopyId} id=${me.user.id} />`;
    return html`<${PageHead} title=${t("Your account")} facts=${facts} />
        <div class="pairs">
            <div class="stack">
                <${ProfileSection} user=${me.user} />
                <${LooksSection} />
            </div>
            <div class="stack">
                <${PasswordSection} user=${me.user} />
                <${EmailSection} user=${me.user} />
            </div>
        </div>
        <${SessionsSection} />`;
}
