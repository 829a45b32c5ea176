/* SPDX-License-Identifier: MIT */
/*
 * Confirming an account that somebody else has made: the code from the e-mail is typed and sent. The link brings the
 * account's id (?id=…); without it the page asks for the e-mail address. Opening the page confirms nothing.
 */
import { post } from "./api.js";
import { onSubmit } from "./form.js";
import { code, codeFaults, id, onAgain, showDone, showFaults, showRefusal, username, usernameFaults, withUsername }
    from "./page.js";

const form = document.getElementById("form");

function faultsOf(error) {
    if (error.code !== "code.mismatch") {
        return [];
    }
    return withUsername({
        field: "confirmationCode",
        message: "The code was not accepted. Compare its six digits, or ask for another e-mail below. If you have "
            + "confirmed the account already, just sign in.",
    });
}

onSubmit(form, async () => {
    if (showFaults(form, [...usernameFaults(form), ...codeFaults(form)])) {
        return;
    }
    const reply = await post("/customers/confirm-signup", { username: username(form), confirmationCode: code(form) });
    if (reply.ok) {
        showDone(form);
    } else {
        showRefusal(form, "Your account has not been confirmed", reply.error, faultsOf(reply.error));
    }
});

onAgain(form, "/customers/resend-confirmation",
    "If this account still awaits its confirmation, an e-mail with a new code is on its way.");

document.getElementById("username-field").hidden = id !== "";
