/* SPDX-License-Identifier: MIT */
/* What becomes of dropped folders. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { walk, walkDrop } from "../../../web/console/upload/walk.js";

function fileEntry(name) {
    return { isDirectory: false, name, fullPath: "/" + name, file: (done) => done({ name }) };
}

/* A folder whose reader gives `step` entries at a time, as browsers do. */
function folderEntry(name, entries, step = 100) {
    const createReader = () => {
        const rest = entries.slice();
        return { readEntries: (done) => done(rest.splice(0, step)) };
    };
    return { isDirectory: true, name, fullPath: "/" + name, createReader };
}

const names = (found) => found.files.map((file) => file.name);

test("folders are walked to their end, the folders in them, too", async () => {
    const inner = folderEntry("inner", [fileEntry("c")]);
    const found = await walk([folderEntry("outer", [fileEntry("a"), inner, fileEntry("b")], 2), fileEntry("d")], 10);
    assert.deepEqual(names(found).sort(), ["a", "b", "c", "d"]);
    assert.equal(found.folders, 2);
    assert.equal(found.more, false);
});

test("more files than the limit are told, and not taken", async () => {
    const many = Array.from({ length: 205 }, (_, n) => fileEntry("file" + n));
    const found = await walk([folderEntry("many", many)], 200);
    assert.equal(found.files.length, 200);
    assert.equal(found.more, true);
    assert.equal((await walk([folderEntry("fits", many.slice(0, 200))], 200)).more, false);
});

test("what cannot be read is named, the rest is taken", async () => {
    const locked = { ...fileEntry("locked"), file: (done, fail) => fail(new Error("no")) };
    const found = await walk([locked, fileEntry("open")], 10);
    assert.deepEqual(found.unread, ["/locked"]);
    assert.deepEqual(names(found), ["open"]);
});

test("litter of the system is left out", async () => {
    assert.deepEqual(names(await walk([fileEntry(".DS_Store"), fileEntry("Thumbs.db"), fileEntry("a")], 10)), ["a"]);
});

test("a browser without entries gives plain files", async () => {
    const items = [{ kind: "string" }, { kind: "file", getAsFile: () => ({ name: "plain" }) }];
    assert.deepEqual(names(await walkDrop({ items }, 10)), ["plain"]);
});
