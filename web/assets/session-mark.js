/* SPDX-License-Identifier: MIT */
/*
 * A mark in localStorage ("1"): in this browser somebody has signed in. The session itself is a cookie that no script
 * can read; without the mark the console does not ask for one, so visitors who never signed in cause no refusal.
 */
const NAME = "gatehouse-session";

/* Storage may be switched off: then nothing is lost but a request. */
export function markSession(there) {
    try {
        if (there) {
            localStorage.setItem(NAME, "1");
        } else {
            localStorage.removeItem(NAME);
        }
    } catch (failure) {
        /* See above. */
    }
}

export function sessionMarked() {
    try {
        return localStorage.getItem(NAME) === "1";
    } catch (failure) {
        return true;
    }
}
