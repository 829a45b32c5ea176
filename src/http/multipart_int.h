/* SPDX-License-Identifier: MIT */
/* What the push parser (multipart.c) and the reader of its headers (multipart_header.c) share. */
#ifndef GATEHOUSE_HTTP_MULTIPART_INT_H
#define GATEHOUSE_HTTP_MULTIPART_INT_H

#include <stddef.h>

struct arena;
struct error;
struct part_header;

/* REQUEST_MALFORMED with a sentence around `what` ("a part has no name"). */
struct error *multipart_refuse(struct arena *arena, const char *what) __attribute__((returns_nonnull));

/*
 * Reads a part's header: `length` bytes of lines that end in CR LF, the empty one at the end included,
 * without control characters. The bytes are overwritten. NULL, or what is wrong with it, fit for
 * multipart_refuse().
 */
const char *multipart_header_parse(struct arena *arena, char *bytes, size_t length, struct part_header *header_out);

#endif
