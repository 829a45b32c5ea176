/* SPDX-License-Identifier: MIT */
/* Names and tags of files, as they are typed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { hasThumbnail, nameBytes, previewOf, readTags, splitName, wrongTags }
    from "../../../web/console/files/record.js";

const record = (contentType, size, status = "active") => ({ status, info: { contentType, size } });

test("only small active pictures are their own thumbnail", () => {
    assert.equal(hasThumbnail(record("image/png", 1000)), true);
    assert.equal(hasThumbnail(record("image/png", 2 << 20)), false);
    assert.equal(hasThumbnail(record("image/png", 1000, "archived")), false);
    assert.equal(hasThumbnail(record("image/tiff", 1000)), false);
});

test("a preview is a picture, a text or a PDF, or none", () => {
    assert.equal(previewOf(record("image/webp", 1)), "picture");
    assert.equal(previewOf(record("application/pdf", 1)), "pdf");
    assert.equal(previewOf(record("text/html", 1)), "text");
    assert.equal(previewOf(record("application/zip", 1)), "");
});

test("the ending of a name is told from the name", () => {
    assert.deepEqual(splitName("report.2026.pdf"), ["report.2026", ".pdf"]);
    assert.deepEqual(splitName(".profile"), [".profile", ""]);
    assert.deepEqual(splitName("README"), ["README", ""]);
});

test("tags are split at commas, cleaned, and each is there once", () => {
    assert.deepEqual(readTags(" 2026 , urgent,, two  words,2026 "), ["2026", "urgent", "two words"]);
    assert.equal(wrongTags(["a".repeat(65)], { tags: 16, tagCharacters: 64 }), "long");
    assert.equal(wrongTags(["😀".repeat(64)], { tags: 16, tagCharacters: 64 }), "");
    assert.equal(wrongTags(Array.from({ length: 17 }, String), { tags: 16, tagCharacters: 64 }), "many");
});

test("names are counted in bytes, as the service does", () => {
    assert.equal(nameBytes("äöü.txt"), 10);
});
