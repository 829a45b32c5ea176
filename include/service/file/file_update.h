/* SPDX-License-Identifier: MIT */
/*
 * Changes of files that are there: archiving, restoring, other names and tags. Each is one transaction with its audit
 * entry, in the organisation of `record`, which the caller has been found to reach. *changed_out is the record as the
 * change left it.
 *
 * FILE_UNKNOWN when the file is gone, FILE_ARCHIVED or FILE_ACTIVE when its state does not allow the change,
 * FILE_DUPLICATE (member id) when the change would make it the very file that another active one is.
 */
#ifndef GATEHOUSE_SERVICE_FILE_FILE_UPDATE_H
#define GATEHOUSE_SERVICE_FILE_FILE_UPDATE_H

struct arena;
struct caller;
struct error;
struct file_record;
struct service;
struct text_list;

/* NULL keeps either. */
struct file_patch {
    const char *name; /* cleaned */
    const struct text_list *tags;
};

struct error *file_update_archive(struct service *service, struct arena *arena, const struct caller *caller,
                                  const struct file_record *record, struct file_record **changed_out);

struct error *file_update_restore(struct service *service, struct arena *arena, const struct caller *caller,
                                  const struct file_record *record, struct file_record **changed_out);

/* REQUEST_INVALID (path name, code mismatch) also when the new name's ending stands for another kind of file. */
struct error *file_update_attributes(struct service *service, struct arena *arena, const struct caller *caller,
                                     const struct file_record *record, const struct file_patch *patch,
                                     struct file_record **changed_out);

/* The answer to an id that is no file's, or another organisation's. */
struct error *file_update_unknown(struct arena *arena);

#endif
