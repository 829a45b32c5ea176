/* SPDX-License-Identifier: MIT */
/* Tests the writer of comma-separated values: which cells it quotes, and that no cell is taken for a formula. */
#include "harness.h"

#include "base/arena.h"
#include "base/text.h"
#include "codec/csv.h"

static const char *row_of(struct arena *arena, const char *one, const char *other)
{
    struct buffer buffer;
    buffer_init(&buffer, arena);
    csv_add_cell(&buffer, one, true);
    csv_add_cell(&buffer, other, false);
    csv_end_row(&buffer);
    return buffer.bytes;
}

static void cells_are_quoted_where_they_have_to_be(void **state)
{
    struct arena *arena = harness_arena(state);
    assert_string_equal(row_of(arena, "one", "two"), "one,two\r\n");
    assert_string_equal(row_of(arena, NULL, ""), ",\r\n");
    assert_string_equal(row_of(arena, "a,b", "c\"d"), "\"a,b\",\"c\"\"d\"\r\n");
    assert_string_equal(row_of(arena, "a\nb", "c\rd"), "\"a\nb\",\"c\rd\"\r\n");
    assert_string_equal(row_of(arena, "\"", "\"\""), "\"\"\"\",\"\"\"\"\"\"\r\n");
    assert_string_equal(row_of(arena, " a", "b c"), "\" a\",b c\r\n");
    assert_string_equal(row_of(arena, "{\"a\":1}", "\xc3\xa9\xe2\x82\xac"),
                        "\"{\"\"a\"\":1}\",\xc3\xa9\xe2\x82\xac\r\n");
}

static void formulas_are_text(void **state)
{
    struct arena *arena = harness_arena(state);
    assert_string_equal(row_of(arena, "=1+1", "+1"), "'=1+1,'+1\r\n");
    assert_string_equal(row_of(arena, "-1", "@SUM(A1)"), "'-1,'@SUM(A1)\r\n");
    assert_string_equal(row_of(arena, "\t=1", "\r=1"), "\"'\t=1\",\"'\r=1\"\r\n");
    assert_string_equal(row_of(arena, "=\"a\",1", "a=1"), "\"'=\"\"a\"\",1\",a=1\r\n");
    assert_string_equal(row_of(arena, "1-1", "'=1"), "1-1,'=1\r\n");
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(cells_are_quoted_where_they_have_to_be),
    HARNESS_TEST(formulas_are_text),
};
HARNESS_MODULE(csv, cases)
