/* SPDX-License-Identifier: MIT */
/* Tests that large files go in pieces, go on after a break, and are ended at the service when they are cancelled. */
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { accepted, largeFile, refused } from "./support_browser.mjs";
import { giveUp, listKept, metadata, PIECE_BYTES, sendInPieces, uploadId } from "../../../web/console/upload/send.js";

const ID = "0190c0de-0000-7000-8000-000000000001";
const RECORD = { id: "0190c0de-0000-7000-8000-00000000000f", info: {} };
const SIZE = 2 * PIECE_BYTES + 5;

/* A service of one upload. `faults` maps a method to replies that come before the right ones. */
function makeService(faults = {}) {
    const service = { offset: -1, size: 0, calls: [], fileId: null };
    const own = {
        POST: ({ headers }) => {
            service.offset = 0;
            service.size = Number(headers["Upload-Length"]);
            return accepted({}, { Location: "https://elsewhere.example/base/system/uploads/" + ID });
        },
        HEAD: () => (service.offset < 0 ? refused(404, "")
            : accepted({}, { "Upload-Offset": String(service.offset), "Upload-File-Id": service.fileId })),
        PATCH: ({ headers, body }) => {
            if (Number(headers["Upload-Offset"]) !== service.offset) {
                return refused(409, "upload.offset");
            }
            assert.equal(body.from, service.offset);
            service.offset += body.size;
            const whole = service.offset === service.size;
            return accepted(whole ? RECORD : {}, { "Upload-Offset": String(service.offset) });
        },
        DELETE: () => accepted({}),
        GET: () => accepted(RECORD),
    };
    service.call = async (request) => {
        service.calls.push(request.method + " " + request.path);
        const fault = (faults[request.method] || []).shift();
        return fault || own[request.method](request);
    };
    return service;
}

function makeJob(file, seen = []) {
    return {
        file, userId: "me", bucket: "files", type: "misc", tags: ["a", "b"],
        progress: () => {}, kept: (bytes) => seen.push(bytes),
    };
}

beforeEach(() => sessionStorage.removeItem("gatehouse-uploads"));

test("the form is in the header, tags one a line, names in any language", () => {
    const text = metadata({ file: { name: "Prüfung.zip" }, bucket: "files", type: "misc", tags: ["a", "b c"] });
    const fields = Object.fromEntries(text.split(",").map((field) => field.split(" "))
        .map(([name, value]) => [name, Buffer.from(value, "base64").toString()]));
    assert.deepEqual(fields, { bucket: "files", type: "misc", filename: "Prüfung.zip", tags: "a\nb c" });
});

test("only the id is taken from Location", () => {
    assert.equal(uploadId("https://elsewhere.example/system/uploads/" + ID), ID);
    assert.equal(uploadId("https://elsewhere.example/"), "");
    assert.equal(uploadId(null), "");
});

test("a file goes in pieces, and nothing is left behind", async () => {
    const service = makeService();
    const seen = [];
    const reply = await sendInPieces(makeJob(largeFile("a.zip", SIZE), seen), service.call);
    assert.equal(reply.body, RECORD);
    assert.deepEqual(seen, [0, PIECE_BYTES, 2 * PIECE_BYTES]);
    assert.deepEqual(service.calls, ["POST /system/uploads", ...Array(3).fill("PATCH /system/uploads/" + ID)]);
    assert.deepEqual(listKept("me"), []);
});

test("after a break it goes on where the service is", async () => {
    const service = makeService({ PATCH: [undefined, refused(0, "")] });
    const file = largeFile("a.zip", SIZE);
    assert.equal((await sendInPieces(makeJob(file), service.call)).error.status, 0);
    assert.deepEqual(listKept("me"), [{ id: ID, name: "a.zip", size: SIZE }]);
    service.calls.length = 0;
    const seen = [];
    assert.equal((await sendInPieces(makeJob(file, seen), service.call)).body, RECORD);
    assert.equal(seen[0], PIECE_BYTES);
    assert.equal(service.calls[0], "HEAD /system/uploads/" + ID);
    assert.ok(!service.calls.includes("POST /system/uploads"));
});

test("another person, and another file of that name, begin anew", async () => {
    const service = makeService({ PATCH: [refused(0, "")] });
    await sendInPieces(makeJob(largeFile("a.zip", SIZE)), service.call);
    service.calls.length = 0;
    await sendInPieces({ ...makeJob(largeFile("a.zip", SIZE)), userId: "you" }, service.call);
    assert.equal(service.calls[0], "POST /system/uploads");
    service.calls.length = 0;
    await sendInPieces(makeJob(largeFile("a.zip", SIZE + 1)), service.call);
    assert.equal(service.calls[0], "POST /system/uploads");
});

test("an upload that is gone begins anew, at once", async () => {
    const service = makeService({ PATCH: [refused(0, "")] });
    const file = largeFile("a.zip", SIZE);
    await sendInPieces(makeJob(file), service.call);
    service.offset = -1;
    assert.equal((await sendInPieces(makeJob(file), service.call)).body, RECORD);
});

test("an offset that is not the service's is asked for", async () => {
    const service = makeService({ PATCH: [undefined, refused(409, "upload.offset")] });
    assert.equal((await sendInPieces(makeJob(largeFile("a.zip", SIZE)), service.call)).body, RECORD);
    assert.equal(service.calls.filter((call) => call.startsWith("HEAD")).length, 1);
});

test("a service that never agrees is not asked for ever", async () => {
    const service = makeService({ PATCH: Array.from({ length: 50 }, () => refused(409, "upload.offset")) });
    assert.equal((await sendInPieces(makeJob(largeFile("a.zip", SIZE)), service.call)).error.code, "upload.offset");
    assert.ok(service.calls.length < 10);
});

test("a file that was stored although the reply was lost is not sent again", async () => {
    const service = makeService({ PATCH: [undefined, undefined, refused(0, "")] });
    const file = largeFile("a.zip", SIZE);
    await sendInPieces(makeJob(file), service.call);
    service.fileId = RECORD.id;
    assert.equal((await sendInPieces(makeJob(file), service.call)).body, RECORD);
    assert.equal(service.calls.at(-1), `GET /system/files/${RECORD.id}/info`);
    assert.deepEqual(listKept("me"), []);
});

test("a refusal for good is not kept, one that passes is", async () => {
    const service = makeService({ PATCH: [refused(400, "request.invalid"), refused(423, "upload.locked")] });
    const file = largeFile("a.zip", SIZE);
    await sendInPieces(makeJob(file), service.call);
    assert.deepEqual(listKept("me"), []);
    await sendInPieces(makeJob(file), service.call);
    assert.equal(listKept("me").length, 1);
});

test("what is cancelled is given up at the service", async () => {
    const service = makeService({ PATCH: [refused(0, "")] });
    const file = largeFile("a.zip", SIZE);
    await sendInPieces(makeJob(file), service.call);
    await giveUp(file, "me", service.call);
    assert.equal(service.calls.at(-1), "DELETE /system/uploads/" + ID);
    assert.deepEqual(listKept("me"), []);
});

test("what another request still holds is given up a moment later", async () => {
    const service = makeService({ PATCH: [refused(0, "")], DELETE: [refused(423, "upload.locked")] });
    const file = largeFile("a.zip", SIZE);
    await sendInPieces(makeJob(file), service.call);
    service.calls.length = 0;
    await giveUp(file, "me", service.call);
    assert.deepEqual(service.calls, Array(2).fill("DELETE /system/uploads/" + ID));
});
