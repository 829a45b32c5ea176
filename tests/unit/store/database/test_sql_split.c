/* SPDX-License-Identifier: MIT */
/* Cutting migrations into statements. */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "store/database/sql_split_int.h"

static void statements_end_at_the_semicolons_that_count(void **state)
{
    static const struct {
        const char *text;
        const char *pieces[4];
    } table[] = {
        {"", {NULL}},
        {" \n\t;;; -- nothing\n# nothing\n/* nothing; */", {NULL}},
        {"SELECT 1", {"SELECT 1"}},
        {"SELECT 1;", {"SELECT 1"}},
        {"SELECT 1 ; SELECT 2;\n", {"SELECT 1", "SELECT 2"}},
        {"SELECT ';' ; SELECT \";\"; SELECT `;`", {"SELECT ';'", "SELECT \";\"", "SELECT `;`"}},
        {"SELECT 'it''s;' ; SELECT 'a\\';' ; X", {"SELECT 'it''s;'", "SELECT 'a\\';'", "X"}},
        {"SELECT `a\\`; SELECT 2", {"SELECT `a\\`", "SELECT 2"}},
        {"-- a comment; with a semicolon\nSELECT 1; -- end", {"SELECT 1"}},
        {"SELECT 1 -- it's;\n+ 2; Y", {"SELECT 1 -- it's;\n+ 2", "Y"}},
        {"SELECT 5--1; Y", {"SELECT 5--1", "Y"}},
        {"SELECT /* ; ' */ 1; Y", {"SELECT /* ; ' */ 1", "Y"}},
        {"/*! SET x = 1; */; Y", {"/*! SET x = 1; */", "Y"}},
        {"/*M! SET x = 1 */; Y", {"/*M! SET x = 1 */", "Y"}},
        {"SELECT 1 --", {"SELECT 1 --"}},
        {"#", {NULL}},
    };
    struct arena *arena = harness_arena(state);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct sql_piece *pieces;
        size_t count, wanted = 0;
        assert_null(sql_split(arena, table[i].text, strlen(table[i].text), &pieces, &count));
        while (wanted < 4 && table[i].pieces[wanted] != NULL)
            wanted++;
        assert_int_equal(count, wanted);
        for (size_t j = 0; j < count; j++) {
            assert_int_equal(pieces[j].length, strlen(table[i].pieces[j]));
            assert_memory_equal(pieces[j].text, table[i].pieces[j], pieces[j].length);
        }
    }
}

static void lines_are_counted_from_one(void **state)
{
    static const char text[] = "-- head\n\nSELECT 1;\n  SELECT\n 2;SELECT 3";
    struct sql_piece *pieces;
    size_t count;
    assert_null(sql_split(harness_arena(state), text, sizeof text - 1, &pieces, &count));
    assert_int_equal(count, 3);
    assert_int_equal(pieces[0].line, 3);
    assert_int_equal(pieces[1].line, 4);
    assert_int_equal(pieces[2].line, 5);
}

static void what_does_not_end_is_refused(void **state)
{
    static const char *const texts[] = {"SELECT 'a", "SELECT \"a;", "SELECT `a", "SELECT /* a", "/* a", "SELECT 'a\\"};
    struct arena *arena = harness_arena(state);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct sql_piece *pieces;
        size_t count;
        struct error *error = sql_split(arena, texts[i], strlen(texts[i]), &pieces, &count);
        assert_non_null(error);
        assert_int_equal(error->code, ERROR_INTERNAL);
        assert_non_null(strstr(error->detail, "line 1"));
    }
}

static void random_text_is_cut_within_its_bounds(void **state)
{
    static const char alphabet[] = "ab;'\"`\\/*!-# \n";
    struct arena *arena = harness_arena(state);
    struct harness_random random = {.state = 7};
    for (int round = 0; round < 20000; round++) {
        size_t length = harness_random_below(&random, 40);
        char *text = arena_alloc(arena, length);
        for (size_t i = 0; i < length; i++)
            text[i] = alphabet[harness_random_below(&random, sizeof alphabet - 1)];
        struct sql_piece *pieces;
        size_t count;
        if (sql_split(arena, text, length, &pieces, &count) == NULL)
            for (size_t i = 0; i < count; i++) {
                assert_true(pieces[i].length > 0);
                assert_true(pieces[i].text >= text && pieces[i].text + pieces[i].length <= text + length);
            }
        if (round % 100 == 0)
            arena_reset(arena);
    }
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(statements_end_at_the_semicolons_that_count),
    HARNESS_TEST(lines_are_counted_from_one),
    HARNESS_TEST(what_does_not_end_is_refused),
    HARNESS_TEST(random_text_is_cut_within_its_bounds),
};
HARNESS_MODULE(sql_split, cases)
