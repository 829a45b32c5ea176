/* SPDX-License-Identifier: MIT */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "database_fixture.h"
#include "domain/change.h"
#include "domain/file.h"
#include "domain/link_key.h"
#include "support.h"

static struct link_key given_key(struct database *database, struct arena *arena, const char *sealed)
{
    struct link_key key = {id_new(), sealed, strlen(sealed)};
    expect_ok(link_key_insert(database, arena, &key));
    return key;
}

/* Whether the link opens the file. */
static bool opens(struct database *database, struct arena *arena, struct id key, struct id file)
{
    struct link_target target;
    int64_t version;
    expect_ok(link_key_find_target(database, arena, key, file, &target));
    expect_ok(change_current(database, arena, &version));
    assert_int_equal(target.change_version, version);
    assert_true((target.key == NULL) == (target.file == NULL));
    if (target.key == NULL)
        return false;
    assert_true(id_equal(target.key->id, key));
    assert_true(id_equal(target.file->id, file));
    return true;
}

static void the_newest_key_signs(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = database_fixture_new();
    database_fixture_clear();
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
    struct file_record file = given_file(database, arena, given_organisation(database, arena), id_new());
    assert_false(opens(database, arena, first.id, file.id));
    assert_true(opens(database, arena, second.id, file.id));
    database_free(&database);
}

static void a_link_opens_what_is_active_of_who_is_active(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = database_fixture_new();
    struct id organisation = given_organisation(database, arena);
    struct file_record file = given_file(database, arena, organisation, id_new());
    struct link_key key = given_key(database, arena, "key");
    enum file_outcome outcome;
    assert_true(opens(database, arena, key.id, file.id));
    assert_false(opens(database, arena, key.id, id_new()));
    assert_false(opens(database, arena, id_new(), file.id));
    expect_ok(file_archive(database, arena, organisation, file.id, &outcome));
    assert_false(opens(database, arena, key.id, file.id));
    expect_ok(file_restore(database, arena, organisation, file.id, &outcome));
    assert_true(opens(database, arena, key.id, file.id));
    sql(database, arena, "UPDATE organisation SET status = 'disabled' WHERE id = %s", sql_id(arena, organisation));
    assert_false(opens(database, arena, key.id, file.id));
    database_free(&database);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(the_newest_key_signs),
    HARNESS_TEST(a_link_opens_what_is_active_of_who_is_active),
};
HARNESS_MODULE(link_key, cases)
