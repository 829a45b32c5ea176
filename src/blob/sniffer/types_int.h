/* SPDX-License-Identifier: MIT */
/*
 * The media types that libmagic can find. A sniffer that has been taken over sees files of many people, and its answer
 * for one of them reaches whoever uploaded it: what it says must be one of these, not a text of its own.
 */
#ifndef GATEHOUSE_BLOB_SNIFFER_TYPES_INT_H
#define GATEHOUSE_BLOB_SNIFFER_TYPES_INT_H

struct arena;
struct sniff_types;

/*
 * Reads the types from libmagic's databases, before a sandbox closes the file system. `paths` are separated by colons,
 * as magic_getpath() gives them (NULL: none). A database that cannot be read has none. Lives in `arena`.
 */
struct sniff_types *sniff_types_load(struct arena *arena, const char *paths);

/* The type itself if it is one of these or of the table of blob/media_int.h, else application/octet-stream. */
const char *sniff_types_bound(const struct sniff_types *types, const char *media_type);

#endif
