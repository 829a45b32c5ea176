/* SPDX-License-Identifier: MIT */
/*
 * What is done with a person. Disabling is taken back from the toast; what cannot be taken back asks first. Each
 * resolves to whether the service has done it.
 */
import * as api from "../api.js";
import { toast } from "../components/basic.js";
import { ask } from "../components/overlay.js";
import { errorText, t } from "../texts.js";
import { shared } from "../view.js";
import { personName } from "./words.js";

/* Set to the record of a person that has changed: the list and the page take it over. */
export const changedPerson = shared(null);

const USERS = "/customers/organisations/users";

export function personPath(person, more = "") {
    return `${USERS}/${person.id}${more}`;
}

function told(reply, text, more) {
    toast(reply.ok ? text : errorText(reply.error), reply.ok ? more : { meaning: "danger" });
    return reply.ok;
}

async function setStatus(person, status, text, undo) {
    const reply = await api.patch(personPath(person), { status });
    if (reply.ok) {
        changedPerson.set(reply.body.user);
    }
    return told(reply, text, undo ? { undo } : {});
}

export function enable(person, undo) {
    return setStatus(person, "active", t("{name} may sign in again.", { name: personName(person) }), undo);
}

export function disable(person) {
    const text = t("{name} is disabled and signed out everywhere.", { name: personName(person) });
    return setStatus(person, "disabled", text, () => enable(person));
}

export async function resend(person) {
    const reply = await api.post(personPath(person, "/resend"), {});
    if (!reply.ok && reply.error.status === 429) {
        toast(t("{name} got as many e-mails today as there may be. Try again tomorrow.", { name: personName(person) }),
            { meaning: "danger" });
        return false;
    }
    return told(reply, t("The e-mail to {email} is on its way.", { email: person.email }));
}

export async function unlock(person) {
    const reply = await api.post(personPath(person, "/unlock"), {});
    if (reply.ok) {
        changedPerson.set({ ...person, lockedUntil: null });
    }
    return told(reply, t("{name} can try to sign in at once.", { name: personName(person) }));
}

export async function endSessions(person) {
    const sure = await ask({
        title: t("End all sessions of {name}?", { name: personName(person) }),
        text: t("Every browser and program of this person has to sign in again."),
        action: t("End the sessions"),
        danger: true,
    });
    return sure && told(await api.remove(personPath(person, "/sessions")), t("All sessions have ended."));
}

export async function erase(person) {
    const sure = await ask({
        title: t("Erase {name} for good?", { name: personName(person) }),
        text: t("Name, address, phone number and account are removed; files stay. This cannot be taken back."),
        action: t("Erase this person"),
        danger: true,
    });
    return sure && told(await api.post(personPath(person, "/erase"), {}), t("The person is erased."));
}
