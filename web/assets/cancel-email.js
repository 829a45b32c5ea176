/* SPDX-License-Identifier: MIT */
/*
 * Cancelling a change of an e-mail address: the code from the notice is typed and sent. The link brings the account's
 * id (?id=…); without it the page asks for the e-mail address. Opening the page changes nothing.
 */
import { post } from "./api.js";
import { onSubmit } from "./form.js";
import { code, codeFaults, id, showDone, showFaults, showRefusal, username, usernameFaults, withUsername }
    from "./page.js";

const form = document.getElementById("form");

function faultsOf(error) {
    if (error.code !== "code.mismatch") {
        return [];
    }
    return withUsername({
        field: "confirmationCode",
        message: "The code was not accepted. Compare its six digits. It works until a day after the change, and for "
            + "five tries from here.",
    });
}

onSubmit(form, async () => {
    if (showFaults(form, [...usernameFaults(form), ...codeFaults(form)])) {
        return;
    }
    const reply = await post("/customers/cancel-email", { username: username(form), confirmationCode: code(form) });
    if (reply.ok) {
        showDone(form);
    } else {
        showRefusal(form, "The change has not been cancelled", reply.error, faultsOf(reply.error));
    }
});

document.getElementById("username-field").hidden = id !== "";
if (id !== "") {
    document.getElementById("reset").href = `reset?id=${encodeURIComponent(id)}`;
}
