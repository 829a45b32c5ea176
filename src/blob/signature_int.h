/* SPDX-License-Identifier: MIT */
/* Our own look at a file's first bytes, beside libmagic's. */
#ifndef GATEHOUSE_BLOB_SIGNATURE_INT_H
#define GATEHOUSE_BLOB_SIGNATURE_INT_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the bytes can be text in some ASCII superset, or UTF-16 with a byte order mark; a Ctrl-Z may end them. */
bool signature_is_text(const unsigned char *bytes, size_t length);

/*
 * The media type of a program or installer that starts with these bytes, NULL when it is none that we know.
 */
const char *signature_program(const unsigned char *bytes, size_t length, bool text);

/*
 * A better name than libmagic's `media_type` for containers that it does not look into far enough, else the
 * same.
 */
const char *signature_refine(const char *media_type, const unsigned char *bytes, size_t length);

#endif
