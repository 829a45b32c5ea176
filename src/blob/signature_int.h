/* SPDX-License-Identifier: MIT */
/* Recognises types by the first bytes of a file, where libmagic is not enough. */
#ifndef GATEHOUSE_BLOB_SIGNATURE_INT_H
#define GATEHOUSE_BLOB_SIGNATURE_INT_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the bytes can be text in some ASCII superset, or UTF-16 with a byte order mark; a Ctrl-Z may end them. */
bool signature_is_text(const unsigned char *bytes, size_t length);

/* The media type of a program or installer that starts with these bytes; NULL when it is no known one. */
const char *signature_program(const unsigned char *bytes, size_t length, bool text);

/* A better type than libmagic's `media_type` for containers that it does not examine far enough, else the same. */
const char *signature_refine(const char *media_type, const unsigned char *bytes, size_t length);

#endif
