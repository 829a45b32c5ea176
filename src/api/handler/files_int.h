/* SPDX-License-Identifier: MIT */
/* What the two files of file endpoints share: finding the file, writing its record. */
#ifndef GATEHOUSE_API_HANDLER_FILES_INT_H
#define GATEHOUSE_API_HANDLER_FILES_INT_H

struct call;
struct error;
struct file_record;

/*
 * The file that the path names: the row that came with the principal, or, for internal staff, any organisation's (the
 * crossing is audited). FILE_UNKNOWN, one answer for an unknown id and another organisation's.
 */
struct error *files_find(struct call *call, struct file_record **record_out);

#endif
