/* SPDX-License-Identifier: MIT */
/*
 * The organisation in the header. Internal staff (cus:org:a) choose another one there, and say why; others only read
 * their own name.
 */
import * as api from "./api.js";
import { acting, switchBack, switchTo } from "./organisation.js";
import { may } from "./session.js";
import { t } from "./texts.js";
import { Button, ErrorNotice, Waiting } from "./components/basic.js";
import { Dialog } from "./components/dialog.js";
import { Field, Form, useForm } from "./components/form.js";
import { Icon } from "./components/icons.js";
import { SearchField } from "./components/list.js";
import { html, useEffect, useShared, useState } from "./view.js";

const SHOWN = 8;

function Found({ search, onChoose }) {
    const [reply, setReply] = useState(null);
    useEffect(() => {
        let current = true;
        api.get("/customers/organisations", { search, limit: SHOWN }).then((said) => current && setReply(said));
        return () => {
            current = false;
        };
    }, [search]);
    if (reply === null) {
        return html`<${Waiting} />`;
    }
    if (!reply.ok) {
        return html`<${ErrorNotice} error=${reply.error} />`;
    }
    return html`<ul class="choices">${reply.body.items.map((one) => html`<li key=${one.id}>
        <button type="button" class="button plain" onClick=${() => onChoose(one)}>${one.name}</button></li>`)}
        ${reply.body.items.length === 0 && html`<li class="quiet">${t("No organisation has this in its name.")}</li>`}
        ${reply.body.nextCursor !== null && html`<li class="quiet small">
            ${t("There are more: type a part of the name.")}</li>`}
    </ul>`;
}

/* Asks why, and then looks at the organisation `chosen`. */
export function Reason({ chosen, onDone }) {
    const form = useForm({ reason: "" });
    const done = () => {
        switchTo(chosen, form.values.reason.trim());
        onDone();
    };
    return html`<${Form} form=${form} label=${t("Look at {name}", { name: chosen.name })}
        send=${async () => ({ ok: true })} done=${done}>
        <${Field} form=${form} name="reason" label=${t("Reason")} maxlength="200"
            hint=${t("The owner of the organisation can read it in the audit trail.")} /></${Form}>`;
}

function Choose({ onClose }) {
    const [search, setSearch] = useState("");
    const [chosen, setChosen] = useState(null);
    const own = acting.get().foreign && html`<${Button} label=${t("Back to your own")} onPress=${() => {
        switchBack();
        onClose();
    }} />`;
    return html`<${Dialog} title=${t("Look at another organisation")} onClose=${onClose} foot=${own || undefined}>
        ${chosen === null ? html`<${SearchField} label=${t("Search by name")} value=${search} onSearch=${setSearch} />
            <${Found} search=${search} onChoose=${setChosen} />`
            : html`<${Reason} chosen=${chosen} onDone=${onClose} />`}
    </${Dialog}>`;
}

export function Switcher() {
    const { name } = useShared(acting);
    const [open, setOpen] = useState(false);
    if (!may("cus:org:a")) {
        return html`<p class="organisation">${name}</p>`;
    }
    return html`<div class="organisation"><button type="button" class="button plain"
        title=${t("Look at another organisation")} onClick=${() => setOpen(true)}>
            <span class="unseen">${t("Organisation")}: </span><span class="name">${name}</span>
            <${Icon} name="chevron" /></button>
        ${open && html`<${Choose} onClose=${() => setOpen(false)} />`}</div>`;
}
