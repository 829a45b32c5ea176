// SPDX-License-Identifier: MIT
// Uploads of the TypeScript client: progress, breaks, and going on after the program was stopped.

import assert from "node:assert/strict";
import test from "node:test";
import { createHash, randomBytes } from "node:crypto";
import { Breaker, client, facts, Gatehouse, signedIn } from "./support_stack.mjs";

const { InvalidRequestError, NotFoundError, UnavailableError } = client;
const SIZE = 3_000_000;
const PIECE = 1024 * 1024;
const owner = await signedIn(facts.owner);

/* Bytes that no program made. The first ones are fixed, because one in a hundred runs of random bytes begins like
   something that libmagic knows. */
function noise(size) {
    return Buffer.concat([Buffer.from("\x93noise\0", "latin1"), randomBytes(size)]).subarray(0, size);
}

function sha256(data) {
    return createHash("sha256").update(data).digest("hex");
}

function options(name, more = {}) {
    return { bucket: "files", type: "misc", name, pieceBytes: PIECE, ...more };
}

async function checkStored(record, data) {
    const bytes = await owner.files.downloadFile({ id: record.id });
    assert.equal(sha256(Buffer.from(await bytes.arrayBuffer())), sha256(data));
}

test("a file is sent in pieces and its progress told", async () => {
    const data = noise(SIZE);
    const told = [];
    const record = await owner.upload(new File([data], "plän.bin"), { bucket: "files", type: "misc", tags: ["a", "b c"],
        pieceBytes: PIECE, progress: (...soFar) => told.push(soFar) });
    assert.deepEqual([record.info.name, record.info.size, record.tags], ["plän.bin", SIZE, ["a", "b c"]]);
    assert.deepEqual(told, [[0, SIZE], [PIECE, SIZE], [2 * PIECE, SIZE], [SIZE, SIZE]]);
    await checkStored(record, data);
});

for (const [where, cut] of [["first piece", PIECE / 2], ["second piece", 1.5 * PIECE]]) {
    test(`an upload goes on behind what is safe after a break in the ${where}`, async () => {
        const breaker = await new Breaker().start();
        const through = new Gatehouse(breaker.baseUrl, { tokens: owner.tokens });
        const data = noise(SIZE);
        const told = [];
        breaker.breakAfter(cut);
        const record = await through.upload(new Blob([data]),
            options("broken.bin", { progress: (safe) => told.push(safe) }));
        breaker.stop();
        assert.equal(breaker.cuts, 1);
        assert.deepEqual(told, told.toSorted((one, other) => one - other), "what is safe stays safe");
        await checkStored(record, data);
    });
}

test("an upload whose last answer was lost gives its record", async () => {
    const data = noise(SIZE);
    let begun;
    const record = await owner.upload(new Blob([data]), options("whole.bin", { onBegin: (id) => { begun = id; } }));
    assert.equal((await owner.upload(new Blob([data]), options("whole.bin", { resume: begun }))).id, record.id);
});

test("a program that was stopped goes on with its upload, with a token that is renewed", async () => {
    const data = noise(SIZE);
    const stop = new AbortController();
    const told = [];
    let begun;
    await assert.rejects(owner.upload(new Blob([data]), options("stopped.bin", {
        signal: stop.signal, onBegin: (id) => { begun = id; },
        progress: (safe) => safe >= PIECE && stop.abort(new Error("stopped")) })), /stopped/);
    const later = await signedIn(facts.owner);
    const again = new Gatehouse(facts.baseUrl, { tokens: { ...later.tokens, accessToken: "spoilt" } });
    const record = await again.upload(new Blob([data]),
        options("stopped.bin", { resume: begun, progress: (safe) => told.push(safe) }));
    assert.equal(told[0], PIECE, "what was safe is not sent again");
    await checkStored(record, data);
});

for (const size of [PIECE - 1, PIECE, SIZE - 1, SIZE + 1]) {
    test(`a source of another size is no upload to go on with: ${size}`, async () => {
        const data = noise(SIZE + 1);
        const stop = new AbortController();
        let begun;
        await assert.rejects(owner.upload(new Blob([data.subarray(0, SIZE)]), options("other.bin", {
            signal: stop.signal, onBegin: (id) => { begun = id; },
            progress: (safe) => safe >= PIECE && stop.abort(new Error("stopped")) })), /stopped/);
        let told = 0;
        await assert.rejects(owner.upload(new Blob([data.subarray(0, size)]), options("other.bin", {
            resume: begun, progress: () => { told += 1; assert.ok(told < 5, "it goes on without end"); } })),
        (error) => error instanceof RangeError && error.message.includes(`${SIZE} bytes, but the source has ${size}`));
    });
}

test("an upload that is not there is no break", async () => {
    await assert.rejects(owner.upload(new Blob(["bytes"]), options("a.txt",
        { resume: "01980a6e-52c1-7c44-8f3d-3a0b6f1d2e77" })),
    (error) => error instanceof NotFoundError && error.code === "upload.unknown");
});

test("a file that the service refuses is not sent again and again", async () => {
    await assert.rejects(owner.upload(new Blob(["#!/bin/sh\n"]), { bucket: "images", type: "avatar", name: "a.sh" }),
        (error) => error instanceof InvalidRequestError && error.validation[0].code === "contentType");
});

test("an upload that cannot go on ends with the reason", async () => {
    const lost = new Gatehouse("http://127.0.0.1:9", { tokens: owner.tokens });
    let asked = 0;
    const counting = new Gatehouse("http://127.0.0.1:9", { tokens: owner.tokens, fetch: () => {
        asked += 1;
        throw new TypeError("away");
    } });
    const resume = "01980a6e-52c1-7c44-8f3d-3a0b6f1d2e77";
    await assert.rejects(lost.upload(new Blob(["bytes"]), options("a.txt", { resume, waits: [1] })), UnavailableError);
    await assert.rejects(counting.upload(new Blob(["bytes"]), options("a.txt", { resume, waits: [1, 1, 1] })), /away/);
    assert.equal(asked, 4, "one try, and one after each wait");
});

test("bytes need a name", async () => {
    await assert.rejects(owner.upload(new Blob(["bytes"]), { bucket: "files", type: "misc" }), /name/);
});
