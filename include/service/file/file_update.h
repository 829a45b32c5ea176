/* SPDX-License-Identifier: MIT */
/*
 * Changes files that are stored: archives and restores them, and changes their names and tags. Each change is one
 * transaction with its audit row, in the organisation of `record`; the caller of these functions has checked that the
 * request may reach it. *changed_out is the record after the change.
 *
 * FILE_UNKNOWN when the file does not exist any more. FILE_ARCHIVED or FILE_ACTIVE when its state does not allow the
 * change. FILE_DUPLICATE (member id) when another active file has the same bytes and would have the same name.
 */
#ifndef GATEHOUSE_SERVICE_FILE_FILE_UPDATE_H
#define GATEHOUSE_SERVICE_FILE_FILE_UPDATE_H

struct arena;
struct caller;
struct error;
struct file_record;
struct service;
struct text_list;

/* New values; NULL keeps the old one. */
struct file_patch {
    const char *name; /* of upload_validate_name() */
    const struct text_list *tags;
};

/* Archives a file: its bytes stay, and nobody gets them. */
struct error *file_update_archive(struct service *service, struct arena *arena, const struct caller *caller,
                                  const struct file_record *record, struct file_record **changed_out);

/* Makes an archived file active again. */
struct error *file_update_restore(struct service *service, struct arena *arena, const struct caller *caller,
                                  const struct file_record *record, struct file_record **changed_out);

/*
 * Changes name and tags. REQUEST_INVALID (path name, code mismatch) when the ending of the new name stands for another
 * kind of file.
 */
struct error *file_update_attributes(struct service *service, struct arena *arena, const struct caller *caller,
                                     const struct file_record *record, const struct file_patch *patch,
                                     struct file_record **changed_out);

/* The error for an id that no file of the caller's organisation has. */
struct error *file_update_unknown(struct arena *arena);

#endif
