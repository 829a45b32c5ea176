/* SPDX-License-Identifier: MIT */
/*
 * A body that the web server has written to a file before it called: the worker is told the path in a FastCGI parameter
 * and reads the file instead of the connection, which saves a copy through it.
 *
 * The parameter cannot come from a client, whose headers arrive with HTTP_ in front. All the same nothing is taken on
 * trust: the file must lie below the one folder that the configuration names, with no symbolic link on the way, and be a
 * regular file of the announced size that has no other name, belongs to the web server, and is nobody else's to write.
 */
#ifndef GATEHOUSE_HTTP_BODY_FILE_H
#define GATEHOUSE_HTTP_BODY_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The FastCGI parameter that carries the path. */
#define BODY_FILE_PARAMETER "GATEHOUSE_BODY_FILE"

struct body_file_rules {
    const char *directory; /* absolute; NULL: no file is ever read */
    const uid_t *owners;   /* beside root and ourselves */
    size_t owner_count;
};

/*
 * Opens the file at `path` (absolute) for reading. -1 with a sentence for the log in *problem_out when the rules do not
 * allow it or it cannot be opened.
 */
int body_file_open(const struct body_file_rules *rules, const char *path, int64_t size, const char **problem_out);

#endif
