/* SPDX-License-Identifier: MIT */
/* The folder of a path. */
#include "harness.h"

#include "base/arena.h"
#include "base/folder.h"

static void each_path_has_a_folder(void **state)
{
    struct arena *arena = harness_arena(state);
    assert_string_equal(folder_of(arena, "/etc/gatehouse/secret"), "/etc/gatehouse");
    assert_string_equal(folder_of(arena, "a/b"), "a");
    assert_string_equal(folder_of(arena, "/secret"), "/");
    assert_string_equal(folder_of(arena, "secret"), ".");
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(each_path_has_a_folder),
};
HARNESS_MODULE(folder, cases)
