/* SPDX-License-Identifier: MIT */
/* How large a picture is by its header, without decoding it. */
#ifndef GATEHOUSE_BLOB_IMAGE_INT_H
#define GATEHOUSE_BLOB_IMAGE_INT_H

#include <stddef.h>
#include <stdint.h>

struct sniff_rest;

/* More reads than this, of IMAGE_READ_BYTES each, are not spent on finding a header. */
#define IMAGE_READS_MAX 256
#define IMAGE_READ_BYTES 4096

/*
 * Width times height of an image of `media_type` that starts with these bytes and goes on as `rest` reads it (NULL:
 * the bytes are all there is to see); of a file with several pictures the largest that is found. 0 for other media
 * types, and where there is no header; UINT64_MAX where it hides behind more than IMAGE_READS_MAX reads.
 */
uint64_t image_pixels(const char *media_type, const unsigned char *bytes, size_t length, const struct sniff_rest *rest);

#endif
