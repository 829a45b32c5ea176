/* SPDX-License-Identifier: MIT */
/*
 * A forgotten password, in two steps: an e-mail with a code is asked for, then the code and a new password are sent.
 * The link in that e-mail brings the account's id (?id=…) and so leads to the second step. Opening the page changes
 * nothing.
 */
import { post } from "./api.js";
import { onPress, onSubmit, showPasswordsWith } from "./form.js";
import { code, codeFaults, id, newPasswordFaults, onAgain, showFaults, showPart, showRefusal, signInAndEnter, text,
    username, usernameFaults, withUsername } from "./page.js";

const ask = document.getElementById("ask-form");
const choose = document.getElementById("choose-form");

/* The second step has an address of its own: Back leads to the first, and a reload stays in it. */
const SECOND = "#code";

function showStep() {
    const second = id !== "" || location.hash === SECOND;
    if (document.getElementById(second ? "choose" : "ask").hidden) {
        showPart(second ? "choose" : "ask");
    }
}

/* The second step, for the address that was typed in the first. */
function goOn(asked) {
    choose.elements.namedItem("username").value = text(ask, "username").trim();
    document.getElementById("asked").hidden = !asked;
    history.pushState(null, "", SECOND);
    showStep();
}

function faultsOf(error) {
    if (error.code !== "code.mismatch") {
        return [];
    }
    return withUsername({
        field: "confirmationCode",
        message: "The code was not accepted. Compare its six digits. It may be older than an hour: then ask for "
            + "another e-mail below.",
    });
}

onSubmit(ask, async () => {
    if (showFaults(ask, usernameFaults(ask))) {
        return;
    }
    const reply = await post("/customers/forgotten-password", { username: username(ask) });
    if (reply.ok) {
        goOn(true);
    } else {
        showRefusal(ask, "No e-mail has been asked for", reply.error, []);
    }
});

onSubmit(choose, async () => {
    if (showFaults(choose, [...usernameFaults(choose), ...codeFaults(choose), ...newPasswordFaults(choose)])) {
        return;
    }
    const reply = await post("/customers/reset-password", {
        username: username(choose),
        confirmationCode: code(choose),
        newPassword: text(choose, "newPassword"),
    });
    if (reply.ok) {
        await signInAndEnter(choose, text(choose, "newPassword"));
    } else {
        showRefusal(choose, "Your password has not been set", reply.error, faultsOf(reply.error));
    }
});

onAgain(choose, "/customers/forgotten-password",
    "If there is such an account and it is in use, an e-mail with a new code is on its way.");

onPress(document.getElementById("have-code"), ask, () => goOn(false));
document.getElementById("username-field").hidden = id !== "";
showPasswordsWith(document.getElementById("show"), choose);
addEventListener("popstate", showStep);
showStep();
