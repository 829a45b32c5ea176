/* SPDX-License-Identifier: MIT */
/* Keys of signed links: the newest signs, and a link finds active files only. */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "domain/change_log.h"
#include "domain/file/file.h"
#include "domain/file/file_link.h"
#include "domain/file/link_key.h"
#include "domain/permission/principal.h"
#include "domain/support.h"
#include "support_database.h"

static struct link_key given_key(struct database *database, struct arena *arena, const char *sealed)
{
    struct link_key key = {id_new(), sealed, strlen(sealed)};
    expect_ok(link_key_insert(database, arena, &key));
    return key;
}

static struct file_link given_link(struct database *database, struct arena *arena, const struct file_record *file,
                                   struct id maker)
{
    struct file_link link = {
        .id = id_new(), .organisation_id = file->organisation_id, .file_id = file->id, .user_id = maker};
    expect_ok(file_link_insert(database, arena, &link, clock_now() + 60000));
    return link;
}

/* Whether the link finds the file. */
static bool opens(struct database *database, struct arena *arena, struct id key, const struct file_link *link)
{
    struct link_target target;
    int64_t version;
    expect_ok(file_link_find_target(database, arena, key, link->id, &target));
    expect_ok(change_log_current(database, arena, &version));
    assert_int_equal(target.change_version, version);
    assert_true((target.key == NULL) == (target.file == NULL) && (target.key == NULL) == (target.maker == NULL));
    if (target.key == NULL)
        return false;
    assert_true(id_equal(target.key->id, key));
    assert_true(id_equal(target.file->id, link->file_id));
    assert_true(id_equal(target.maker->user.id, link->user_id) && !target.maker->session_good);
    return true;
}

static void the_newest_key_signs(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    support_database_clear();
    struct link_key *found;
    expect_ok(link_key_find_newest(database, arena, &found));
    assert_null(found);
    struct link_key first = given_key(database, arena, "first");
    struct link_key second = given_key(database, arena, "second");
    expect_ok(link_key_find_newest(database, arena, &found));
    assert_true(id_equal(found->id, second.id));
    assert_int_equal(found->length, 6);
    assert_memory_equal(found->sealed, "second", 6);
    expect_ok(link_key_delete_others(database, arena, second.id));
    expect_ok(link_key_delete_others(database, arena, second.id));
    struct id organisation = given_organisation(database, arena);
    struct id maker = given_user(database, arena, organisation, NULL, NULL)->id;
    struct file_record file = given_file(database, arena, organisation, maker);
    struct file_link link = given_link(database, arena, &file, maker);
    assert_false(opens(database, arena, first.id, &link));
    assert_true(opens(database, arena, second.id, &link));
    database_free(&database);
}

static void a_link_finds_what_is_active_of_who_is_active_and_its_maker(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id organisation = given_organisation(database, arena);
    struct id maker = given_user(database, arena, organisation, "owner", "cus:file:r")->id;
    struct file_record file = given_file(database, arena, organisation, maker);
    struct link_key key = given_key(database, arena, "key");
    struct file_link link = given_link(database, arena, &file, maker);
    struct file_link unknown = {.id = id_new()};
    enum file_outcome outcome;
    assert_true(opens(database, arena, key.id, &link));
    assert_false(opens(database, arena, key.id, &unknown));
    assert_false(opens(database, arena, id_new(), &link));
    expect_ok(file_archive(database, arena, organisation, file.id, &outcome));
    assert_false(opens(database, arena, key.id, &link));
    expect_ok(file_restore(database, arena, organisation, file.id, &outcome));
    assert_true(opens(database, arena, key.id, &link));
    sql(database, arena, "UPDATE organisation SET status = 'disabled' WHERE id = %s", sql_id(arena, organisation));
    assert_false(opens(database, arena, key.id, &link));
    database_free(&database);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(the_newest_key_signs),
    HARNESS_TEST(a_link_finds_what_is_active_of_who_is_active_and_its_maker),
};
HARNESS_MODULE(link_key, cases)
