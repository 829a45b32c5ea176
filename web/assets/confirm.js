/* SPDX-License-Identifier: MIT */
/*
 * Confirming an account that somebody else has made: the code from the e-mail is typed and sent. The link brings the
 * account's id (?id=…); without it the page asks for the e-mail address. Opening the page confirms nothing.
 */
import { post } from "./api.js";
import { onSubmit, showPasswordsWith } from "./form.js";
import { code, codeFaults, consoleFollows, consoleSession, enterConsole, id, onAgain, showDone, showFaults, showRefusal,
    text, username, usernameFaults, withUsername } from "./page.js";

const form = document.getElementById("form");
const enter = document.getElementById("sign-in-form");

function faultsOf(error) {
    if (error.code !== "code.mismatch") {
        return [];
    }
    return withUsername({
        field: "confirmationCode",
        message: "The code was not accepted. Compare its six digits. It may be older than a day: then ask for another "
            + "e-mail below. If you have confirmed the account already, just sign in.",
    });
}

onSubmit(form, async () => {
    if (showFaults(form, [...usernameFaults(form), ...codeFaults(form)])) {
        return;
    }
    const reply = await post("/customers/confirm-signup", { username: username(form), confirmationCode: code(form) });
    if (reply.ok) {
        enter.elements.namedItem("username").value = username(form);
        showDone(form);
    } else {
        showRefusal(form, "Your account has not been confirmed", reply.error, faultsOf(reply.error));
    }
});

/* Afterwards one signs in here, and goes on in the console. */
onSubmit(enter, async () => {
    const empty = text(enter, "password") === "";
    if (showFaults(enter, empty ? [{ field: "password", message: "Enter your password." }] : [])) {
        return;
    }
    const reply = await post("/customers/login", {
        username: text(enter, "username"), password: text(enter, "password"), ...consoleSession,
    });
    if (reply.ok) {
        enterConsole(enter, reply.body.user);
        return;
    }
    showRefusal(enter, "You are not signed in", reply.error, reply.error.code === "auth.credentials"
        ? [{ field: "password", message: "The password is wrong." }] : []);
});

onAgain(form, "/customers/resend-confirmation",
    "If this account still awaits its confirmation, an e-mail with a new code is on its way.");

document.getElementById("username-field").hidden = id !== "";
enter.hidden = !consoleFollows;
document.getElementById("elsewhere").hidden = consoleFollows;
showPasswordsWith(document.getElementById("show"), enter);
