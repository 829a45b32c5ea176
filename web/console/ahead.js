/* SPDX-License-Identifier: MIT */
/*
 * What the module of a screen imports, and what those import, for screens of many modules: they are asked for together,
 * and not step by step. tools/check-console compares the lists with the imports.
 */
const AHEAD = {
    team: [
        "./screens/account-access.js",
        "./team/actions.js",
        "./team/person.js",
        "./team/rights.js",
        "./team/words.js",
    ],

    files: [
        "./files/actions.js",
        "./files/edit.js",
        "./files/filters.js",
        "./files/limits.js",
        "./files/links.js",
        "./files/names.js",
        "./files/picture.js",
        "./files/preview.js",
        "./files/query.js",
        "./files/quota.js",
        "./files/record.js",
        "./screens/file.js",
        "./upload/form.js",
        "./upload/kept.js",
        "./upload/kind.js",
        "./upload/page.js",
        "./upload/panel.js",
        "./upload/pieces.js",
        "./upload/queue.js",
        "./upload/rate.js",
        "./upload/retry.js",
        "./upload/walk.js",
        "./upload/words.js",
    ],
};

/* Resolves to the module of a screen. */
export function loadScreen(name) {
    for (const path of AHEAD[name]) {
        const link = document.createElement("link");
        link.rel = "modulepreload";
        link.href = new URL(path, import.meta.url).href;
        document.head.append(link);
    }
    return import(`./screens/${name}.js`);
}
