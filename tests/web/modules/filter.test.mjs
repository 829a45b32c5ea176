/* SPDX-License-Identifier: MIT */
/* The filter of the list of files, in the address and in the request. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isNarrow, readFilter, requestOf, writeFilter } from "../../../web/console/files/query.js";

const read = (text) => readFilter(new URLSearchParams(text));
const now = new Date(2026, 10, 24, 15, 30);

test("a filter survives the address", () => {
    const text = "name=Q4+%26+more&type=contract&tag=2026&status=archived&period=days&from=2026-11-01&to=2026-11-24"
        + "&sort=name";
    const written = new URLSearchParams(writeFilter(read(text)));
    assert.deepEqual(Object.fromEntries(written), Object.fromEntries(new URLSearchParams(text)));
});

test("what is as always is not in the address", () => {
    assert.deepEqual(writeFilter(read("status=active&sort=newest&name=")), {});
    assert.deepEqual(writeFilter(read("period=week&from=2026-11-01")), { period: "week" });
});

test("nonsense in the address narrows nothing", () => {
    assert.equal(isNarrow(read("status=gone&sort=9&period=never&by=me&from=soon")), false);
    assert.deepEqual(requestOf(read("period=days&from=2026-13-77"), now), { status: "active", sort: "newest" });
});

test("the order does not narrow the list, each filter does", () => {
    assert.equal(isNarrow(read("sort=largest&status=archived")), false);
    for (const text of ["name=a", "type=misc", "bucket=files", "tag=a", "period=today"]) {
        assert.equal(isNarrow(read(text)), true, text);
    }
});

test("periods begin at midnight of the reader, and the last day counts", () => {
    assert.equal(requestOf(read("period=today"), now).since, new Date(2026, 10, 24).toISOString());
    assert.equal(requestOf(read("period=week"), now).since, new Date(2026, 10, 18).toISOString());
    const days = requestOf(read("period=days&from=2026-11-01&to=2026-11-02"), now);
    assert.equal(days.since, new Date(2026, 10, 1).toISOString());
    assert.equal(days.until, new Date(2026, 10, 3).toISOString());
});
