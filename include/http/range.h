/* SPDX-License-Identifier: MIT */
/*
 * Decides which bytes of a file to send, and whether to send any: ranges (RFC 9110, section 14) and conditions (section
 * 13), for a file with a strong entity tag and without a Last-Modified date. Pure functions; a header is NULL when it
 * is absent.
 */
#ifndef GATEHOUSE_HTTP_RANGE_H
#define GATEHOUSE_HTTP_RANGE_H

#include <stdbool.h>
#include <stdint.h>

struct arena;

/* Bytes `first` to `last`, both included; last < size of the file. */
struct range {
    uint64_t first;
    uint64_t last;
};

enum range_result {
    RANGE_NONE,         /* no header, or one to ignore: malformed, another unit, more than one range */
    RANGE_OK,           /* one range that lies (at least partly) in the file */
    RANGE_UNSATISFIABLE /* well formed, but outside the file */
};

/*
 * Reads a Range header for a file of `size` bytes. *range_out is set with RANGE_OK only, clipped to the file.
 */
enum range_result range_parse(const char *header, uint64_t size, struct range *range_out);

/*
 * Whether a Range is written so that every server reads it alike: one range, bytes=FIRST-LAST, FIRST- or -LENGTH,
 * without blanks or empty elements, and with numbers of at most 18 digits. False for NULL.
 */
bool range_is_plain(const char *header);

/* The Content-Range of a 206 ("bytes 0-9/100"); or of a 416, with a star as the range, when `range` is NULL. */
char *range_format(struct arena *arena, const struct range *range, uint64_t size);

/* The headers of the request that count; the dates (If-Modified-Since, If-Unmodified-Since) do not apply. */
struct range_conditions {
    const char *if_match;
    const char *if_none_match;
    const char *if_range;
    const char *range;
};

enum range_answer {
    RANGE_ANSWER_WHOLE,         /* 200, all bytes */
    RANGE_ANSWER_PART,          /* 206, the bytes of *range_out */
    RANGE_ANSWER_NOT_MODIFIED,  /* 304 */
    RANGE_ANSWER_FAILED,        /* 412 */
    RANGE_ANSWER_UNSATISFIABLE, /* 416 */
};

/*
 * Decides in the order of RFC 9110, section 13.2.2: If-Match, If-None-Match, then (for GET only: `get`) Range with
 * If-Range. `etag` is the strong entity tag with its quotes, `size` the length of the file. A malformed condition
 * matches nothing: an If-Match then fails; an If-None-Match or If-Range leads to the whole file.
 */
enum range_answer range_decide(const struct range_conditions *conditions, bool get, const char *etag, uint64_t size,
                               struct range *range_out);

/*
 * Whether the value of an If-Match or If-None-Match names `etag`, a strong entity tag with its quotes: "*", or a list
 * of tags. If-Match compares strongly (a weak tag matches nothing), If-None-Match weakly (`weak`). A malformed value
 * names nothing.
 */
bool range_names(const char *value, const char *etag, bool weak);

/* Whether such a value is "*" or a well-formed list of strong tags, which is what an If-Match can match with. */
bool range_tags_strong(const char *value);

#endif
