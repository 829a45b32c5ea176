/* SPDX-License-Identifier: MIT */
/*
 * File names in requests and replies: cleans those that clients send, and writes the Content-Disposition of downloads
 * (RFC 6266, RFC 8187).
 */
#ifndef GATEHOUSE_HTTP_DISPOSITION_H
#define GATEHOUSE_HTTP_DISPOSITION_H

#include <stdbool.h>

struct arena;

/*
 * The name without everything that does not belong to a file name: the part up to the last '/' or '\', control
 * characters (C0, C1, DEL, line and paragraph separators), characters that reorder text on the screen (they make
 * "gpj.exe" look like "exe.jpg"), the byte order mark, and blanks at both ends. The name is never cut: the caller
 * compares its strlen() with LIMIT_FILE_NAME_BYTES. NULL when nothing or only dots remain, or when `raw` is NULL or not
 * UTF-8.
 */
char *disposition_clean_name(struct arena *arena, const char *raw);

/*
 * The value of a Content-Disposition header: "inline" or "attachment", `filename` with an ASCII replacement (other
 * characters, quotes, backslashes and per cent signs become '_'), and `filename*` with the exact name in UTF-8. The
 * result holds only visible ASCII and blanks, whatever `name` holds. With `name` NULL both parameters are left out.
 */
char *disposition_format(struct arena *arena, bool show_inline, const char *name);

#endif
