/* SPDX-License-Identifier: MIT */
/*
 * Signing in. What the service asks for before it lets a person in is done here: a temporary password asks for one of
 * their own, an account that waits for its code asks for the code, too many tries count down.
 */
import { send } from "../../assets/api.js";
import { Button, Notice } from "../components/basic.js";
import { Field, Form, PasswordField, useForm } from "../components/form.js";
import { brand, chooseLanguage, isDark, language, theme } from "../preferences.js";
import { signIn, signOut } from "../session.js";
import { duration, LANGUAGES, t } from "../texts.js";
import { html, useEffect, useLayoutEffect, useRef, useShared, useState } from "../view.js";

/* ---- faults that are known without asking ---- */

function missing(values, names) {
    const words = {
        username: t("Enter your e-mail address."),
        password: t("Enter your password."),
        newPassword: t("Choose a new password."),
        confirmationCode: t("Enter the code from the e-mail. It has six digits."),
    };
    return names.filter((name) => values[name].trim() === "").map((field) => ({ field, message: words[field] }));
}

/* The faults of two new passwords, for every form that has them. */
export function newPasswordFaults(values) {
    if (values.newPassword === "") {
        return missing(values, ["newPassword"]);
    }
    return values.newPassword === values.repeated ? []
        : [{ field: "repeated", message: t("The two new passwords are not the same. Type the new one again.") }];
}

export function NewPasswordFields({ form }) {
    return html`<${PasswordField} form=${form} name="newPassword" label=${t("New password")} autocomplete="new-password"
            hint=${t("Use 12 characters or more, for example a few words. Your name alone, your e-mail "
                + "address alone and passwords that many people use are not taken.")} />
        <${PasswordField} form=${form} name="repeated" label=${t("New password again")} autocomplete="new-password" />`;
}

/* ---- the steps ---- */

/* Seconds until the service takes another try; 0: at once. */
function useCountdown() {
    const [end, setEnd] = useState(0);
    const [, again] = useState(0);
    const left = Math.max(0, Math.ceil((end - Date.now()) / 1000));
    useEffect(() => {
        if (left === 0) {
            return undefined;
        }
        const timer = setTimeout(() => again((n) => n + 1), 1000);
        return () => clearTimeout(timer);
    });
    return [left, (seconds) => setEnd(Date.now() + seconds * 1000)];
}

function wait(reply, start) {
    if (!reply.ok && reply.error.status === 429) {
        start(reply.error.retryAfter || 1);
    }
    return reply;
}

function label(left, words) {
    return left > 0 ? `${words} (${duration(left)})` : words;
}

/* Who signs in and with what; `onStep` is told of the step that comes first. */
function Credentials({ form, fixed, onStep, more }) {
    const [left, start] = useCountdown();
    const send = async ({ username, password }) => wait(await signIn({ username: username.trim(), password }), start);
    const refused = (error) => {
        if (error.code === "auth.newPasswordRequired" || error.code === "auth.userUnconfirmed") {
            onStep(error.code);
        }
        return error.code === "auth.credentials"
            ? [{ field: "password", message: t("The e-mail address or the password is wrong.") }] : [];
    };
    return html`<${Form} form=${form} check=${(values) => missing(values, ["username", "password"])} send=${send}
        done=${() => null} refused=${refused} blocked=${left > 0} label=${label(left, t("Sign in"))}
        busy=${t("Signing in …")}
        title=${t("You are not signed in")} more=${more}>
        <${Field} form=${form} name="username" label=${t("E-mail address")} type="email" autocomplete="username"
            autocapitalize="none" spellcheck="false" readonly=${fixed} />
        <${PasswordField} form=${form} name="password" label=${t("Password")} autocomplete="current-password" />
    </${Form}>`;
}

/* The temporary password was right: one of their own takes its place. */
function OwnPassword({ form }) {
    const { username, password } = form.values;
    const send = (values) => signIn({ username: username.trim(), password, newPassword: values.newPassword });
    return html`<p>${t("This was a temporary password. Choose one of your own.")}</p>
        <${Form} form=${form} check=${newPasswordFaults} send=${send} done=${() => null} label=${t("Set my password")}
            busy=${t("Setting …")} title=${t("Your password has not been set")}>
        <input class="unseen" type="email" name="username" autocomplete="username" value=${username} readonly
            tabindex="-1" aria-hidden="true" />
        <${NewPasswordFields} form=${form} /></${Form}>`;
}

function Again({ username, path, words }) {
    const [said, setSaid] = useState("");
    const press = async () => {
        const reply = await send({ method: "POST", path, body: { username } });
        setSaid(reply.ok ? words : t("No e-mail has been sent. Try again in some minutes."));
    };
    return html`<${Button} kind="plain" label=${t("Send it again")} busy=${t("Sending …")} onPress=${press} />
        <p role="status" class="quiet">${said}</p>`;
}

/* The password was right; the code from the e-mail proves that the address is theirs. */
function Confirm({ form }) {
    const { username, password } = form.values;
    const confirm = async (values) => {
        const body = { username: username.trim(), confirmationCode: values.confirmationCode.replace(/[\s-]/g, "") };
        const reply = await send({ method: "POST", path: "/customers/confirm-signup", body });
        return reply.ok ? signIn({ username: username.trim(), password }) : reply;
    };
    const refused = (error) => error.code === "code.mismatch" ? [{ field: "confirmationCode", message: t("The code was "
        + "not accepted. Compare its six digits. It may be older than a day: then ask for another one.") }] : [];
    const again = html`<${Again} username=${username.trim()} path="/customers/resend-confirmation"
        words=${t("An e-mail with a new code is on its way.")} />`;
    return html`<p>${t("We have sent you an e-mail with a code. It shows that the address is yours.")}</p>
        <${Form} form=${form} check=${(values) => missing(values, ["confirmationCode"])} send=${confirm}
            done=${() => null} refused=${refused} label=${t("Confirm my account")} busy=${t("Confirming …")}
            title=${t("Your account is not confirmed yet")} more=${again}>
        <${Field} form=${form} name="confirmationCode" label=${t("Code")} inputmode="numeric"
            autocomplete="one-time-code" maxlength="20" className="short" /></${Form}>`;
}

/* The form alone: for the page and for the dialog of an ended session, where `username` is fixed. */
export function SignInForm({ username = "", more, onStep }) {
    const form = useForm({ username, password: "", newPassword: "", repeated: "", confirmationCode: "" });
    const [step, setStep] = useState("");
    const lead = (code) => {
        setStep(code);
        form.change({ list: [], faults: {}, error: null });
        if (onStep) {
            onStep(code);
        }
    };
    if (step === "auth.newPasswordRequired") {
        return html`<${OwnPassword} form=${form} />`;
    }
    if (step === "auth.userUnconfirmed") {
        return html`<${Confirm} form=${form} />`;
    }
    return html`<${Credentials} form=${form} fixed=${username !== ""} onStep=${lead} more=${more} />`;
}

/* ---- the page ---- */

function Languages() {
    const now = useShared(language);
    return html`<p class="languages">${Object.entries(LANGUAGES).map(([tag, name]) => html`<button type="button"
        key=${tag} lang=${tag} class="button plain" aria-pressed=${String(tag === now)}
        onClick=${() => chooseLanguage(tag)}>${name}</button>`)}</p>`;
}

function Head() {
    const { name, logos } = useShared(brand);
    useShared(theme);
    const logo = isDark() ? logos.dark : logos.light;
    return html`<p class="brand">${logo === null ? html`<span class="mark" aria-hidden="true"></span>${name}`
        : html`<img src=${logo} alt=${name} />`}</p>`;
}

const TITLES = {
    "": () => t("Sign in"),
    "auth.newPasswordRequired": () => t("Choose your password"),
    "auth.userUnconfirmed": () => t("Confirm your account"),
};

function Note({ note }) {
    if (note === "elsewhere") {
        return html`<${Notice}><p>${t("You have signed out in another tab.")}</p></${Notice}>`;
    }
    return note === "stays" && html`<${Notice} meaning="danger" role="alert"
        title=${t("You are still signed in in this browser.")}>
        <p>${t("Your session could not be ended. Check your connection, then sign out once more.")}</p>
        <${Button} icon="signOut" label=${t("Sign out")} onPress=${() => signOut()} /></${Notice}>`;
}

/* While one session is being ended, no other begins. */
export function SignIn({ note }) {
    const { name, support } = useShared(brand);
    const [step, setStep] = useState("");
    const heading = useRef(null);
    const leaving = note === "leaving";
    const title = leaving ? t("Signing out …") : TITLES[step]();
    useEffect(() => {
        document.title = `${title} · ${name}`;
    });
    useLayoutEffect(() => {
        if (step !== "") {
            heading.current.focus();
        }
    }, [step]);
    return html`<main class="alone">
        <div class="panel">
            <${Head} />
            <h1 tabindex="-1" ref=${heading}>${title}</h1>
            <${Note} note=${note} />
            ${!leaving && html`<${SignInForm} onStep=${setStep} />`}
            ${!leaving && step === "" && html`<ul class="ways">
                <li><a href="reset">${t("I have forgotten my password")}</a></li>
                <li><a href="first-login">${t("I have an e-mail with a temporary password")}</a></li>
                <li><a href="confirm">${t("I have an e-mail with a code")}</a></li>
            </ul>`}
        </div>
        <footer><${Languages} />
            <p class="quiet small"><a href="api">${t("Interface for programs")}</a>${support !== null
                && html` · <a href=${support}>${t("Help")}</a>`}</p></footer>
    </main>`;
}
