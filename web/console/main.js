/* SPDX-License-Identifier: MIT */
/* Begins the console: language and look, the session of the cookie, and meanwhile the screen that the address names. */
import { startPreferences } from "./preferences.js";
import { route } from "./router.js";
import { screenOf } from "./screens.js";
import { startSession } from "./session.js";
import { Console } from "./shell.js";
import { html, render } from "./view.js";

const screen = screenOf(route.get());
if (screen !== undefined) {
    screen.load().catch(() => null);
}
const [failed] = await Promise.all([startSession(), startPreferences()]);
render(html`<${Console} failed=${failed} />`, document.getElementById("console"));
