/* SPDX-License-Identifier: MIT */
/* What the tests of uploads and file updates share. */
#include "service/file/support_files.h"

#include <ftw.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/error.h"
#include "blob/blob.h"
#include "harness.h"
#include "store/database/database.h"
#include "support_database.h"

static struct caller caller_of(struct keep *keep, struct id organisation, struct id user)
{
    struct principal *principal = arena_alloc(keep->arena, sizeof *principal);
    principal->user.id = user;
    principal->user.organisation_id = organisation;
    return (struct caller){.principal = principal, .client_address = "192.0.2.9", .request_id = "request-of-a-test"};
}

struct caller files_caller(struct keep *keep)
{
    return caller_of(keep, keep->organisation, keep->user);
}

struct caller files_stranger(struct keep *keep)
{
    struct id organisation = given_organisation(keep->service.database, keep->arena);
    return caller_of(keep, organisation,
                     given_user(keep->service.database, keep->arena, organisation, "owner", NULL)->id);
}

static void restore_audit(void *argument)
{
    struct keep *keep = argument;
    struct database *database = support_database_new();
    sql(database, keep->arena, "DROP TRIGGER no_audit");
    database_free(&database);
}

void files_break_audit(struct keep *keep)
{
    sql(keep->service.database, keep->arena,
        "CREATE TRIGGER no_audit BEFORE INSERT ON audit FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = "
        "'broken'");
    arena_defer(keep->arena, restore_audit, keep);
}

void files_lose_database(struct keep *keep)
{
    struct database_options options = support_database_options();
    options.socket = "/nonexistent/socket";
    options.connect_timeout_seconds = 1;
    database_free(&keep->service.database);
    keep->service.database = database_new(&options);
}

int64_t files_rows(struct keep *keep, const char *table)
{
    return sql_integer(keep->service.database, keep->arena, "SELECT COUNT(*) FROM `%s`", table);
}

static unsigned found;

static int count(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)path;
    (void)status;
    (void)place;
    found += kind == FTW_F;
    return 0;
}

unsigned files_on_disk(struct keep *keep)
{
    found = 0;
    assert_int_equal(nftw(blob_root(keep->service.blobs), count, 8, FTW_PHYS), 0);
    return found;
}

const char *files_member(const struct error *error, const char *name)
{
    for (const struct error_member *member = error->members; member != NULL; member = member->next)
        if (strcmp(member->name, name) == 0)
            return member->value;
    return NULL;
}

void files_expect_entry(struct error *error, int code, const char *path, const char *entry_code)
{
    expect_error(error, code);
    for (const struct error_entry *entry = error->entries; entry != NULL; entry = entry->next)
        if (strcmp(entry->path, path) == 0 && strcmp(entry->code, entry_code) == 0)
            return;
    fail_msg("no entry %s %s", path, entry_code);
}
