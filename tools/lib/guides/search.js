/* SPDX-License-Identifier: MIT */
/*
 * Searches the guides. search-index.js has every section: address, title of its page, heading, text. All words must be
 * in a section; those in headings count more. A classic script: browsers load no module from a folder without a server.
 */
"use strict";

(() => {
    const MOST = 30;
    const AROUND = 90;
    const field = document.getElementById("search");
    const state = document.getElementById("state");
    const found = document.getElementById("found");
    const sections = SECTIONS.map(([address, title, heading, text]) => ({
        address, title, heading, text, lower: { title: title.toLowerCase(), heading: heading.toLowerCase(),
                                                text: text.toLowerCase() },
    }));

    const count = (text, word) => text.split(word).length - 1;

    const score = (section, words) => {
        let sum = 0;
        for (const word of words) {
            const here = 20 * count(section.lower.heading, word) + Math.min(10, count(section.lower.text, word));
            const title = count(section.lower.title, word);
            if (here + title === 0)
                return 0;
            sum += here + 5 * title;
        }
        return sum + (section.lower.text.includes(words.join(" ")) ? 10 : 0);
    };

    const addMarked = (parent, text, words) => {
        const lower = text.toLowerCase();
        let at = 0;
        while (at < text.length) {
            let next = text.length, length = 0;
            for (const word of words) {
                const place = lower.indexOf(word, at);
                if (place >= 0 && (place < next || place === next && word.length > length))
                    [next, length] = [place, word.length];
            }
            parent.append(text.slice(at, next));
            if (length > 0) {
                const mark = document.createElement("mark");
                mark.textContent = text.slice(next, next + length);
                parent.append(mark);
            }
            at = next + length;
        }
    };

    const excerpt = (section, words) => {
        const places = words.map((word) => section.lower.text.indexOf(word)).filter((place) => place >= 0);
        const first = places.length > 0 ? Math.min(...places) : 0;
        const from = first > AROUND ? section.text.indexOf(" ", first - AROUND) + 1 : 0;
        const to = section.text.length > from + 3 * AROUND ? section.text.lastIndexOf(" ", from + 3 * AROUND) :
            section.text.length;
        return (from > 0 ? "… " : "") + section.text.slice(from, to) + (to < section.text.length ? " …" : "");
    };

    const show = (section, words) => {
        const item = document.createElement("li");
        const link = document.createElement("a");
        link.href = section.address;
        addMarked(link, section.title + (section.heading === section.title ? "" : `: ${section.heading}`), words);
        const text = document.createElement("p");
        addMarked(text, excerpt(section, words), words);
        item.append(link, text);
        return item;
    };

    const search = () => {
        const words = field.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
        const scored = words.length === 0 ? [] : sections.map((section) => [score(section, words), section])
            .filter(([points]) => points > 0).sort((one, other) => other[0] - one[0]);
        found.replaceChildren(...scored.slice(0, MOST).map(([, section]) => show(section, words)));
        if (words.length === 0)
            state.textContent = "Type a word or several above.";
        else if (scored.length === 0)
            state.textContent = "Nothing has all of these words.";
        else
            state.textContent = scored.length === 1 ? "1 section" : scored.length > MOST ?
                `${scored.length} sections, the best ${MOST} of them` : `${scored.length} sections`;
    };

    field.value = new URLSearchParams(location.search).get("q") || "";
    field.addEventListener("input", search);
    field.form.addEventListener("submit", (event) => {
        event.preventDefault();
        search();
    });
    field.focus();
    search();
})();
