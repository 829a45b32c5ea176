/* SPDX-License-Identifier: MIT */
/* What the tests of uploads and of changes of files share: a caller with a store, faults, and what is left behind. */
#ifndef GATEHOUSE_TESTS_SERVICE_FILE_SUPPORT_FILES_H
#define GATEHOUSE_TESTS_SERVICE_FILE_SUPPORT_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "service/access/caller.h"
#include "service/support_maintenance.h"

struct error;

/* The owner of the organisation of `keep`. */
struct caller files_caller(struct keep *keep);

/* The owner of another organisation. */
struct caller files_stranger(struct keep *keep);

/* From here to the end of the test no row of the audit trail can be written. */
void files_break_audit(struct keep *keep);

/* From here on there is no database. */
void files_lose_database(struct keep *keep);

/* How many rows the table has. */
int64_t files_rows(struct keep *keep, const char *table);

/* How many files lie below the blob directory, unfinished ones included. */
unsigned files_on_disk(struct keep *keep);

/* The value of an error's member, NULL where it has none of that name. */
const char *files_member(const struct error *error, const char *name);

/* Expects that code, and an entry of that path and code among the error's entries. */
void files_expect_entry(struct error *error, int code, const char *path, const char *entry_code);

#endif
