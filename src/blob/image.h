/* SPDX-License-Identifier: MIT */
/* How large a picture is by its header, without decoding it. */
#ifndef GATEHOUSE_BLOB_IMAGE_H
#define GATEHOUSE_BLOB_IMAGE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Width times height of an image of `media_type` that starts with these bytes; of a file with several
 * pictures the largest in sight. 0 for other media types, and where the header says nothing or lies out of
 * sight.
 */
uint64_t image_pixels(const char *media_type, const unsigned char *bytes, size_t length);

#endif
