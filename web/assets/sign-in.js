/* SPDX-License-Identifier: MIT */
/*
 * Signing in, to see whose account it is. The tokens stay in the memory of the page: a user who signs out, leaves the
 * page or loads it again has ended the session.
 */
import { get, post } from "./api.js";
import { onPress, onSubmit, showPasswordsWith } from "./form.js";
import { showFaults, showPart, showRefusal, text } from "./page.js";
import { translated } from "./texts.js";

const form = document.getElementById("form");
const elsewhere = document.getElementById("elsewhere");
let token = "";

function emptyFaults() {
    return [
        ...(text(form, "username").trim() === "" ? [{ field: "username", message: "Enter your e-mail address." }] : []),
        ...(text(form, "password") === "" ? [{ field: "password", message: "Enter your password." }] : []),
    ];
}

/* Accounts that have to go through another page first: what to say, and where to. */
const FIRST = {
    "auth.newPasswordRequired": ["first-login", "Choose a password of your own",
        "This is the temporary password from the e-mail."],
    "auth.userUnconfirmed": ["confirm", "Confirm your account", "This account awaits the code from the e-mail."],
};

/* Whether the refusal is one of these; then the page leads on. */
function leadElsewhere(code) {
    const found = FIRST[code];
    elsewhere.hidden = found === undefined;
    if (found !== undefined) {
        const link = document.createElement("a");
        [link.href, link.textContent] = found;
        link.textContent = translated(link.textContent);
        elsewhere.replaceChildren(translated("Go on here:"), " ", link, ".");
    }
    return found !== undefined;
}

function faultsOf(error) {
    if (FIRST[error.code] !== undefined) {
        return [{ field: "password", message: FIRST[error.code][2] }];
    }
    return error.code === "auth.credentials"
        ? [{ field: "password", message: "The e-mail address or the password is wrong." }] : [];
}

async function end() {
    const ended = token;
    token = "";
    if (ended !== "") {
        await post("/customers/logout", {}, ended);
    }
}

function show(me) {
    document.getElementById("name").textContent = me.user.firstName + " " + me.user.lastName;
    document.getElementById("email").textContent = me.user.email;
    document.getElementById("organisation").textContent = me.organisation.name;
    form.reset();
    showPart("account");
}

onSubmit(form, async () => {
    elsewhere.hidden = true;
    if (showFaults(form, emptyFaults())) {
        return;
    }
    const reply = await post("/customers/login", {
        username: text(form, "username").trim(),
        password: text(form, "password"),
    });
    if (!reply.ok) {
        showRefusal(form, "You are not signed in", reply.error, faultsOf(reply.error));
        leadElsewhere(reply.error.code);
        return;
    }
    token = reply.body.tokens.accessToken;
    const me = await get("/customers/me", token);
    if (me.ok) {
        show(me.body);
    } else {
        await end();
        showRefusal(form, "You are not signed in", me.error, []);
    }
});

onPress(document.getElementById("sign-out"), document.getElementById("account"), async () => {
    await end();
    showPart("enter");
});

window.addEventListener("pagehide", () => {
    end();
    showPart("enter");
});

showPasswordsWith(document.getElementById("show"), form);
