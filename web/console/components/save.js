/* SPDX-License-Identifier: MIT */
/* Hands bytes that were fetched to the browser, which saves them as a file. */

const KEPT_MS = 60000;

export function save(blob, name) {
    const address = URL.createObjectURL(blob);
    const anchor = document.createElement("a");
    anchor.href = address;
    anchor.download = name;
    anchor.click();
    setTimeout(() => URL.revokeObjectURL(address), KEPT_MS);
}
