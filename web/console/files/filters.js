/* SPDX-License-Identifier: MIT */
/* The filters above the list of files. Each choice goes into the address at once. */
import { Button } from "../components/basic.js";
import { FilterSelect, SearchField } from "../components/form.js";
import { t } from "../texts.js";
import { html, useName, useState } from "../view.js";
import { typeOptions } from "./record.js";

function statusOptions() {
    return [
        { value: "active", label: t("Not archived") },
        { value: "archived", label: t("Archived") },
        { value: "all", label: t("All") },
    ];
}

function sortOptions() {
    return [
        { value: "newest", label: t("Newest first") },
        { value: "oldest", label: t("Oldest first") },
        { value: "name", label: t("Name") },
        { value: "largest", label: t("Largest first") },
    ];
}

function periodOptions() {
    return [
        { value: "", label: t("Any time") },
        { value: "today", label: t("Today") },
        { value: "week", label: t("Last 7 days") },
        { value: "month", label: t("Last 30 days") },
        { value: "year", label: t("This year") },
        { value: "days", label: t("From … to …") },
    ];
}

function bucketOptions() {
    return [
        { value: "", label: t("All") },
        { value: "images", label: t("Pictures") },
        { value: "files", label: t("Files of every kind") },
    ];
}

function Day({ label, value, onChange }) {
    return html`<label class="filter"><span>${label}</span>
        <input type="date" value=${value} onChange=${(event) => onChange(event.target.value)} /></label>`;
}

/* A tag is whole: it is sent with Enter or when the field is left. */
function TagField({ value, onChange }) {
    const take = (event) => {
        const wanted = event.target.value.trim();
        if (wanted !== value) {
            onChange(wanted);
        }
    };
    const key = (event) => event.key === "Enter" && take(event);
    return html`<label class="filter"><span>${t("Tag")}</span><input type="text" maxlength="64" autocomplete="off"
        key=${value} defaultValue=${value} onBlur=${take} onKeyDown=${key} /></label>`;
}

/* How many of the choices that can be folded away are set. */
function countOf(filter) {
    return ["bucket", "type", "tag", "period", "by"].filter((name) => filter[name] !== "").length;
}

/* `by` is the name of the person whose files are shown, "" while it is not known. */
export function Filters({ filter, types, by, set }) {
    const hidden = countOf(filter);
    const [open, setOpen] = useState(hidden > 0);
    const name = useName("filters");
    return html`<div class="filters">
        <${SearchField} label=${t("Name begins with")} value=${filter.name} onSearch=${(text) => set({ name: text })} />
        <${FilterSelect} label=${t("Show")} value=${filter.status} options=${statusOptions()}
            onChange=${(status) => set({ status })} />
        <${FilterSelect} label=${t("Order")} value=${filter.sort} options=${sortOptions()}
            onChange=${(sort) => set({ sort })} />
        <${Button} icon="filter" label=${hidden === 0 ? t("Filters") : t("Filters ({n})", { n: hidden })}
            aria-expanded=${String(open)} aria-controls=${name} onPress=${() => setOpen(!open)} />
        <div class="filters more" id=${name} hidden=${!open}>
            <${FilterSelect} label=${t("Type")} value=${filter.type} onChange=${(type) => set({ type })}
                options=${[{ value: "", label: t("All") }, ...typeOptions(types)]} />
            <${FilterSelect} label=${t("Bucket")} value=${filter.bucket} options=${bucketOptions()}
                onChange=${(bucket) => set({ bucket })} />
            <${FilterSelect} label=${t("Uploaded")} value=${filter.period} options=${periodOptions()}
                onChange=${(period) => set({ period })} />
            ${filter.period === "days" && html`<${Day} label=${t("From")} value=${filter.from}
                onChange=${(from) => set({ from })} /><${Day} label=${t("To")} value=${filter.to}
                onChange=${(to) => set({ to })} />`}
            <${TagField} value=${filter.tag} onChange=${(tag) => set({ tag })} />
            ${filter.by !== "" && html`<${Button} icon="close" title=${t("Show the files of everybody")}
                label=${t("Only by {name}", { name: by || t("one person") })} onPress=${() => set({ by: "" })} />`}
        </div>
    </div>`;
}
