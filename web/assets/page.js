/* SPDX-License-Identifier: MIT */
/*
 * What the pages of an account share: whose account it is, what is wrong with a form before the service is asked, how
 * its refusals are told, and the button that asks for another e-mail.
 */
import { markSession, post, waitText } from "./api.js";
import { api, signIn } from "./config.js";
import { clearErrors, onPress, pause, setTitle, showErrors } from "./form.js";
import { translated } from "./texts.js";

const CODE = /^[0-9]{6}$/;

/*
 * The account's id from the link (?id=…). Empty, also where the link is not whole: the page asks for the e-mail
 * address.
 */
export const id = (() => {
    const given = (new URLSearchParams(location.search).get("id") || "").trim().toLowerCase();
    return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(given) ? given : "";
})();

export function text(form, name) {
    return form.elements.namedItem(name).value;
}

/* The member that tells the service whose account it is. */
export function username(form) {
    return id === "" ? text(form, "username").trim() : id;
}

/* People type codes as "123 456", too. */
export function code(form) {
    return text(form, "confirmationCode").replace(/[\s-]/g, "");
}

export function usernameFaults(form) {
    if (username(form) === "") {
        return [{ field: "username", message: "Enter your e-mail address." }];
    }
    return id !== "" || /^[^\s@]+@[^\s@]+$/.test(username(form)) ? []
        : [{ field: "username", message: "This is not an e-mail address. It looks like ann@example.org." }];
}

/* A code that cannot be right is not sent: five wrong tries use it up. */
export function codeFaults(form) {
    return CODE.test(code(form)) ? []
        : [{ field: "confirmationCode", message: "Enter the code from the e-mail. It has six digits." }];
}

export function newPasswordFaults(form) {
    if (text(form, "newPassword") === "") {
        return [{ field: "newPassword", message: "Choose a new password." }];
    }
    if (text(form, "newPassword") !== text(form, "repeated")) {
        return [{ field: "repeated", message: "The two new passwords are not the same. Type the new one again." }];
    }
    return [];
}

/* Faults that are known without asking the service; false when there are none. */
export function showFaults(form, faults) {
    if (faults.length > 0) {
        showErrors(form, "Check what you have entered", faults, "");
    }
    return faults.length > 0;
}

/* Shows the service's refusal: by `faults`, in the page's own words, or else in the words of the service. */
export function showRefusal(form, heading, error, faults) {
    const note = error.requestId === "" ? "" : translated("If you ask for help, mention this:") + " " + error.requestId;
    const said = faults.length > 0 ? faults : error.validation.map(({ path, message }) => ({ field: path, message }));
    if (error.status === 429 && error.retryAfter > 0) {
        pause(form, error.retryAfter);
        showErrors(form, waitText(error.retryAfter), [], note);
    } else if (said.length > 0) {
        showErrors(form, heading, said, note);
    } else {
        showErrors(form, error.message, [], note);
    }
}

/* `fault`, and that the e-mail address may be the wrong one where the page had to ask for it. */
export function withUsername(fault) {
    return id === "" ? [fault, { field: "username", message: "Check the e-mail address, too." }] : [fault];
}

/* Shows one of the page's parts and no other. */
export function showPart(name) {
    for (const part of document.querySelectorAll("main")) {
        part.hidden = part.id !== name;
    }
    const heading = document.getElementById(name).querySelector("h1");
    setTitle(heading.textContent);
    heading.focus();
}

/* Lets the page's link to signing in lead to the installer's own page where there is one. */
export function leadToSignIn() {
    if (signIn !== "") {
        document.getElementById("sign-in").href = signIn;
    }
}

/* The last part, with the way on to signing in. */
export function showDone(form) {
    leadToSignIn();
    form.reset();
    showPart("done");
}

/* ---- into the console ---- */

/* Whether people go on in the console, at this address; an installer may send them elsewhere. */
export const consoleFollows = signIn === "" && api === "";

/*
 * What a login sends beyond name and password: the session is to be the console's. The mark of the device is in a
 * cookie as well: afterwards the wrong passwords of strangers do not hold this browser up.
 */
export const consoleSession = consoleFollows ? { session: "cookie", deviceMark: "" } : {};

/*
 * Leaves the page for the console, whose session `user` has just begun. The form's field for the e-mail address gets
 * the user's, so that a password manager keeps account and password together.
 */
export function enterConsole(form, user) {
    const field = form.elements.namedItem("username");
    if (field !== null && typeof user.email === "string") {
        field.value = user.email;
    }
    markSession(true);
    location.replace("./");
}

/* Signs in with a password that has just been set; where that does not go, the last part leads on. */
export async function signInAndEnter(form, password) {
    const reply = consoleFollows
        ? await post("/customers/login", { username: username(form), password, ...consoleSession }) : { ok: false };
    if (reply.ok) {
        enterConsole(form, reply.body.user);
    } else {
        showDone(form);
    }
}

/*
 * The button that asks for another e-mail, at `path`. The service answers alike for every name, so all that can be said
 * is `answer`.
 */
export function onAgain(form, path, answer) {
    const status = document.getElementById("again-status");
    form.addEventListener("submit", () => {
        status.textContent = "";
    });
    onPress(document.getElementById("again"), form, async () => {
        status.textContent = "";
        if (showFaults(form, usernameFaults(form))) {
            return;
        }
        const reply = await post(path, { username: username(form) });
        if (!reply.ok) {
            showRefusal(form, "No e-mail has been asked for", reply.error, []);
            return;
        }
        clearErrors(form);
        status.textContent = translated(answer);
    });
}
