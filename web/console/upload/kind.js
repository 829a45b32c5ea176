/* SPDX-License-Identifier: MIT */
/*
 * What a file probably is, before it is uploaded. The service decides by the bytes; this only proposes a bucket and a
 * type that it will take, so that people need not choose for each file.
 */

/* Begins of pictures: media type, place, bytes. The same kinds that the service takes as pictures. */
const PICTURES = [
    ["image/jpeg", 0, "\xff\xd8\xff"],
    ["image/png", 0, "\x89PNG\r\n\x1a\n"],
    ["image/gif", 0, "GIF87a"],
    ["image/gif", 0, "GIF89a"],
    ["image/webp", 8, "WEBP"],
    ["image/tiff", 0, "II*\0"],
    ["image/tiff", 0, "MM\0*"],
    ["image/bmp", 0, "BM"],
    ["image/avif", 4, "ftypavif"],
    ["image/avif", 4, "ftypavis"],
    ["image/heic", 4, "ftypheic"],
    ["image/heic", 4, "ftypheix"],
    ["image/heic", 4, "ftypmif1"],
    ["image/heic", 4, "ftypmsf1"],
];

/* Words in a name, and the type that they stand for. The first that fits holds. */
const PICTURE_WORDS = [
    ["logo", /logo/],
    ["avatar", /avatar|portrait|profile.?pic|profilbild/],
];
const WORDS = [
    ["terms-conditions", /terms|conditions|(^|[^a-z])agb([^a-z]|$)|gesch(ä|ae)ftsbedingungen/],
    ["contract", /contract|agreement|vertrag|vereinbarung/],
    ["weighbridge", /weigh|wiegeschein|wiegekarte|waage/],
    ["logistics-delivery", /delivery|lieferschein|lieferung/],
    ["logistics-load", /loading|(^|[^a-z])load([^a-z]|$)|ladung|ladeschein|frachtbrief/],
    ["vehicle", /vehicle|truck|(^|[^a-z])lkw([^a-z]|$)|fahrzeug|kennzeichen/],
    ["sample", /sample|muster|probe/],
];

/* How many of the file's first bytes pictureType() must see. */
const HEAD_BYTES = 16;

/* The media type of the picture that begins with `head` (Uint8Array); "" when it is none. */
export function pictureType(head) {
    const text = String.fromCharCode(...head.subarray(0, HEAD_BYTES));
    const found = PICTURES.find(([, at, begin]) => text.startsWith(begin, at));
    return found === undefined ? "" : found[0];
}

/* The type that is proposed for a file of this name. */
export function defaultType(name, isPicture) {
    const lower = name.toLowerCase();
    const found = (isPicture ? PICTURE_WORDS.concat(WORDS) : WORDS).find(([, words]) => words.test(lower));
    if (found !== undefined) {
        return found[0];
    }
    return isPicture ? "image" : "misc";
}

export function bucketFor(isPicture) {
    return isPicture ? "images" : "files";
}

/*
 * The types that the service takes for a file, in its order. `buckets` is that member of GET /system/limits.
 */
export function typesFor(buckets, isPicture) {
    const bucket = buckets.find((one) => one.name === bucketFor(isPicture));
    if (bucket === undefined) {
        return [];
    }
    return bucket.types.filter((type) => isPicture || type.content !== "pictures").map((type) => type.name);
}

/* Resolves to whether the browser's File holds a picture. A file that cannot be read is none: sending it tells why. */
export async function looksLikePicture(file) {
    try {
        return pictureType(new Uint8Array(await file.slice(0, HEAD_BYTES).arrayBuffer())) !== "";
    } catch {
        return false;
    }
}

/* The kinds of files that have a sign of their own, by their media type. */
const SIGNS = [
    ["picture", /^image\//],
    ["pdf", /^application\/pdf$/],
    ["film", /^video\//],
    ["sound", /^audio\//],
    ["table", /^text\/csv$|spreadsheet|excel/],
    ["slides", /presentation|powerpoint/],
    ["text", /wordprocessing|msword|opendocument\.text|rtf/],
    ["archive", /zip|gzip|x-tar|x-7z|x-rar|x-xz|zstd|bzip/],
    ["data", /json|xml|^application\/x-sqlite|^text\/x-/],
    ["text", /^text\//],
];

/* The sign (a symbol of icons.svg, less "kind-") of a media type. */
export function signOf(contentType) {
    const found = SIGNS.find(([, types]) => types.test(contentType));
    return found === undefined ? "other" : found[0];
}
