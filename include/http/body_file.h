/* SPDX-License-Identifier: MIT */
/*
 * A request body that the web server has written to a file before it calls the worker. A FastCGI parameter holds the
 * path, and the worker reads the file in place of the connection, which saves one copy of the bytes.
 *
 * A client cannot set the parameter, since the names of its headers arrive with HTTP_ in front. All the same, nothing
 * is trusted: the file must lie below the one folder that the configuration names, with no symbolic link on the way. It
 * must be a regular file of the announced size, have no other name, belong to the web server, and be writable for
 * nobody else.
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
    const char *directory; /* absolute; NULL: no file is read */
    const uid_t *owners;   /* who may own the file, beside root and this process's user */
    size_t owner_count;
};

/*
 * Opens the file at `path` (absolute) for reading. -1 with a sentence for the log in *problem_out when the rules forbid
 * it or it cannot be opened.
 */
int body_file_open(const struct body_file_rules *rules, const char *path, int64_t size, const char **problem_out);

#endif
