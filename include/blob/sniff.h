/* SPDX-License-Identifier: MIT */
/*
 * Finds out what a file is from its first bytes: by libmagic, and by code of our own where libmagic must not be wrong
 * (programs) or is not sure (Office documents inside ZIP). What the client declares is not considered here. Workers
 * have it done by another process (blob/sniffer/sniffer.h).
 */
#ifndef GATEHOUSE_BLOB_SNIFF_H
#define GATEHOUSE_BLOB_SNIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct error;
struct sniffer;

struct sniffed {
    /* Lower case, without parameters; in the arena. application/octet-stream when unknown. */
    const char *media_type;
    /*
     * all examined bytes are text: UTF-8, UTF-16 with a byte order mark, or an 8-bit superset of ASCII; the Ctrl-Z of
     * DOS may end it
     */
    bool text;
    /*
     * width times height of an image by its header; 0 for other files and without a header; UINT64_MAX where the header
     * cannot be found within the allowed reads
     */
    uint64_t pixels;
    const char *complaint; /* why libmagic gave up; NULL: it did not */
};

/* Reads the rest of a file, where the first bytes only point to something. */
struct sniff_rest {
    /* Reads up to `length` bytes from `offset` of the file. Returns their number, 0 behind its end. */
    size_t (*read)(void *context, uint64_t offset, void *bytes, size_t length);
    void *context;
};

/*
 * Loads libmagic's database; once per process, before requests are served and before a sandbox closes the file system.
 * Lives in `arena` (the process's). INTERNAL when the database cannot be loaded.
 */
struct error *sniffer_open(struct arena *arena, struct sniffer **sniffer_out);

/*
 * The limits that were set for libmagic: the bytes that it examines, and those by which it guesses an encoding. For
 * tests.
 */
void sniffer_bounds(struct sniffer *sniffer, size_t *bytes_out, size_t *encoding_bytes_out);

/*
 * Examines the first `length` bytes of a file, LIMIT_SNIFF_BYTES at most. `rest` (may be NULL) is used only for the
 * size of a picture, within bounds (blob/image_int.h). Aliases are normalised (image/x-ms-bmp becomes image/bmp).
 * Programs and installers get one of the types that content_is_program() knows. Never fails: where libmagic gives up,
 * the answer is application/octet-stream.
 */
struct sniffed sniff(struct sniffer *sniffer, struct arena *arena, const void *bytes, size_t length,
                     const struct sniff_rest *rest);

/* Only `text` of struct sniffed, for the first bytes of a file (LIMIT_SNIFF_BYTES at most). */
bool sniff_text(const void *bytes, size_t length);

#endif
