/* SPDX-License-Identifier: MIT */
/* What the files of the JSON reader share. */
#ifndef GATEHOUSE_CODEC_DOCUMENT_INT_H
#define GATEHOUSE_CODEC_DOCUMENT_INT_H

#include <stddef.h>

struct arena;
struct error;

/* Checks the raw bytes as document_parse() promises; NULL when they are one strict JSON value. */
struct error *document_scan(struct arena *arena, const char *bytes, size_t length);

#endif
