/* SPDX-License-Identifier: MIT */
/* The icons: lines in a square of 24, drawn with the colour of the text beside them. */
import { html } from "../view.js";

const PATHS = {
    account: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm-8 8c1-4 4-5 8-5s7 1 8 5",
    archive: "M4 8v11h16V8M3 4h18v4H3zm6 8h6",
    audit: "M7 3h10v18H7zM10 8h4m-4 4h4m-4 4h2",
    check: "m5 13 4 4L19 7",
    chevron: "m6 9 6 6 6-6",
    close: "m6 6 12 12M18 6 6 18",
    copy: "M9 9h11v11H9zM5 15H4V4h11v1",
    download: "M12 4v11m-5-5 5 5 5-5M5 20h14",
    edit: "m4 20 1-4L16 5l3 3L8 19zM14 7l3 3",
    external: "M14 4h6v6m0-6-9 9M18 14v6H4V6h6",
    file: "M6 3h8l4 4v14H6zm8 0v4h4",
    files: "M3 6h6l2 2h10v11H3z",
    filter: "M4 5h16l-6 8v6l-4-2v-4z",
    home: "m4 11 8-7 8 7v9h-5v-6H9v6H4z",
    image: "M4 5h16v14H4zm0 11 5-5 4 4 3-3 4 4M15.500 9h.01",
    info: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18Zm0-10v6m0-9v.01",
    link: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1m2 4a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
    mail: "M3 6h18v12H3zm0 1 9 6 9-6",
    menu: "M4 7h16M4 12h16M4 17h16",
    more: "M12 6v.01M12 12v.01M12 18v.01",
    organisations: "M4 21V5l8-2v18m0-12h8v12M4 21h17M7 8h2m-2 4h2m-2 4h2m6-3h2m-2 4h2",
    pause: "M8 5v14M16 5v14",
    people: "M9 11a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7Zm-6 9c0-4 2-6 6-6s6 2 6 6"
        + "M16 4a3.500 3.500 0 0 1 0 7m2 3c2 1 3 3 3 6",
    plus: "M12 5v14M5 12h14",
    refresh: "M20 5v5h-5m5 0a8 8 0 1 0 0 5",
    restore: "M4 5v5h5m-5 0a8 8 0 1 1 0 5",
    search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14Zm5-2 5 5",
    settings: "M4 7h9m4 0h3M4 17h3m4 0h9M15 9.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5Z"
        + "m-6 10a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5Z",
    signOut: "M10 4H4v16h6m4-12 4 4-4 4m4-4H9",
    system: "M3 12h4l3-8 4 16 3-8h4",
    tag: "M3 12V4h8l10 10-8 7zm5-4v.01",
    trash: "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13",
    upload: "M12 20V9m-5 5 5-5 5 5M5 4h14",
    warning: "M12 4 2.500 20h19zm0 6v5m0 2.500v.01",
};

/* An icon says nothing to a screen reader: the words beside it, or the label of its button, do. */
export function Icon({ name }) {
    return html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d=${PATHS[name] || PATHS.info} /></svg>`;
}
