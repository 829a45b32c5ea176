/* SPDX-License-Identifier: MIT */
/*
 * Archives or restores several files in one transaction with their audit rows: all of them or none. An archived file
 * counts towards the quotas as before, so restoring needs no room.
 */
#ifndef GATEHOUSE_SERVICE_FILE_FILE_BULK_H
#define GATEHOUSE_SERVICE_FILE_FILE_BULK_H

#include <stddef.h>

#include "base/id.h"

struct arena;
struct caller;
struct error;
struct file_record;
struct service;

enum file_bulk_change { FILE_BULK_ARCHIVE, FILE_BULK_RESTORE };

/*
 * Changes 1 to FILE_FIND_MAX files with different ids. `organisation` is whose files the caller may reach; none: any,
 * and each file of another organisation is audited as a crossing. *records_out holds the records after the change, in
 * the order of the ids.
 *
 * Every id that stands in the way is an entry, path ids[n]. FILE_UNKNOWN (code unknown). FILE_ARCHIVED or FILE_ACTIVE
 * (code state) when a file is in the state already. FILE_DUPLICATE (member id; code duplicate) when another active file
 * has the same bytes and name; only where no file is in the wrong state.
 */
struct error *file_bulk_change(struct service *service, struct arena *arena, const struct caller *caller,
                               enum file_bulk_change change, struct id organisation, const struct id *ids, size_t count,
                               struct file_record ***records_out);

#endif
