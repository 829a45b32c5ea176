/* SPDX-License-Identifier: MIT */
/* How one gets into one's account: the e-mail address, the password, and the sessions that are open. */
import * as api from "../api.js";
import { Badge, Button, Empty, Notice, toast, When } from "../components/basic.js";
import { Field, Form, PasswordField, useForm } from "../components/form.js";
import { List, useList } from "../components/list.js";
import { ask } from "../components/overlay.js";
import { loadMe, signOut } from "../session.js";
import { errorText, t } from "../texts.js";
import { html, useState } from "../view.js";
import { newPasswordFaults, NewPasswordFields } from "./sign-in.js";

/* The service says "mismatch" of a password that is wrong. */
function wrongPassword(error) {
    return error.validation.some(({ path, code }) => path === "password" && code === "mismatch")
        ? [{ field: "password", message: t("This is not your present password.") }] : [];
}

function PresentPassword({ form }) {
    return html`<${PasswordField} form=${form} name="password" label=${t("Present password")}
        autocomplete="current-password" />`;
}

function withoutPassword(values) {
    return values.password === "" ? [{ field: "password", message: t("Enter your present password.") }] : [];
}

/* ---- the e-mail address ---- */

function NewAddress({ user, onSent }) {
    const form = useForm({ newEmail: "", password: "" });
    const check = (values) => [
        ...(/^\S+@\S+$/.test(values.newEmail.trim()) ? []
            : [{ field: "newEmail", message: t("Enter the new e-mail address.") }]),
        ...withoutPassword(values),
    ];
    const send = ({ newEmail, password }) => api.post("/customers/change-email", {
        newEmail: newEmail.trim(), password,
    });
    const done = () => onSent(form.values.newEmail.trim());
    return html`<p>${t("You sign in with {email}.", { email: user.email })}</p>
        <${Form} form=${form} check=${check} send=${send} done=${done} refused=${wrongPassword} kind=""
            label=${t("Send a code to the new address")} title=${t("The address is not changed")}>
            <${Field} form=${form} name="newEmail" label=${t("New e-mail address")} type="email" autocomplete="email" />
            <${PresentPassword} form=${form} />
        </${Form}>`;
}

function NewAddressCode({ address, onDone }) {
    const form = useForm({ confirmationCode: "" });
    const check = ({ confirmationCode }) => /^[0-9]{6}$/.test(confirmationCode.replace(/[\s-]/g, "")) ? []
        : [{ field: "confirmationCode", message: t("Enter the code from the e-mail. It has six digits.") }];
    const send = ({ confirmationCode }) => api.post("/customers/confirm-email", {
        confirmationCode: confirmationCode.replace(/[\s-]/g, ""),
    });
    const refused = (error) => error.code === "code.mismatch"
        ? [{ field: "confirmationCode", message: t("The code was not accepted. Compare its six digits.") }] : [];
    const done = async () => {
        await loadMe();
        toast(t("From now on you sign in with {email}.", { email: address }));
        onDone();
    };
    const words = t("An e-mail with a code is on its way to {email}. Until you enter it, nothing changes.",
        { email: address });
    return html`<${Notice}><p>${words}</p></${Notice}>
        <${Form} form=${form} check=${check} send=${send} done=${done} refused=${refused}
            label=${t("Change the address")} title=${t("The address is not changed")}
            more=${html`<${Button} kind="plain" label=${t("Cancel")} onPress=${onDone} />`}>
            <${Field} form=${form} name="confirmationCode" label=${t("Code")} inputmode="numeric"
                autocomplete="one-time-code" className="short" />
        </${Form}>`;
}

export function EmailSection({ user }) {
    const [address, setAddress] = useState("");
    return html`<section class="card"><h2>${t("E-mail address")}</h2>
        ${address === "" ? html`<${NewAddress} user=${user} onSent=${setAddress} />`
            : html`<${NewAddressCode} address=${address} onDone=${() => setAddress("")} />`}</section>`;
}

/* ---- the password ---- */

const EMPTY = { password: "", newPassword: "", repeated: "" };

export function PasswordSection({ user }) {
    const form = useForm(EMPTY);
    const send = ({ password, newPassword }) => api.post("/customers/change-password", { password, newPassword });
    const done = () => {
        form.reset(EMPTY);
        toast(t("Your password is changed. All your other sessions have ended."));
    };
    return html`<section class="card"><h2>${t("Password")}</h2>
        <${Form} form=${form} send=${send} done=${done}
            check=${(values) => [...withoutPassword(values), ...newPasswordFaults(values)]}
            refused=${wrongPassword} kind="" label=${t("Change the password")}
            title=${t("Your password is not changed")}>
            <input class="unseen" type="email" autocomplete="username" value=${user.email} readonly tabindex="-1"
                aria-hidden="true" />
            <${PresentPassword} form=${form} />
            <${NewPasswordFields} form=${form} />
        </${Form}></section>`;
}

/* ---- sessions ---- */

const BROWSERS = [["Firefox", "Firefox"], ["Edg", "Edge"], ["OPR", "Opera"], ["Chrome", "Chrome"],
    ["Safari", "Safari"]];
const SYSTEMS = [["Android", "Android"], ["iPhone", "iPhone"], ["iPad", "iPad"], ["Windows", "Windows"],
    ["Mac OS", "macOS"], ["Linux", "Linux"]];

/* "Firefox, Linux" for a browser; other programs by their own words. */
export function device(userAgent) {
    if (userAgent === null || userAgent === "") {
        return t("Unknown program");
    }
    const browser = BROWSERS.find(([mark]) => userAgent.includes(mark));
    const system = SYSTEMS.find(([mark]) => userAgent.includes(mark));
    return browser === undefined ? userAgent.slice(0, 60)
        : [browser[1], system && system[1]].filter(Boolean).join(", ");
}

export function SessionsSection() {
    const list = useList("/customers/sessions", { limit: null });
    const others = (list.items || []).some((one) => !one.current);
    const end = async (one) => {
        if (one.current) {
            await signOut();
            return;
        }
        const reply = await api.remove(`/customers/sessions/${one.id}`);
        if (reply.ok) {
            list.setItems((items) => items.filter(({ id }) => id !== one.id));
            toast(t("The session has ended."));
        } else {
            toast(errorText(reply.error), { meaning: "danger" });
        }
    };
    const endOthers = async () => {
        const sure = await ask({
            title: t("End all other sessions?"),
            text: t("Every other browser and program that is signed in with your account has to sign in again."),
            action: t("End the others"),
            danger: true,
        });
        if (!sure) {
            return;
        }
        const reply = await api.post("/customers/logout", { others: true });
        toast(reply.ok ? t("All other sessions have ended.") : errorText(reply.error));
        list.reload();
    };
    const columns = [
        { title: t("Device"), kind: "main", show: (one) => html`<span title=${one.userAgent}>${device(one.userAgent)}
            ${" "}${one.current && html`<${Badge} meaning="good">${t("This one")}</${Badge}>`}</span>` },
        { title: t("Address"), kind: "quiet", show: (one) => one.clientAddress || "–" },
        { title: t("Last used"), kind: "quiet", show: (one) => html`<${When} at=${one.lastUsedAt} />` },
        { title: t("Signed in"), kind: "quiet", show: (one) => html`<${When} at=${one.createdAt} />` },
        { title: t("Ends"), kind: "quiet", show: (one) => html`<${When} at=${one.expiresAt} />` },
        { title: t("Actions"), kind: "actions", show: (one) => html`<${Button} kind="plain"
            label=${one.current ? t("Sign out") : t("End")} onPress=${() => end(one)} />` },
    ];
    return html`<section class="card"><div class="page-head"><h2>${t("Sessions")}</h2>
            ${others && html`<${Button} label=${t("End all others")} onPress=${endOthers} />`}</div>
        <${List} list=${list} columns=${columns} label=${t("Sessions")} rowName=${(one) => device(one.userAgent)}
            empty=${html`<${Empty} title=${t("There is no session.")} />`} /></section>`;
}
