/* SPDX-License-Identifier: MIT */
/*
 * The columns that several statements select, and the functions that read them. Each table has one place for both, so
 * that a statement and its reader always agree. Private to the domain floor.
 *
 * The macros name columns through the aliases u (user), o (organisation) and f (file). A reader takes the index of its
 * first column; *_COLUMN_COUNT is the number of columns that it uses.
 */
#ifndef GATEHOUSE_DOMAIN_COLUMNS_INT_H
#define GATEHOUSE_DOMAIN_COLUMNS_INT_H

#include "domain/account/organisation.h"
#include "domain/account/user.h"
#include "domain/file/file.h"
#include "store/database/database.h"

#define USER_COLUMNS                                                                                                   \
    "u.id, u.organisation_id, u.email, u.phone, u.first_name, u.last_name, u.permissions, u.status, "                  \
    "u.email_verified, u.phone_verified, u.provider_subject, u.created_at, u.updated_at, u.locale, u.last_login_at"
#define USER_COLUMN_COUNT 15

/* The rows that anybody sees: whole accounts of people who are not erased. */
#define USER_SEEN "u.status NOT IN ('provisioning', 'erased')"

/* One more column for statements that do not join user_role themselves: the role ids, in their order. */
#define USER_ROLES                                                                                                     \
    "(SELECT GROUP_CONCAT(r.role_id ORDER BY r.position, r.role_id SEPARATOR ' ') FROM user_role r "                   \
    "WHERE r.user_id = u.id)"

/*
 * What replies tell and no decision needs; user_read_waits() reads it. Of two providers that know a temporary password
 * (one of them before its people were moved) the later end is that of the newer password. The throttle's key is the one
 * of throttle_of_user().
 */
#define USER_INVITATION_OF(table, column, key)                                                                         \
    "(SELECT " column " FROM " table " WHERE " key " = u.id AND u.status = 'awaiting-first-login')"
#define USER_INVITATION_HERE USER_INVITATION_OF("identity_account", "password_expires_at", "id")
#define USER_INVITATION_REMOTE USER_INVITATION_OF("outside_account", "temporary_until", "user_id")
#define USER_WAITS                                                                                                     \
    "GREATEST(COALESCE(" USER_INVITATION_HERE ", " USER_INVITATION_REMOTE "),"                                         \
    " COALESCE(" USER_INVITATION_REMOTE ", " USER_INVITATION_HERE ")),"                                                \
    " (SELECT t.locked_until FROM throttle t WHERE t.scope = 'account' AND t.locked_until > UTC_TIMESTAMP(3)"          \
    " AND t.subject = UNHEX(SHA2(CONCAT('gatehouse throttle u', UNHEX(SHA2(u.id, 256))), 256)))"
#define USER_WAIT_COUNT 2

#define ORGANISATION_COLUMNS                                                                                           \
    "o.id, o.name, o.services, o.status, o.quota_bytes, o.quota_files, o.created_at, o.updated_at"
#define ORGANISATION_COLUMN_COUNT 8

/* What the organisation uses, and the joins for it: rows that are kept up to date, so nothing is counted here. */
#define ORGANISATION_USE_COLUMNS "COALESCE(w.bytes, 0), COALESCE(w.files, 0), COALESCE(n.people, 0)"
#define ORGANISATION_USE_TABLES                                                                                        \
    " LEFT JOIN file_usage w ON w.organisation_id = o.id LEFT JOIN organisation_people n ON n.organisation_id = o.id"

/*
 * What triggers keep up to date (sql/011-principal.sql), computed: the roles of the user u.id, and the permissions of
 * all roles, each as LENGTH:TEXT LENGTH:TEXT ...
 */
#define PRINCIPAL_ROLES                                                                                                \
    "COALESCE((SELECT GROUP_CONCAT(CONCAT(LENGTH(r.role_id), ':', r.role_id)"                                          \
    " ORDER BY r.position, r.role_id SEPARATOR '') FROM user_role r WHERE r.user_id = u.id), '')"
#define PRINCIPAL_ROLE_PERMISSIONS                                                                                     \
    "COALESCE((SELECT GROUP_CONCAT(CONCAT(LENGTH(p.role_id), ':', p.role_id, LENGTH(p.permission),"                    \
    " ':', p.permission) ORDER BY p.role_id, p.permission SEPARATOR '') FROM role_permission p), '')"

/* The same of the people of the organisation o.id (sql/027-organisations.sql). */
#define ORGANISATION_PEOPLE "(SELECT COUNT(*) FROM user u WHERE u.organisation_id = o.id AND " USER_SEEN ")"

#define FILE_BODY_COLUMNS                                                                                              \
    "f.user_id, f.bucket, f.type, f.name, f.hash, f.size, f.content_type, f.status, f.tags, f.damaged_at"
#define FILE_ROW_COLUMNS "f.id, f.organisation_id, " FILE_BODY_COLUMNS ", f.created_at, f.updated_at, f.archived_at"

/* The name of the person who uploaded the file; NULL where it is not known any more. */
#define FILE_USER_NAME                                                                                                 \
    "(SELECT NULLIF(TRIM(CONCAT(u.first_name, ' ', u.last_name)), '') FROM user u WHERE u.id = f.user_id "             \
    "AND u.organisation_id = f.organisation_id)"
#define FILE_COLUMNS FILE_ROW_COLUMNS ", " FILE_USER_NAME
#define FILE_COLUMN_COUNT 16

/* A status from its text in the row; an unknown word denies. */
enum user_status user_status_read(const char *text);
enum organisation_status organisation_status_read(const char *text);

/* All but the roles and USER_WAITS. */
void user_read(struct arena *arena, const struct rows *rows, size_t row, size_t first, struct user *user_out);

/* The columns USER_WAITS into a user that user_read() has read. */
void user_read_waits(const struct rows *rows, size_t row, size_t first, struct user *user);

void organisation_read(struct arena *arena, const struct rows *rows, size_t row, size_t first,
                       struct organisation *organisation_out);

/* ORGANISATION_USE_COLUMNS. */
void organisation_read_use(const struct rows *rows, size_t row, size_t first, struct organisation *organisation);

/* A quota as a parameter; NULL where there is none. */
struct database_value organisation_quota_value(int64_t quota);

void file_read(struct arena *arena, const struct rows *rows, size_t row, size_t first, struct file_record *record_out);

/* FILE_BODY_COLUMNS of a file whose id and organisation are known; the times and the user's name are NULL. */
void file_read_body(struct arena *arena, const struct rows *rows, size_t row, size_t first, struct id id,
                    struct id organisation, struct file_record *record_out);

/*
 * The text of a permission column, NULL for NULL. A text ends at its first NUL byte, so the part before it could read
 * as a well-formed permission. Here such a text stays malformed and grants nothing.
 */
const char *columns_permission(struct arena *arena, const struct rows *rows, size_t row, size_t column);

/* The index of `word` in a list ended by NULL; -1 when it is not there. */
int columns_word_index(const char *const *words, const char *word);

#endif
