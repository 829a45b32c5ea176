/* SPDX-License-Identifier: MIT */
/* What files.c and downloads.c share. */
#ifndef GATEHOUSE_API_HANDLER_FILES_INT_H
#define GATEHOUSE_API_HANDLER_FILES_INT_H

struct call;
struct error;
struct file_record;

/*
 * Finds the file that the path names: the one that was loaded with the principal or, for internal staff, one of any
 * organisation, which is audited. FILE_UNKNOWN, the same for an unknown id and for a file of another organisation.
 */
struct error *files_find(struct call *call, struct file_record **record_out);

/* The record as replies show it (files_record_schema), in the arena. */
const void *files_record_view(struct call *call, const struct file_record *record);

#endif
