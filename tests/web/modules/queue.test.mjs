/* SPDX-License-Identifier: MIT */
/* The queue of uploads: three at once, tries, cancelling, leaving the page. */
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { accepted, happens, makeClock, refused, until } from "./support_browser.mjs";
import * as queue from "../../../web/console/upload/queue.js";

const LIMIT = 1000;
let sent = [];

/* A service that replies when the test says so. */
function holding(request) {
    return new Promise((resolve) => {
        request.signal?.addEventListener("abort", () => resolve(refused(0, "")));
        sent.push({ ...request, reply: resolve, name: request.body.get("file").name });
    });
}

function files(...names) {
    return names.map((name) => new File(["bytes"], name));
}

const states = () => queue.list().map((item) => item.state);

async function begin(...names) {
    await queue.add(files(...names), LIMIT);
    queue.start([]);
}

beforeEach(() => {
    queue.connect("", null);
    sent = [];
    navigator.onLine = true;
    queue.connect("me", holding);
});

test("nothing is sent before it is started, and its type can be changed", async () => {
    await queue.add(files("a.bin", "contract.pdf"), LIMIT);
    assert.deepEqual(states(), ["ready", "ready"]);
    assert.deepEqual(queue.list().map((item) => item.type), ["misc", "contract"]);
    queue.setType(queue.list()[0].key, "sample");
    assert.equal(sent.length, 0);
    queue.start(["2026"]);
    assert.deepEqual(sent.map((one) => one.body.get("type")), ["sample", "contract"]);
    assert.deepEqual(sent[0].body.getAll("tags"), ["2026"]);
});

test("three are sent at once; the next follows when one is through", async () => {
    await begin("a", "b", "c", "d");
    assert.deepEqual(states(), ["sending", "sending", "sending", "waiting"]);
    const stored = [];
    const end = queue.onStored((record) => stored.push(record.id));
    sent[1].reply(accepted({ id: "1" }));
    await until(() => sent.length === 4);
    assert.deepEqual(states(), ["sending", "done", "sending", "sending"]);
    assert.deepEqual(stored, ["1"]);
    end();
});

test("an empty and a too large file are told without sending them", async () => {
    await queue.add([new File([], "empty"), new File(["x".repeat(LIMIT + 1)], "large")], LIMIT);
    queue.start([]);
    assert.deepEqual(queue.list().map((item) => item.error.code), ["empty", "tooLarge"]);
    assert.ok(queue.list().every((item) => !queue.canTryAgain(item.error)));
    assert.equal(sent.length, 0);
});

test("a refusal for good is not tried again, and is told", async () => {
    await begin("a");
    sent[0].reply(refused(409, "file.duplicate"));
    await until(() => states()[0] === "failed");
    assert.equal(queue.list()[0].error.code, "file.duplicate");
    assert.equal(queue.canTryAgain(queue.list()[0].error), false);
    assert.equal(queue.isBusy(), false);
});

test("what may pass is tried again after the time that the service asks for", async () => {
    const clock = makeClock();
    try {
        await begin("a");
        sent[0].reply(refused(429, "rate.limited", 30));
        await until(() => states()[0] === "pausing");
        assert.equal(queue.list()[0].wait, 30);
        clock.tick(29000);
        assert.equal(sent.length, 1);
        clock.tick(1000);
        await until(() => sent.length === 2);
        assert.deepEqual(states(), ["sending"]);
    } finally {
        clock.end();
    }
});

test("after five tries a person decides", async () => {
    const clock = makeClock();
    try {
        await begin("a");
        for (let tries = 1; tries < 5; tries++) {
            sent.at(-1).reply(refused(500, "internal"));
            await until(() => states()[0] === "pausing");
            clock.tick(60000);
            await until(() => sent.length === tries + 1);
        }
        sent.at(-1).reply(refused(500, "internal"));
        await until(() => states()[0] === "failed");
    } finally {
        clock.end();
    }
    assert.equal(queue.canTryAgain(queue.list()[0].error), true);
    queue.again(queue.list()[0].key);
    assert.deepEqual(states(), ["sending"]);
});

test("cancelling ends the request and lets the next go", async () => {
    await begin("a", "b", "c", "d");
    queue.remove(queue.list()[0].key);
    assert.ok(sent[0].signal.aborted);
    assert.deepEqual(sent.map((one) => one.name), ["a", "b", "c", "d"]);
    assert.deepEqual(states(), ["sending", "sending", "sending"]);
});

test("without a line nothing starts; with it all goes on", async () => {
    navigator.onLine = false;
    await begin("a");
    assert.deepEqual(states(), ["waiting"]);
    navigator.onLine = true;
    happens("online");
    assert.deepEqual(states(), ["sending"]);
    sent[0].reply(refused(0, ""));
    await until(() => states()[0] === "pausing");
    happens("online");
    assert.deepEqual(states(), ["sending"]);
});

test("leaving the page is asked about only while something would be lost", async () => {
    assert.equal(happens("beforeunload"), true);
    await begin("a");
    assert.equal(happens("beforeunload"), false);
    sent[0].reply(accepted({ id: "1" }));
    await until(() => states()[0] === "done");
    assert.equal(happens("beforeunload"), true);
});

test("the next person finds nothing of the last one's", async () => {
    await begin("a");
    queue.connect("you", holding);
    assert.ok(sent[0].signal.aborted);
    assert.deepEqual(queue.list(), []);
});

test("clearing takes away what is finished, and nothing else", async () => {
    await begin("a", "b");
    sent[0].reply(accepted({ id: "1" }));
    await until(() => states()[0] === "done");
    queue.clear();
    assert.deepEqual(queue.list().map((item) => item.name), ["b"]);
});
