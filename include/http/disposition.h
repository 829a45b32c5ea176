/* SPDX-License-Identifier: MIT */
/*
 * File names at the edge: cleaning what clients send, and the Content-Disposition of downloads (RFC 6266, RFC
 * 8187).
 */
#ifndef GATEHOUSE_HTTP_DISPOSITION_H
#define GATEHOUSE_HTTP_DISPOSITION_H

#include <stdbool.h>

struct arena;

/*
 * The name without what is not part of one: everything up to the last '/' or '\', control characters (C0, C1,
 * DEL, line and paragraph separators), the marks that reorder text on the screen (they make "gpj.exe" look
 * like "exe.jpg"), the byte order mark, and blanks at both ends. The name is never cut: the caller compares
 * its strlen() with LIMIT_FILE_NAME_BYTES. NULL when nothing is left, when only dots are, or when `raw` is
 * NULL or not UTF-8.
 */
char *disposition_clean_name(struct arena *arena, const char *raw);

/*
 * The value of a Content-Disposition header: "inline" or "attachment", `filename` with an ASCII stand-in
 * (other characters, quotes, backslashes and per cent signs become '_') and `filename*` with the very name in
 * UTF-8. The result holds visible ASCII and blanks only, whatever `name` holds. `name` NULL leaves both
 * parameters out.
 */
char *disposition_format(struct arena *arena, bool show_inline, const char *name);

#endif
