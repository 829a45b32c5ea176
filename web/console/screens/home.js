/* SPDX-License-Identifier: MIT */
/* Home: what one sees first after signing in. */
import { PageHead } from "../components/basic.js";
import { session } from "../session.js";
import { t } from "../texts.js";
import { html, useShared } from "../view.js";

export default function Home() {
    const { me } = useShared(session);
    const title = t("Welcome, {name}", { name: me.user.firstName });
    return html`<${PageHead} title=${title} facts=${me.organisation.name} />`;
}
