/* SPDX-License-Identifier: MIT */
/*
 * The filter of the list of files. It lives in the address, so that Back, a reload and a link sent to a colleague show
 * the same files. A filter is {name, type, bucket, tag, status, period, from, to, sort, by}, all text, "" where it does
 * not narrow the list; `from` and `to` are days (2026-11-24) and hold for the period "days" only; `by` is the id of a
 * person.
 */

export const STATUSES = ["active", "archived", "all"];
const SORTS = ["newest", "oldest", "name", "largest"];
const PERIODS = ["", "today", "week", "month", "year", "days"];

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const NAMES = ["name", "type", "bucket", "tag", "status", "period", "from", "to", "sort", "by"];

function oneOf(value, list) {
    return list.includes(value) ? value : list[0];
}

function day(value) {
    return DAY.test(value) && !Number.isNaN(Date.parse(value)) ? value : "";
}

/* The filter that the address's parameters (URLSearchParams) say. What is not understood does not narrow the list. */
export function readFilter(parameters) {
    const text = (name) => (parameters.get(name) || "").trim();
    return {
        name: text("name").slice(0, 255),
        type: text("type"),
        bucket: oneOf(text("bucket"), ["", "images", "files"]),
        tag: text("tag").slice(0, 64),
        status: oneOf(text("status"), STATUSES),
        period: oneOf(text("period"), PERIODS),
        from: day(text("from")),
        to: day(text("to")),
        sort: oneOf(text("sort"), SORTS),
        by: ID.test(text("by")) ? text("by") : "",
    };
}

/* The parameters of the address for a filter; what is as always is left out. */
export function writeFilter(filter) {
    const parameters = {};
    for (const name of NAMES) {
        const always = name === "status" ? STATUSES[0] : name === "sort" ? SORTS[0] : "";
        const idle = (name === "from" || name === "to") && filter.period !== "days";
        if (filter[name] !== always && filter[name] !== "" && !idle) {
            parameters[name] = filter[name];
        }
    }
    return parameters;
}

/* Whether the filter leaves files out, beyond their state. The order does not. */
export function isNarrow(filter) {
    return ["name", "type", "bucket", "tag", "period", "by"].some((name) => filter[name] !== "");
}

/* The beginning of the day of `date`, `back` days before, in the reader's own time. */
function midnight(date, back) {
    return new Date(date.getFullYear(), date.getMonth(), date.getDate() - back);
}

function fromDay(text, forward) {
    const [year, month, date] = text.split("-").map(Number);
    return new Date(year, month - 1, date + forward);
}

/* The times [since, until) of the filter, each a Date or null. The last day of "days" is included. */
export function period(filter, now) {
    switch (filter.period) {
    case "today":
        return [midnight(now, 0), null];
    case "week":
        return [midnight(now, 6), null];
    case "month":
        return [midnight(now, 29), null];
    case "year":
        return [new Date(now.getFullYear(), 0, 1), null];
    case "days":
        return [filter.from === "" ? null : fromDay(filter.from, 0), filter.to === "" ? null : fromDay(filter.to, 1)];
    default:
        return [null, null];
    }
}

/* The parameters of GET /system/files. */
export function requestOf(filter, now) {
    const [since, until] = period(filter, now);
    const all = {
        name: filter.name,
        type: filter.type,
        bucket: filter.bucket,
        tag: filter.tag,
        status: filter.status,
        since: since === null ? "" : since.toISOString(),
        until: until === null ? "" : until.toISOString(),
        sort: filter.sort,
        userId: filter.by,
    };
    return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ""));
}
