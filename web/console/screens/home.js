/* SPDX-License-Identifier: MIT */
/*
 * Home: what one sees first after signing in. How much of the quota is used, who has not answered an invitation yet,
 * what to do next; internal staff see whether the service is well.
 */
import * as api from "../api.js";
import { acting } from "../api.js";
import { Badge, Bar, ErrorNotice, Icon, PageHead, Sparkline, Waiting, When } from "../components/basic.js";
import { link, reachable } from "../router.js";
import { may, session } from "../session.js";
import { inSteps, lastOf, loadStats, sumOf } from "../stats.js";
import { partsOf } from "../system/parts.js";
import { bytes, number, percent, plural, t } from "../texts.js";
import { html, useEffect, useShared, useState } from "../view.js";

/* A reply that is asked for once; null before it is there. */
function useReply(ask) {
    const [reply, setReply] = useState(null);
    useEffect(() => {
        let shown = true;
        ask().then((said) => shown && setReply(said));
        return () => {
            shown = false;
        };
    }, []);
    return reply;
}

function Card({ icon, title, children, className = "" }) {
    return html`<section class="card ${className}"><h2><${Icon} name=${icon} />${title}</h2>${children}</section>`;
}

/* ---- the organisation ---- */

function Storage({ organisation }) {
    const { usedBytes, quotaBytes, usedFiles, quotaFiles } = organisation;
    return html`<${Card} icon="files" title=${t("Storage")}>
        <p class="figure">${bytes(usedBytes)}</p>
        <${Bar} used=${usedBytes} limit=${quotaBytes} label=${t("Used storage")} />
        <p class="quiet">${quotaBytes === null ? t("There is no limit.")
            : t("{part} of {quota}", { part: percent(usedBytes / (quotaBytes || 1)), quota: bytes(quotaBytes) })}</p>
        <${Bar} used=${usedFiles} limit=${quotaFiles} label=${t("Used number of files")} />
        <p class="quiet">${quotaFiles === null ? plural("{n} file", "{n} files", usedFiles)
            : t("{used} of {quota} files", { used: number(usedFiles), quota: number(quotaFiles) })}</p>
    </${Card}>`;
}

function Invited({ person }) {
    const name = `${person.firstName} ${person.lastName}`;
    const over = person.invitationExpiresAt !== null && new Date(person.invitationExpiresAt) < new Date();
    return html`<li><span>${reachable("team") ? html`<a href=${link(["team", person.id])}>${name}</a>` : name}</span>
        ${over ? html`<${Badge} meaning="warning">${t("Invitation ended")}</${Badge}>`
            : html`<span class="quiet"><${When} at=${person.createdAt} /></span>`}</li>`;
}

function People({ organisation }) {
    const invited = { status: "awaiting-first-login", limit: 5 };
    const reply = useReply(() => api.get("/customers/organisations/users", invited));
    if (reply === null) {
        return html`<${Card} icon="people" title=${t("Team")}><${Waiting} /></${Card}>`;
    }
    const people = reply.ok ? reply.body.items : [];
    const more = reply.ok && reply.body.nextCursor !== null;
    return html`<${Card} icon="people" title=${t("Team")}>
        <p class="figure">${plural("{n} person", "{n} people", organisation.userCount)}</p>
        ${!reply.ok ? html`<${ErrorNotice} error=${reply.error} />` : people.length === 0
            ? html`<p class="quiet">${t("Everybody has answered their invitation.")}</p>`
            : html`<h3>${t("Have not answered their invitation")}</h3>
                <ul class="home-people">${people.map((one) => html`<${Invited} key=${one.id} person=${one} />`)}</ul>`}
        ${more && html`<p class="quiet">${t("and more")}</p>`}
    </${Card}>`;
}

/* Where one goes from here. */
function Next() {
    const places = [
        reachable("files") && { icon: "upload", label: t("Files: upload, find, share"), href: link(["files"]) },
        reachable("team") && { icon: "people", label: t("Team: invite, permissions"), href: link(["team"]) },
        reachable("audit") && { icon: "audit", label: t("Audit: who did what"), href: link(["audit"]) },
        { icon: "account", label: t("Your password and sessions"), href: link(["account"]) },
        { icon: "external", label: t("Interface for programs"), href: "api" },
    ].filter(Boolean);
    return html`<${Card} icon="chevron" title=${t("Go on")} className="home-next">
        <ul class="places">${places.map((place) => html`<li key=${place.href}><a href=${place.href}>
            <${Icon} name=${place.icon} />${place.label}</a></li>`)}</ul></${Card}>`;
}

/* ---- the service, for internal staff ---- */

function Health() {
    const reply = useReply(() => api.get("/system/health/ready"));
    if (reply === null) {
        return html`<${Card} icon="system" title=${t("Service")}><${Waiting} /></${Card}>`;
    }
    const parts = partsOf(reply).filter(({ state }) => state !== "ok");
    return html`<${Card} icon="system" title=${t("Service")}>
        <p class="figure">${reply.ok ? t("Well") : t("Not well")}</p>
        ${parts.length === 0 && reply.ok && html`<p class="quiet">${t("All its parts work.")}</p>`}
        ${parts.length === 0 && !reply.ok && html`<${ErrorNotice} error=${reply.error} />`}
        ${parts.length > 0 && html`<ul class="home-people">${parts.map(({ name, title, state }) => html`<li key=${name}>
            <span>${title}</span>
            <${Badge} meaning=${state === "down" ? "danger" : "warning"}>${state}</${Badge}></li>`)}</ul>`}
    </${Card}>`;
}

function Line({ title, values, last, label }) {
    return html`<div><h3>${title}</h3><${Sparkline} values=${values} last=${last} label=${label} /></div>`;
}

/* The sum of a day, and a sentence for screen readers. */
function counted(values) {
    const sum = number(sumOf(values));
    return { values, last: sum, label: t("Line of the last 24 hours, in all {sum}", { sum }) };
}

function Activity() {
    const reply = useReply(() => loadStats());
    if (reply === null || !reply.ok) {
        return html`<${Card} icon="audit" title=${t("The last 24 hours")} className="wide">
            ${reply === null ? html`<${Waiting} />` : html`<${ErrorNotice} error=${reply.error} />`}</${Card}>`;
    }
    const steps = inSteps(reply.body.items);
    const slow = lastOf(steps.p99Ms);
    const slowText = slow === null ? "–" : t("{n} ms", { n: number(slow) });
    return html`<${Card} icon="audit" title=${t("The last 24 hours")} className="wide"><div class="lines">
        <${Line} title=${t("Requests")} ...${counted(steps.requests)} />
        <${Line} title=${t("Errors")} ...${counted(steps.errors)} />
        <${Line} title=${t("Sign-ins")} ...${counted(steps.logins)} />
        <${Line} title=${t("Failed sign-ins")} ...${counted(steps.loginFailures)} />
        <${Line} title=${t("Uploads")} ...${counted(steps.uploads)} />
        <${Line} title=${t("Slowest of a hundred")} values=${steps.p99Ms} last=${slowText}
            label=${t("Line of the last 24 hours, now {value}", { value: slowText })} />
    </div></${Card}>`;
}

export default function Home() {
    const { me } = useShared(session);
    const { foreign, name } = useShared(acting);
    const staff = may("sys:stats:a");
    return html`<${PageHead} title=${t("Welcome, {name}", { name: me.user.firstName })} facts=${name} />
        <div class="cards">
            ${staff && html`<${Health} />`}
            ${may("cus:file:r") && !foreign && html`<${Storage} organisation=${me.organisation} />`}
            ${may("cus:user:r") && !foreign && html`<${People} organisation=${me.organisation} />`}
            <${Next} />
            ${staff && html`<${Activity} />`}
        </div>`;
}
