/* SPDX-License-Identifier: MIT */
/* What the console proposes for a file before it is uploaded. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultType, looksLikePicture, pictureType, signOf, typesFor } from "../../../web/console/upload/kind.js";

const bytes = (text) => Uint8Array.from(text, (sign) => sign.charCodeAt(0));

test("pictures are known by their first bytes, whatever they are called", () => {
    assert.equal(pictureType(bytes("\xff\xd8\xff\xe0....")), "image/jpeg");
    assert.equal(pictureType(bytes("\x89PNG\r\n\x1a\n")), "image/png");
    assert.equal(pictureType(bytes("RIFF....WEBPVP8 ")), "image/webp");
    assert.equal(pictureType(bytes("....ftypavif....")), "image/avif");
    assert.equal(pictureType(bytes("....ftypheic....")), "image/heic");
    assert.equal(pictureType(bytes("<svg xmlns=")), "");
    assert.equal(pictureType(bytes("RIFF....WAVEfmt ")), "");
    assert.equal(pictureType(bytes("")), "");
});

test("a file that cannot be read is no picture", async () => {
    const unreadable = { slice: () => ({ arrayBuffer: () => Promise.reject(new Error("gone")) }) };
    assert.equal(await looksLikePicture(unreadable), false);
    assert.equal(await looksLikePicture(new Blob([bytes("GIF89a")])), true);
});

test("the type is proposed by the name, in both languages", () => {
    assert.equal(defaultType("Lieferschein 4711.pdf", false), "logistics-delivery");
    assert.equal(defaultType("Contract_2026.PDF", false), "contract");
    assert.equal(defaultType("AGB.pdf", false), "terms-conditions");
    assert.equal(defaultType("download.bin", false), "misc");
    assert.equal(defaultType("logo.png", true), "logo");
    assert.equal(defaultType("logo.svg", false), "misc");
    assert.equal(defaultType("IMG_0001.jpg", true), "image");
});

test("types for pictures are offered to pictures only", () => {
    const types = [{ name: "misc", content: "anything" }, { name: "logo", content: "pictures" }];
    const buckets = [{ name: "images", types }, { name: "files", types }];
    assert.deepEqual(typesFor(buckets, true), ["misc", "logo"]);
    assert.deepEqual(typesFor(buckets, false), ["misc"]);
    assert.deepEqual(typesFor([], false), []);
});

test("each media type has a sign", () => {
    const office = "application/vnd.openxmlformats-officedocument.";
    assert.equal(signOf(office + "spreadsheetml.sheet"), "table");
    assert.equal(signOf(office + "wordprocessingml.document"), "text");
    assert.equal(signOf(office + "presentationml.presentation"), "slides");
    assert.equal(signOf("text/plain"), "text");
    assert.equal(signOf("text/csv"), "table");
    assert.equal(signOf("application/zip"), "archive");
    assert.equal(signOf("application/octet-stream"), "other");
});
