/* SPDX-License-Identifier: MIT */
/* Reads the size of a picture from its header, without decoding it. */
#ifndef GATEHOUSE_BLOB_IMAGE_INT_H
#define GATEHOUSE_BLOB_IMAGE_INT_H

#include <stddef.h>
#include <stdint.h>

struct sniff_rest;

/* How many reads, of IMAGE_READ_BYTES each, are spent on finding a header. */
#define IMAGE_READS_MAX 256
#define IMAGE_READ_BYTES 4096

/*
 * Width times height of an image of `media_type` that starts with these bytes and goes on as `rest` reads it (NULL:
 * there are no further bytes); of a file with several pictures the largest. 0 for other media types and without a
 * header; UINT64_MAX where IMAGE_READS_MAX reads do not find it.
 */
uint64_t image_pixels(const char *media_type, const unsigned char *bytes, size_t length, const struct sniff_rest *rest);

#endif
