/* SPDX-License-Identifier: MIT */
/* Tests how a cookie is found in the header of a client, also where somebody else has set more of them. */
#include "http/cookie.h"

#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "codec/random.h"

#define NAME "__Secure-name"

static void a_cookie_is_found_by_its_name_alone(void **state)
{
    struct arena *arena = harness_arena(state);
    static const struct {
        const char *header;
        enum cookie_result result;
        const char *value;
    } rows[] = {
        {NULL, COOKIE_NONE, NULL},
        {"", COOKIE_NONE, NULL},
        {";;; ; =", COOKIE_NONE, NULL},
        {NAME "=one", COOKIE_ONE, "one"},
        {NAME "=", COOKIE_ONE, ""},
        {NAME "=a=b==", COOKIE_ONE, "a=b=="},
        {"other=1; " NAME "=one; more=2", COOKIE_ONE, "one"},
        {"other=1;" NAME "=one;more=2;", COOKIE_ONE, "one"},
        {" \t" NAME " = one \t;", COOKIE_ONE, "one"},
        {NAME "=\"one\"", COOKIE_ONE, "\"one\""},
        {NAME "=one two", COOKIE_ONE, "one two"},
        {NAME "=one, " NAME "=two", COOKIE_ONE, "one, " NAME "=two"},
        /* other names */
        {NAME, COOKIE_NONE, NULL},
        {"x" NAME "=one", COOKIE_NONE, NULL},
        {NAME "x=one", COOKIE_NONE, NULL},
        {"__secure-NAME=one", COOKIE_NONE, NULL},
        {"name=one", COOKIE_NONE, NULL},
        {"__Secure- name=one", COOKIE_NONE, NULL},
        {"$Version=1; \"" NAME "\"=one", COOKIE_NONE, NULL},
        /* a cookie without a name, whose value looks like one */
        {"=" NAME "=one", COOKIE_NONE, NULL},
        {" = " NAME "=one", COOKIE_NONE, NULL},
        /* inside of another's value */
        {"other=" NAME "=one", COOKIE_NONE, NULL},
        {"other=\"1; " NAME "=one\"", COOKIE_ONE, "one\""},
        /* several */
        {NAME "=one; " NAME "=two", COOKIE_MANY, NULL},
        {NAME "=one; " NAME "=one", COOKIE_MANY, NULL},
        {NAME "=; " NAME "=one", COOKIE_MANY, NULL},
        {NAME "=one;" NAME " =two", COOKIE_MANY, NULL},
        {NAME "=one; a=b; " NAME "=two; " NAME "=three", COOKIE_MANY, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *value = NULL;
        enum cookie_result result = cookie_find(arena, rows[i].header, NAME, &value);
        if (result != rows[i].result || (result == COOKIE_ONE && strcmp(value, rows[i].value) != 0))
            fail_msg("%zu: %d \"%s\"", i, (int)result, value);
    }
}

/* Headers of random pieces: pairs are counted in another way as well. */
static void every_pair_of_that_name_is_counted(void **state)
{
    static const char *const pieces[] = {"; ", ";", "=", NAME, NAME "=v", "other=1", " ", "\t", "\"", "\xff", ",", "x"};
    struct arena *arena = harness_arena(state);
    for (unsigned round = 0; round < 5000; round++) {
        struct buffer header;
        unsigned char random[16];
        random_bytes(random, sizeof random);
        buffer_init(&header, arena);
        for (size_t i = 0; i < sizeof random; i++)
            buffer_add_text(&header, pieces[random[i] % (sizeof pieces / sizeof *pieces)]);
        unsigned count = 0;
        char *copy = arena_text(arena, header.bytes);
        for (char *rest = copy, *pair; (pair = strsep(&rest, ";")) != NULL;) {
            pair += strspn(pair, " \t");
            if (strncmp(pair, NAME, strlen(NAME)) != 0)
                continue;
            pair += strlen(NAME);
            count += pair[strspn(pair, " \t")] == '=' ? 1 : 0;
        }
        const char *value = NULL;
        enum cookie_result result = cookie_find(arena, header.bytes, NAME, &value);
        if (result != (count == 0 ? COOKIE_NONE : count == 1 ? COOKIE_ONE : COOKIE_MANY))
            fail_msg("%s", header.bytes);
        if (result == COOKIE_ONE)
            assert_null(strchr(value, ';'));
    }
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_cookie_is_found_by_its_name_alone),
    HARNESS_TEST(every_pair_of_that_name_is_counted),
};
HARNESS_MODULE(cookie, cases)
