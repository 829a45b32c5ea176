/* SPDX-License-Identifier: MIT */
/*
 * What stands round every screen: header with the organisation, menu, bars, the dialog of an ended session. Whoever is
 * signed out sees the sign-in.
 */
import { send } from "../assets/api.js";
import { Button, Empty, ErrorNotice, Icon, Initials, Notice, PageHead, Toasts, Waiting } from "./components/basic.js";
import { Field, Form, SearchField, useForm } from "./components/form.js";
import { Dialog, Drawer, Menu, Question } from "./components/overlay.js";
import { SignIn, SignInForm } from "./screens/sign-in.js";
import * as api from "./api.js";
import { acting, switchBack, switchTo } from "./api.js";
import { brand, isDark, language, theme } from "./preferences.js";
import { allowed, link, loadScreen, menu, route, screenOf } from "./router.js";
import { giveUp, may, session, signOut } from "./session.js";
import { clock, t } from "./texts.js";
import { html, shared, useEffect, useLayoutEffect, useRef, useShared, useState } from "./view.js";

/* ---- what changes under an open page ---- */

/* The session comes to its end, and the service is upgraded. Bars tell both before anything breaks. */

/* So long before the end of the session the person is told. */
const NOTICE_MS = 120000;
/* The first screen comes first; then there is a look each five minutes, and when somebody comes back to the page. */
const FIRST_MS = 60000;
const EVERY_MS = 300000;

/* When the session ends, as the service says it; null while that is far away. */
const ending = shared(null);

/* Whether the service has another version than it had when the page was new. */
const upgraded = shared(false);

let ends = null;
let version = "";
let timer = 0;
let looked = 0;

async function readEnd() {
    const reply = await api.get("/customers/sessions");
    const own = reply.ok ? reply.body.items.find((one) => one.current) : undefined;
    ends = own === undefined ? null : own.expiresAt;
}

async function readVersion() {
    const reply = await send({ method: "GET", path: "/system/version" });
    if (reply.ok) {
        version = version || reply.body.version;
        upgraded.set(reply.body.version !== version);
    }
}

async function look() {
    looked = Date.now();
    await Promise.all([readVersion(), ends === null ? readEnd() : null]);
    if (session.get().phase !== "in") {
        return;
    }
    const left = ends === null ? EVERY_MS : Date.parse(ends) - NOTICE_MS - Date.now();
    ending.set(left > 0 ? null : ends);
    clearTimeout(timer);
    timer = setTimeout(look, left > 0 ? Math.min(left, EVERY_MS) : EVERY_MS);
}

/* Another sign-in is another session, with an end of its own. */
session.follow(({ phase }) => {
    clearTimeout(timer);
    ends = null;
    ending.set(null);
    if (phase === "in") {
        timer = setTimeout(look, FIRST_MS);
    }
});

document.addEventListener("visibilitychange", () => {
    if (!document.hidden && session.get().phase === "in" && Date.now() - looked > EVERY_MS) {
        look();
    }
});

/* Whether something would be lost if the page was loaded again: a form, an upload, the organisation looked at. */
function holdsSomething() {
    const question = new Event("beforeunload", { cancelable: true });
    dispatchEvent(question);
    return question.defaultPrevented || acting.get().foreign;
}

/* Whoever goes to another screen gets it in the new version. */
addEventListener("hashchange", () => {
    if (upgraded.get() && !holdsSomething()) {
        location.reload();
    }
});

/* ---- the organisation in the header ---- */

/* Internal staff (cus:org:a) choose another one there, and say why; others only read their own name. */

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

function Switcher() {
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

/* ---- header and menu ---- */

function Brand() {
    const { name, logos } = useShared(brand);
    useShared(theme);
    const logo = isDark() ? logos.dark : logos.light;
    return html`<a class="brand" href=${link(["home"])}>${logo === null
        ? html`<span class="mark" aria-hidden="true"></span>${name}` : html`<img src=${logo} alt=${name} />`}</a>`;
}

function Links({ now, onPress }) {
    return html`<ul class="links">${menu().map((screen) => html`<li key=${screen.path}>
        <a href=${link([screen.path])} onClick=${onPress} aria-current=${screen.path === now ? "page" : undefined}>
            <${Icon} name=${screen.icon} />${screen.title()}</a></li>`)}</ul>`;
}

function AccountMenu({ me }) {
    const name = `${me.user.firstName} ${me.user.lastName}`;
    const items = [
        { label: t("Your account"), icon: "account", href: link(["account"]) },
        { label: t("Sign out"), icon: "signOut", onPress: () => signOut() },
    ];
    return html`<${Menu} kind="plain" label=${t("Account of {name}", { name })} items=${items}>
        <${Initials} name=${name} /><span class="wide-text">${name}</span><${Icon} name="chevron" /></${Menu}>`;
}

function Header({ me, now }) {
    const [open, setOpen] = useState(false);
    const close = () => setOpen(false);
    return html`<header class="top">
        <${Button} kind="icon" icon="menu" label=${t("Menu")} class="button icon narrow-only"
            onPress=${() => setOpen(true)} />
        <${Brand} />
        <${Switcher} />
        <${AccountMenu} me=${me} />
        ${open && html`<${Drawer} title=${t("Menu")} onClose=${close}><nav aria-label=${t("Menu")}>
            <${Links} now=${now} onPress=${close} /></nav></${Drawer}>`}
    </header>`;
}

/* ---- bars ---- */

function useOnline() {
    const [online, setOnline] = useState(navigator.onLine);
    useEffect(() => {
        const change = () => setOnline(navigator.onLine);
        addEventListener("online", change);
        addEventListener("offline", change);
        return () => {
            removeEventListener("online", change);
            removeEventListener("offline", change);
        };
    }, []);
    return online;
}

/* Shortly before the session ends one may begin another; what one does here goes on. */
function Ending({ me }) {
    const at = useShared(ending);
    const [open, setOpen] = useState(false);
    useEffect(() => setOpen(false), [at]);
    if (at === null) {
        return null;
    }
    return html`<div class="strip warning" role="status"><${Icon} name="warning" />
            <span>${t("Your session ends at {time}.", { time: clock(at) })}</span>
            <${Button} kind="plain" label=${t("Sign in again")} onPress=${() => setOpen(true)} /></div>
        ${open && html`<${Dialog} title=${t("Sign in again")} onClose=${() => setOpen(false)}>
            <p>${t("You go on here with a new session.")}</p><${SignInForm} username=${me.user.email} /></${Dialog}>`}`;
}

function Upgraded() {
    return useShared(upgraded) && html`<div class="strip warning" role="status"><${Icon} name="info" />
        <span>${t("There is a new version of the console. It comes with the next screen that you open.")}</span>
        <${Button} kind="plain" label=${t("Load it now")} onPress=${() => location.reload()} /></div>`;
}

function Bars({ me }) {
    const { name, foreign, reason } = useShared(acting);
    return html`<div class="bars">
        ${!useOnline() && html`<p class="strip warning" role="status"><${Icon} name="warning" />
            ${t("You are offline. What you see may be old; nothing can be saved.")}</p>`}
        ${foreign && html`<div class="strip accent" role="status"><${Icon} name="organisations" />
            <span>${t("You are looking at {name}.", { name })}
                ${reason !== "" && " " + t("Reason: {reason}", { reason })}</span>
            <${Button} kind="plain" label=${t("Back to your own")} onPress=${switchBack} /></div>`}
        <${Upgraded} /><${Ending} me=${me} />
    </div>`;
}

/* ---- the screen ---- */

const loaded = new Map();

/* The component of a screen: null while it is fetched, an Error when it could not be. */
function useComponent(screen) {
    const [, again] = useState(0);
    useEffect(() => {
        if (screen !== undefined && !loaded.has(screen)) {
            loadScreen(screen).then((module) => module.default, (failure) => failure)
                .then((found) => loaded.set(screen, found) && again((n) => n + 1));
        }
    }, [screen]);
    return loaded.get(screen) || null;
}

function Forbidden({ screen }) {
    const text = t("It needs the permission {permission}. Ask the owner of your organisation for it.",
        { permission: screen.permissions[0] });
    return html`<${PageHead} title=${screen.title()} />
        <${Empty} icon="warning" title=${t("You may not see this.")} text=${text} />`;
}

function Screen({ screen, where }) {
    const Component = useComponent(screen);
    if (screen === undefined) {
        return html`<${PageHead} title=${t("Not found")} />
            <${Empty} icon="search" title=${t("There is nothing at this address.")}>
            <a class="button" href=${link(["home"])}>${t("Home")}</a></${Empty}>`;
    }
    if (!allowed(screen)) {
        return html`<${Forbidden} screen=${screen} />`;
    }
    if (Component === null) {
        return html`<${Waiting} />`;
    }
    if (Component instanceof Error) {
        return html`<${PageHead} title=${screen.title()} /><${Notice} meaning="warning" role="alert"
                title=${t("This part of the console could not be loaded.")}>
            <p>${t("There may be a new version. Load the page again.")}</p>
            <${Button} icon="refresh" label=${t("Load again")} onPress=${() => location.reload()} /></${Notice}>`;
    }
    return html`<${Component} key=${screen.path} route=${where} />`;
}

function useTitle(screen, now) {
    const { name } = useShared(brand);
    const { name: organisation } = useShared(acting);
    useEffect(() => {
        document.title = [screen === undefined ? "" : screen.title(), organisation, name].filter(Boolean).join(" · ");
    });
    /* Whoever goes to another screen begins at its top. */
    const before = useRef(now);
    useLayoutEffect(() => {
        if (before.current !== now) {
            before.current = now;
            scrollTo(0, 0);
            document.querySelector("main").focus({ preventScroll: true });
        }
    }, [now]);
}

function Ended({ me }) {
    const leave = html`<${Button} kind="plain" label=${t("Leave the console")} onPress=${giveUp} />`;
    return html`<${Dialog} title=${t("Sign in again")}>
        <p>${t("Your session has ended. What you have entered here is still there.")}</p>
        <${SignInForm} username=${me.user.email} more=${leave} /></${Dialog}>`;
}

function SignedIn({ me, ended }) {
    const where = useShared(route);
    const { id } = useShared(acting);
    const screen = screenOf(where);
    const now = screen === undefined ? "" : screen.path;
    useTitle(screen, now);
    return html`<a class="skip" href="#content" onClick=${skip}>${t("Skip to the content")}</a>
        <${Header} me=${me} now=${now} />
        <${Bars} me=${me} />
        <div class="columns">
            <nav class="side" aria-label=${t("Menu")}><${Links} now=${now} /></nav>
            <main id="content" tabindex="-1"><${Screen} key=${id} screen=${screen} where=${where} /></main>
        </div>
        ${ended && html`<${Ended} me=${me} />`}`;
}

function skip(event) {
    event.preventDefault();
    document.getElementById("content").focus();
}

/* `failed`: the reply of the service when nothing could be found out about the session. */
export function Console({ failed }) {
    const { phase, me, note } = useShared(session);
    useShared(language);
    let shown;
    if (phase === "starting") {
        shown = html`<main class="alone"><${Brand} /><h1>${t("The console could not begin")}</h1>
            <${ErrorNotice} error=${failed.error} onRetry=${() => location.reload()} /></main>`;
    } else if (phase === "out") {
        shown = html`<${SignIn} note=${note} />`;
    } else {
        shown = html`<${SignedIn} me=${me} ended=${phase === "ended"} />`;
    }
    return html`${shown}<${Question} /><${Toasts} />`;
}
