/* SPDX-License-Identifier: MIT */
/* Begins the console: language and look, the session of the cookie, and meanwhile the screen that the address names. */
import { sessionMarked } from "../assets/api.js";
import { startPreferences } from "./preferences.js";
import { loadScreen, route, screenOf } from "./router.js";
import { started } from "./session.js";
import { Console } from "./shell.js";
import { html, render } from "./view.js";

const screen = screenOf(route.get());
const ahead = () => screen !== undefined && loadScreen(screen).catch(() => null);
const marked = sessionMarked();
if (marked) {
    ahead();
}
const [failed] = await Promise.all([started, startPreferences()]);
render(html`<${Console} failed=${failed} />`, document.getElementById("console"));
if (!marked) {
    ahead();
}
