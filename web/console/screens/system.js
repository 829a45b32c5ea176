/* SPDX-License-Identifier: MIT */
/* The service itself, for internal staff: health, settings, cache, and the way to the page of the interface. */
import { Icon, PageHead } from "../components/basic.js";
import { link } from "../router.js";
import { may } from "../session.js";
import { Cache } from "../system/cache.js";
import { Health } from "../system/health.js";
import { Settings } from "../system/settings.js";
import { t } from "../texts.js";
import { html } from "../view.js";

const PARTS = [
    { path: "health", title: () => t("Health"), permission: null, Part: Health },
    { path: "settings", title: () => t("Settings"), permission: "sys:settings:a", Part: Settings },
    { path: "cache", title: () => t("Cache"), permission: "sys:cache:a", Part: Cache },
];

function allowed({ permission }) {
    return permission === null || may(permission);
}

export default function System({ route }) {
    const now = PARTS.find((part) => part.path === route.path[1] && allowed(part)) || PARTS[0];
    return html`<${PageHead} title=${t("System")} />
        <nav class="tabs" aria-label=${t("System")}>
            ${PARTS.filter(allowed).map((part) => html`<a key=${part.path} href=${link(["system", part.path])}
                aria-current=${part === now ? "page" : undefined}>${part.title()}</a>`)}
            <a href="api">${t("Interface for programs")} <${Icon} name="external" /></a>
        </nav>
        <${now.Part} key=${now.path} />`;
}
