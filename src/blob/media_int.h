/* SPDX-License-Identifier: MIT */
/*
 * The media types that the service knows, in one table: what bytes of a type are, what else they may look like, and
 * which words (other names, endings of file names) declare a file as this type.
 */
#ifndef GATEHOUSE_BLOB_MEDIA_INT_H
#define GATEHOUSE_BLOB_MEDIA_INT_H

#include <stdbool.h>
#include <stddef.h>

#define MEDIA_UNKNOWN "application/octet-stream"
#define MEDIA_OLE "application/x-ole-storage"
#define MEDIA_INSTALLER "application/x-msi"
#define MEDIA_OFFICE "application/vnd.openxmlformats-officedocument."

/* Families, as bits. */
enum media_family {
    MEDIA_PICTURE = 1 << 0, /* of the bucket images */
    MEDIA_SHOWN = 1 << 1,   /* in place, by a browser */
    MEDIA_PROGRAM = 1 << 2, /* and installers: never stored */
    MEDIA_IMAGE = 1 << 3,   /* any image/... */
    MEDIA_HEIF = 1 << 4,
    MEDIA_TEXT = 1 << 5,
    MEDIA_RTF = 1 << 6,
    MEDIA_ZIP = 1 << 7,      /* and all formats that are packed in one */
    MEDIA_BARE_ZIP = 1 << 8, /* of unknown type */
    MEDIA_ODF = 1 << 9,
    MEDIA_OLE_FILE = 1 << 10,
    MEDIA_BARE_OLE = 1 << 11,
    MEDIA_SOUND = 1 << 12,   /* audio/... and video/... */
    MEDIA_NAMELESS = 1 << 13 /* application/octet-stream */
};

struct media {
    const char *name;
    unsigned is;            /* families of bytes that have this type */
    unsigned looks;         /* families of bytes that may be declared as this type too */
    const char *extensions; /* without the dot, separated by blanks */
    const char *aliases;    /* lower case, separated by blanks */
};

/* The row of a lower-case media type or of one of its other names; NULL: not in the table. */
const struct media *media_find(const char *media_type);

/* The row that the ending of a file name stands for; NULL: it has none, or one that is not in the table. */
const struct media *media_of_name(const char *file_name);

/* The families of bytes of this type that are `text` or not. */
unsigned media_families(const char *media_type, bool text);

/* All rows; *count_out is their number. */
const struct media *media_rows(size_t *count_out);

/* Whether a text is a plain media type in lower case, without parameters (RFC 6838, section 4.2). */
bool media_is_type(const char *text);

#endif
