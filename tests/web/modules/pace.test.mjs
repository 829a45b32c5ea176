/* SPDX-License-Identifier: MIT */
/* Which failures are tried again and when, and how long an upload still takes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeRate, secondsFor, waitBefore } from "../../../web/console/upload/pace.js";

test("only what may pass by itself is tried again", () => {
    for (const status of [0, 423, 429, 500, 502, 503, 504]) {
        assert.ok(waitBefore(status, 0, 1) > 0, String(status));
    }
    for (const status of [400, 401, 403, 404, 409, 410, 413, 415]) {
        assert.equal(waitBefore(status, 30, 1), -1, String(status));
    }
});

test("waits double, Retry-After holds, and there is an end", () => {
    assert.deepEqual([1, 2, 3, 4].map((tries) => waitBefore(0, 0, tries)), [2, 4, 8, 16]);
    assert.equal(waitBefore(429, 120, 1), 120);
    assert.equal(waitBefore(503, 1, 2), 4);
    assert.equal(waitBefore(0, 0, 5), -1);
});

test("the rate is that of the last seconds, and unknown at first", () => {
    const rate = makeRate();
    rate.add(1000, 0);
    assert.equal(rate.perSecond(1000), 0);
    rate.add(1000, 2000);
    rate.add(1000, 4000);
    assert.equal(rate.perSecond(4000), 500);
    assert.equal(rate.perSecond(60000), 0);
});

test("the rest takes at least a second once it is known", () => {
    assert.equal(secondsFor(500, 0), 0);
    assert.equal(secondsFor(1, 1000000), 1);
    assert.equal(secondsFor(1001, 100), 11);
});
