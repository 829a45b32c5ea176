/* SPDX-License-Identifier: MIT */
/*
 * What changes under a page that stays open: the session comes to its end, and the service is upgraded. The bars of
 * shell.js tell both before anything breaks.
 */
import { send } from "../assets/api.js";
import * as api from "./api.js";
import { acting } from "./organisation.js";
import { session } from "./session.js";
import { shared } from "./view.js";

/* So long before the end of the session the person is told. */
const NOTICE_MS = 120000;
/* The first screen comes first; then there is a look each five minutes, and when somebody comes back to the page. */
const FIRST_MS = 60000;
const EVERY_MS = 300000;

/* When the session ends, as the service says it; null while that is far away. */
export const ending = shared(null);

/* Whether the service has another version than it had when the page was new. */
export const upgraded = shared(false);

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
session.watch(({ phase }) => {
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
