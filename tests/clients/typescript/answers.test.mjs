// SPDX-License-Identifier: MIT
// What the TypeScript client makes of answers that a service seldom gives: they are written beforehand.

import assert from "node:assert/strict";
import test from "node:test";
import { client, Gatehouse } from "./support_stack.mjs";

const { ConflictError, GatehouseError, RateLimitedError, UnavailableError } = client;
const UPLOAD = "01980a6e-52c1-7c44-8f3d-3a0b6f1d2e77";
const DATA = "twelve bytes";
const HALF = DATA.length / 2;
const BEGUN = ["POST", 201, { Location: `https://gatehouse.example.org/system/uploads/${UPLOAD}` }];
const HALF_SAFE = ["PATCH", 204, { "Upload-Offset": HALF }];
const HALF_TOLD = ["HEAD", 200, { "Upload-Offset": HALF, "Upload-Length": DATA.length }];
const WHOLE = ["PATCH", 200, { "Upload-Offset": DATA.length }, JSON.stringify({ id: UPLOAD })];
const OPTIONS = { bucket: "files", type: "misc", name: "a.txt", pieceBytes: HALF };

function busy(method, seconds, status = 429) {
    return [method, status, { "Retry-After": seconds }];
}

/** A client whose fetch gives the answers one after the other, each to the method that it names. */
function scripted(...answers) {
    const gatehouse = new Gatehouse("http://127.0.0.1:9", {
        tokens: { accessToken: "an access token", refreshToken: "a refresh token", expiresAt: Date.now() + 3_600_000 },
        fetch: async (url, { method }) => {
            const [wanted, status, headers, body] = answers.shift() ?? [];
            return wanted === method ? new Response(body ?? null, { status, headers }) : new Response("", { status: 418 });
        },
    });
    return { gatehouse, left: answers };
}

/** The waits of uploads, in milliseconds, which take no time; the clock of each request goes on as it is. */
function waitsOf(context) {
    const waited = [];
    const { setTimeout: start } = globalThis;
    context.mock.method(globalThis, "setTimeout", (run, milliseconds) => {
        if (milliseconds > 100_000) {
            return start(run, milliseconds);
        }
        waited.push(milliseconds);
        return start(run, 0);
    });
    return waited;
}

for (const [what, broken, seconds] of [
    ["a piece", [busy("PATCH", 7), HALF_TOLD], [7]],
    ["a service that is away", [busy("PATCH", 7, 503), HALF_TOLD], [7]],
    ["a piece and a question", [busy("PATCH", 7), busy("HEAD", 60), HALF_TOLD], [7, 60]],
]) {
    test(`an upload waits as long as it is told and goes on: ${what}`, async (context) => {
        const waited = waitsOf(context);
        const { gatehouse, left } = scripted(BEGUN, HALF_SAFE, ...broken, WHOLE);
        const record = await gatehouse.upload(new Blob([DATA]), OPTIONS);
        assert.equal(record.id, UPLOAD);
        assert.deepEqual(left, []);
        assert.deepEqual(waited, seconds.map((one) => one * 1000));
    });
}

for (const status of [429, 503]) {
    test(`an upload waits before it has begun and goes on: ${status}`, async (context) => {
        const waited = waitsOf(context);
        const begun = [];
        const { gatehouse, left } = scripted(busy("POST", 7, status), busy("POST", 1), BEGUN, HALF_SAFE, WHOLE);
        const record = await gatehouse.upload(new Blob([DATA]), { ...OPTIONS, onBegin: (id) => { begun.push(id); } });
        assert.deepEqual([record.id, left, begun], [UPLOAD, [], [UPLOAD]]);
        assert.deepEqual(waited, [7000, 1000]);
    });
}

test("an upload that is never to begin ends", async (context) => {
    const waited = waitsOf(context);
    const { gatehouse, left } = scripted(...Array.from({ length: 7 }, () => busy("POST", 60)));
    await assert.rejects(gatehouse.upload(new Blob([DATA]), OPTIONS), RateLimitedError);
    assert.deepEqual([left, waited], [[], Array.from({ length: 6 }, () => 60_000)]);
});

for (const [what, answer, kind] of [
    ["too long", busy("POST", 61), RateLimitedError],
    ["no word of a wait", ["POST", 429, {}], RateLimitedError],
    ["no answer of the service", ["POST", 502, {}], UnavailableError],
    ["a conflict", ["POST", 409, { "Retry-After": 1 }], ConflictError],
]) {
    test(`an upload that could not begin is begun again only where the service says when: ${what}`, async (context) => {
        const waited = waitsOf(context);
        const { gatehouse, left } = scripted(answer, BEGUN);
        await assert.rejects(gatehouse.upload(new Blob([DATA]), OPTIONS), kind);
        assert.deepEqual([left.length, waited], [1, []]);
    });
}

test("an upload whose beginning was not answered is not begun again", async (context) => {
    const waited = waitsOf(context);
    let asked = 0;
    const gatehouse = new Gatehouse("http://127.0.0.1:9", {
        tokens: { accessToken: "an access token", refreshToken: "a refresh token", expiresAt: Date.now() + 3_600_000 },
        fetch: () => {
            asked += 1;
            throw new TypeError("away");
        },
    });
    await assert.rejects(gatehouse.upload(new Blob([DATA]), OPTIONS), UnavailableError);
    assert.deepEqual([asked, waited], [1, []]);
});

test("an upload that is to wait before it begins is stopped at once", async () => {
    const stop = new AbortController();
    const { gatehouse, left } = scripted(busy("POST", 60), BEGUN);
    const stopped = gatehouse.upload(new Blob([DATA]), { ...OPTIONS, signal: stop.signal });
    setTimeout(() => stop.abort(new Error("stopped")), 50);
    await assert.rejects(stopped, /stopped/);
    assert.equal(left.length, 1);
});

test("an upload that is to wait too long ends", async (context) => {
    const waited = waitsOf(context);
    const { gatehouse, left } = scripted(BEGUN, busy("PATCH", 61));
    await assert.rejects(gatehouse.upload(new Blob([DATA]), OPTIONS),
        (error) => error instanceof RateLimitedError && error.retryAfter === 61);
    assert.deepEqual([left, waited], [[], []]);
});

test("an upload that is refused again and again ends", async (context) => {
    const waited = waitsOf(context);
    const { gatehouse, left } = scripted(...Array.from({ length: 7 }, () => [HALF_TOLD, busy("PATCH", 1)]).flat());
    await assert.rejects(gatehouse.upload(new Blob([DATA]), { ...OPTIONS, resume: UPLOAD }), RateLimitedError);
    assert.deepEqual(left, []);
    assert.deepEqual(waited, [1000, 1000, 2000, 4000, 8000, 16000]);
});

for (const [what, headers] of [["goes back", { "Upload-Offset": 0 }], ["stays", { "Upload-Offset": HALF }],
    ["is not told", {}]]) {
    test(`an upload whose offset ${what} ends`, async () => {
        const { gatehouse, left } = scripted(HALF_TOLD, ["PATCH", 204, { ...headers, "X-Request-Id": "request-8" }]);
        await assert.rejects(gatehouse.upload(new Blob([DATA]), { ...OPTIONS, resume: UPLOAD }),
            (error) => error.constructor === GatehouseError && error.code === "upload.stopped"
                && error.requestId === "request-8" && error.message.includes(`at ${HALF} of ${DATA.length}`));
        assert.deepEqual(left, []);
    });
}
