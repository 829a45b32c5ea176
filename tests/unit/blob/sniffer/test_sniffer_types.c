/* SPDX-License-Identifier: MIT */
/* The types that a sniffer may name: those of libmagic's database and of the table, and no text of its own. */
#include "blob/sniffer/types_int.h"

#include <magic.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "blob/media_int.h"
#include "harness.h"

static void expect(const struct sniff_types *types, const char *said, const char *believed)
{
    if (strcmp(sniff_types_bound(types, said), believed) != 0)
        fail_msg("%s is believed as %s", said, sniff_types_bound(types, said));
}

static void types_of_this_machine_s_libmagic_are_believed(void **state)
{
    static const char *const known[] = {"image/vnd.dwg",        "text/x-c",           "text/x-perl", "font/woff2",
                                        "application/x-ndjson", "application/msword", "audio/amr",   "image/png"};
    const struct sniff_types *types = sniff_types_load(harness_arena(state), magic_getpath(NULL, 0));
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        expect(types, known[i], known[i]);
    expect(types, "image/x-ms-bmp", "image/bmp");
    expect(types, "application/x-password-of-somebody", MEDIA_UNKNOWN);
    expect(types, "text/x-c.", MEDIA_UNKNOWN);
    expect(types, "ext/x-c", MEDIA_UNKNOWN);
}

#define LONG_HALF "abcdefghijabcdefghijabcdefghijabcdefgh" /* 38 letters */

static const char bytes[] = "image/first\0"
                            "\0image/x-One\0image/x-two\0\0image/x-one\0"
                            "no/type/here\0half/\0/half\0a blank/in it\0"
                            "\0" LONG_HALF "i/" LONG_HALF "i\0"
                            "\0" LONG_HALF "ij/" LONG_HALF "i\0"
                            "/\0image/last";

static void only_what_stands_alone_in_a_database_is_a_type(void **state)
{
    static const char *const none[] = {
        "image/first",   "image/last", "no/type",           "type/here",
        "a blank/in it", "blank/in",   "application/x-two", LONG_HALF "ij/" LONG_HALF "i"};
    struct arena *arena = harness_arena(state);
    const char *folder = harness_directory(arena);
    (void)harness_write(arena, folder, "one.mgc", bytes, sizeof bytes - 1);
    (void)harness_write(arena, folder, "two.mgc", "\0model/x-three", 15);
    (void)harness_write(arena, folder, "empty.mgc", "", 0);
    const char *paths =
        arena_format(arena, "%s/missing:%s/one:%s/empty:%s:%s/two.mgc", folder, folder, folder, folder, folder);
    const struct sniff_types *types = sniff_types_load(arena, paths);
    expect(types, "image/x-one", "image/x-one");
    expect(types, "image/x-two", "image/x-two");
    expect(types, "model/x-three", "model/x-three");
    expect(types, LONG_HALF "i/" LONG_HALF "i", LONG_HALF "i/" LONG_HALF "i");
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        expect(types, none[i], MEDIA_UNKNOWN);
}

static void without_a_database_the_table_is_left(void **state)
{
    static const char *const paths[] = {NULL, "", "/nowhere/magic"};
    struct arena *arena = harness_arena(state);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const struct sniff_types *types = sniff_types_load(arena, paths[i]);
        expect(types, "image/png", "image/png");
        expect(types, "application/x-hwp", "application/x-hwp");
        expect(types, "image/vnd.dwg", MEDIA_UNKNOWN);
    }
}

/* More than the list has room for: the first ones stay, and nothing is written behind it. */
static void a_database_with_too_many_types_is_cut(void **state)
{
    struct arena *arena = harness_arena(state);
    const size_t count = 6000;
    char *many = arena_alloc(arena, count * 16 + 1);
    many[0] = '\0';
    for (size_t i = 0; i < count; i++)
        (void)snprintf(many + 1 + i * 16, 16, "model/x-n%06zu", i);
    const char *folder = harness_directory(arena);
    (void)harness_write(arena, folder, "many.mgc", many, count * 16 + 1);
    const struct sniff_types *types = sniff_types_load(arena, arena_format(arena, "%s/many", folder));
    expect(types, "model/x-n000000", "model/x-n000000");
    expect(types, "model/x-n004000", "model/x-n004000");
    expect(types, "model/x-n005999", MEDIA_UNKNOWN);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(types_of_this_machine_s_libmagic_are_believed),
    HARNESS_TEST(only_what_stands_alone_in_a_database_is_a_type),
    HARNESS_TEST(without_a_database_the_table_is_left),
    HARNESS_TEST(a_database_with_too_many_types_is_cut),
};
HARNESS_MODULE(sniffer_types, cases)
