/* SPDX-License-Identifier: MIT */
/* The numbers of the last hours (GET /system/stats) in steps for plots: one value a step for all hosts together. */
import * as api from "./api.js";

const MINUTE_MS = 60000;

/* How the values of a step become one. */
const SUM = (values) => values.reduce((sum, value) => sum + value, 0);
const LARGEST = (values) => Math.max(...values);
const SMALLEST = (values) => Math.min(...values);

const MEMBERS = {
    requests: SUM, errors: SUM, p50Ms: LARGEST, p99Ms: LARGEST, logins: SUM, loginFailures: SUM, uploads: SUM,
    uploadBytes: SUM, outboxDepth: LARGEST, freeBytes: SMALLEST,
};

/* Reads the minutes of so many hours. Resolves to a reply of api.js. */
export function loadStats(hours = 24) {
    return api.get("/system/stats", { since: new Date(Date.now() - hours * 60 * MINUTE_MS).toISOString() });
}

/*
 * Puts minutes together: {requests: [...], ...} with `steps` values for each member, oldest first; null where no host
 * has told anything. `at` has the beginning of each step.
 */
export function inSteps(items, hours = 24, steps = 96) {
    const length = hours * 60 * MINUTE_MS / steps;
    const begin = (Math.floor(Date.now() / length) - steps + 1) * length;
    const groups = Array.from({ length: steps }, () => []);
    for (const item of items) {
        const step = Math.floor((new Date(item.minute).getTime() - begin) / length);
        if (step >= 0 && step < steps) {
            groups[step].push(item);
        }
    }
    const found = { at: groups.map((_, step) => new Date(begin + step * length).toISOString()) };
    for (const [name, join] of Object.entries(MEMBERS)) {
        found[name] = groups.map((group) => {
            const values = group.map((item) => item[name]).filter((value) => value !== null);
            return values.length === 0 ? null : join(values);
        });
    }
    return found;
}

/* The last value that is known; null: none is. */
export function lastOf(values) {
    return values.findLast((value) => value !== null) ?? null;
}

/* The sum of the values that are known. */
export function sumOf(values) {
    return SUM(values.filter((value) => value !== null));
}
