/* SPDX-License-Identifier: MIT */
/*
 * What stands round every screen: header, menu, the bar of internal staff in another organisation, the word that one is
 * offline, the dialog of an ended session. Whoever is signed out sees the sign-in.
 */
import { allowed, menu, screenOf } from "./screens.js";
import { brand, isDark, language, theme } from "./preferences.js";
import { giveUp, session, signOut } from "./session.js";
import { link, route } from "./router.js";
import { acting, switchBack } from "./organisation.js";
import { clock, t } from "./texts.js";
import { Button, Empty, ErrorNotice, Initials, Notice, PageHead, Waiting } from "./components/basic.js";
import { Dialog, Drawer, Question } from "./components/dialog.js";
import { Icon } from "./components/icons.js";
import { Menu } from "./components/menu.js";
import { Toasts } from "./components/toast.js";
import { SignIn, SignInForm } from "./screens/sign-in.js";
import { Switcher } from "./switcher.js";
import { ending, upgraded } from "./watch.js";
import { html, useEffect, useRef, useShared, useState } from "./view.js";

/* ---- header and menu ---- */

export function Brand() {
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
            screen.load().then((module) => loaded.set(screen, module.default), (failure) => loaded.set(screen, failure))
                .then(() => again((n) => n + 1));
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
    /* Whoever goes to another screen begins at its heading. */
    const before = useRef(now);
    useEffect(() => {
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
