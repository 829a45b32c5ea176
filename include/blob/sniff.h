/* SPDX-License-Identifier: MIT */
/*
 * What a file is, judged by its first bytes: libmagic, with our own look where it must not be wrong
 * (programs) or is not sure (Office documents inside ZIP). What the client says plays no part here.
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
    /* No byte seen is other than text: UTF-8, UTF-16 with its mark, or an 8-bit superset of ASCII; at its end also the
       Ctrl-Z of DOS. */
    bool text;
    /* Width times height of an image as its header says; 0 for all else and where there is no header; UINT64_MAX
       where the header hides behind more than anybody should have to read. */
    uint64_t pixels;
};

/* The rest of a file, for what its first bytes only point at. */
struct sniff_rest {
    /* Reads up to `length` bytes from `offset` of the file; the number read, 0 behind its end. */
    size_t (*read)(void *context, uint64_t offset, void *bytes, size_t length);
    void *context;
};

/*
 * Loads libmagic's database; once per process, before requests are served and before a sandbox closes the
 * file system. Lives in `arena` (the process's). INTERNAL when the database cannot be loaded.
 */
struct error *sniffer_open(struct arena *arena, struct sniffer **sniffer_out);

/* What libmagic was bounded to: the bytes that it looks at, and those on which it guesses an encoding. For tests. */
void sniffer_bounds(struct sniffer *sniffer, size_t *bytes_out, size_t *encoding_bytes_out);

/*
 * Judges a file by its first `length` bytes; more than LIMIT_SNIFF_BYTES are not looked at. `rest` (may be NULL) is
 * read for the size of a picture alone, in bounds (blob/image_int.h). Aliases are
 * normalised (image/x-ms-bmp is image/bmp); programs and installers come out as one of the types that
 * content_is_program() knows. Never fails: where libmagic gives up, the answer is application/octet-stream.
 */
struct sniffed sniff(struct sniffer *sniffer, struct arena *arena, const void *bytes, size_t length,
                     const struct sniff_rest *rest);

/* `text` of struct sniffed alone, of a file's first bytes (LIMIT_SNIFF_BYTES at most). */
bool sniff_text(const void *bytes, size_t length);

#endif
