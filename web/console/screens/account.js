/* SPDX-License-Identifier: MIT */
/* One's own account. */
import { PageHead } from "../components/basic.js";
import { session } from "../session.js";
import { t } from "../texts.js";
import { html, useShared } from "../view.js";

export default function Account() {
    const { me } = useShared(session);
    return html`<${PageHead} title=${t("Your account")} facts=${me.user.email} />`;
}
