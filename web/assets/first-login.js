/* SPDX-License-Identifier: MIT */
/*
 * The first sign-in: the temporary password from the e-mail is exchanged for one of the person's own. The link brings
 * the account's id (?id=…); without it the page asks for the e-mail address. Nothing happens until the form is sent.
 */
import { post } from "./api.js";
import { onSubmit, showPasswordsWith } from "./form.js";
import {
    consoleFollows, consoleSession, enterConsole, id, newPasswordFaults, onAgain, showDone, showFaults, showRefusal,
    text, username, usernameFaults, withUsername,
} from "./page.js";

const form = document.getElementById("form");

/* Faults that the page finds without the service. */
function emptyFaults() {
    const missing = text(form, "password").trim() === "";
    return [
        ...usernameFaults(form),
        ...(missing ? [{ field: "password", message: "Enter the temporary password from the e-mail." }] : []),
        ...newPasswordFaults(form),
    ];
}

/* What the service's refusal means on this page; empty: what the service says itself. */
function faultsOf(error) {
    if (error.code === "auth.credentials") {
        return withUsername({
            field: "password",
            message: "The temporary password was not accepted. Check that you have copied all of it, or ask for "
                + "another e-mail below. If you have chosen a password already, just sign in with that one.",
        });
    }
    if (error.validation.some(({ path, code }) => path === "newPassword" && code === "unexpected")) {
        const message = "This account has a password of its own already. Sign in with that one.";
        return [{ field: "password", message }];
    }
    return [];
}

onSubmit(form, async () => {
    if (showFaults(form, emptyFaults())) {
        return;
    }
    const reply = await post("/customers/login", {
        username: username(form),
        password: text(form, "password").trim(),
        newPassword: text(form, "newPassword"),
        ...consoleSession,
    });
    if (!reply.ok) {
        showRefusal(form, "Your password has not been set", reply.error, faultsOf(reply.error));
        return;
    }
    const user = reply.body.user || {};
    if (consoleFollows) {
        enterConsole(form, user);
        return;
    }
    if (typeof user.email === "string") {
        document.getElementById("email").textContent = user.email;
    }
    showDone(form);
    /* People sign in elsewhere: this page needs no session, so none is left open. */
    if (reply.body.tokens) {
        await post("/customers/logout", {}, reply.body.tokens.accessToken);
    }
});

onAgain(form, "/customers/resend-confirmation",
    "If this account still awaits its first sign-in, an e-mail with a new temporary password is on its way.");

document.getElementById("username-field").hidden = id !== "";
showPasswordsWith(document.getElementById("show"), form);
