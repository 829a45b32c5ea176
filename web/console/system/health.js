/* SPDX-License-Identifier: MIT */
/* Whether all parts of the service work, and what it did in the last 24 hours. */
import * as api from "../api.js";
import { Badge, Button, ErrorNotice, Notice, Sparkline, Waiting } from "../components/basic.js";
import { may } from "../session.js";
import { bytes, number, t } from "../texts.js";
import { html, useEffect, useState } from "../view.js";
import { inSteps, lastOf, loadStats, sumOf } from "../stats.js";
import { partsOf } from "./parts.js";

function PartState({ state }) {
    if (state === "ok") {
        return html`<${Badge} meaning="good">${t("Works")}</${Badge}>`;
    }
    if (state === "warning") {
        return html`<${Badge} meaning="warning">${t("Needs attention")}</${Badge}>`;
    }
    return state === "down" ? html`<${Badge} meaning="danger">${t("Does not work")}</${Badge}>`
        : html`<${Badge}>${t("Not known")}</${Badge}>`;
}

function Parts({ reply, read }) {
    const parts = partsOf(reply);
    const attention = parts.some(({ state }) => state === "warning");
    return html`${!reply.ok && html`<${ErrorNotice} title=${t("The service is not ready")} error=${reply.error}
            onRetry=${read} />`}
        ${reply.ok && attention && html`<${Notice} meaning="warning"><p>
            ${t("Something needs attention. Run gatehousectl check on the host: it says what to do.")}</p></${Notice}>`}
        <dl class="facts">${parts.map(({ name, title, state }) => html`<dt key=${name}>${title}</dt>
            <dd key=${name + "-state"}><${PartState} state=${state} /></dd>`)}</dl>`;
}

/* ---- figures ---- */

function Figure({ title, value, values, label }) {
    return html`<section class="card"><h2>${title}</h2><p class="figure">${value}</p>
        <${Sparkline} values=${values} label=${label} /></section>`;
}

function milliseconds(value) {
    return value === null ? "–" : t("{n} ms", { n: number(value, value < 10 ? 1 : 0) });
}

/* Each figure with what stands in large letters: the sum of the day, or the last value. */
function figures(lines) {
    const sum = (name) => sumOf(lines[name]);
    const known = (value, words) => value === null ? "–" : words(value);
    return [
        { name: "requests", title: t("Requests"), value: number(sum("requests")) },
        { name: "errors", title: t("Failed requests"), value: number(sum("errors")) },
        { name: "p50Ms", title: t("Half are answered within"), value: milliseconds(lastOf(lines.p50Ms)) },
        { name: "p99Ms", title: t("99 of 100 are answered within"), value: milliseconds(lastOf(lines.p99Ms)) },
        { name: "logins", title: t("Sign-ins"), value: number(sum("logins")) },
        { name: "loginFailures", title: t("Failed sign-ins"), value: number(sum("loginFailures")) },
        { name: "uploads", title: t("Uploads"), value: number(sum("uploads")) },
        { name: "uploadBytes", title: t("Uploaded"), value: bytes(sum("uploadBytes")) },
        { name: "outboxDepth", title: t("E-mails that wait"), value: known(lastOf(lines.outboxDepth), number) },
        { name: "freeBytes", title: t("Free room"), value: known(lastOf(lines.freeBytes), bytes) },
    ];
}

function Figures({ reply, read }) {
    if (!reply.ok) {
        return html`<${ErrorNotice} error=${reply.error} onRetry=${read} />`;
    }
    const lines = inSteps(reply.body.items);
    if (lastOf(lines.requests) === null) {
        return html`<p class="quiet">${t("There are no figures yet: the job runner writes them once a minute.")}</p>`;
    }
    return html`<div class="cards">${figures(lines).map(({ name, title, value }) => html`<${Figure} key=${name}
        title=${title} value=${value} values=${lines[name]}
        label=${t("{title} in the last 24 hours", { title })} />`)}</div>`;
}

export function Health() {
    const [replies, setReplies] = useState(null);
    const read = async () => {
        const [ready, stats] = await Promise.all([api.get("/system/health/ready"),
            may("sys:stats:a") ? loadStats() : null]);
        setReplies({ ready, stats });
    };
    useEffect(() => {
        read();
    }, []);
    if (replies === null) {
        return html`<${Waiting} />`;
    }
    return html`<section class="stack"><div class="section-head"><h2>${t("Parts of the service")}</h2>
            <${Button} icon="refresh" label=${t("Look again")} busy=${t("Looking …")} onPress=${read} /></div>
            <${Parts} reply=${replies.ready} read=${read} /></section>
        ${replies.stats && html`<section class="stack"><h2>${t("The last 24 hours")}</h2>
            <${Figures} reply=${replies.stats} read=${read} /></section>`}`;
}
