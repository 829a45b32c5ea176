/* SPDX-License-Identifier: MIT */
/*
 * The strict reader of JSON. The hostile texts are a table, one row a case, with the entry that the answer
 * must hold; tests/unit/compare-documents checks thousands of mutated texts against an independent
 * strict reader.
 */
#include "codec/document.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/text.h"
#include "harness.h"

#define BYTES(literal) (literal), sizeof(literal) - 1

struct hostile {
    const char *code;
    const char *path;
    const char *bytes;
    size_t length;
};

static const struct hostile hostile[] = {
    /* Not a value, or not only one. */
    {"syntax", "", BYTES("")},
    {"syntax", "", BYTES(" \t\r\n")},
    {"syntax", "", BYTES("{")},
    {"syntax", "", BYTES("[")},
    {"syntax", "", BYTES("}")},
    {"syntax", "", BYTES("]")},
    {"syntax", "", BYTES("{]")},
    {"syntax", "", BYTES("[}")},
    {"syntax", "", BYTES("{}x")},
    {"syntax", "", BYTES("{}{}")},
    {"syntax", "", BYTES("{},")},
    {"syntax", "", BYTES("1 2")},
    {"syntax", "", BYTES("{}\0")},
    {"syntax", "", BYTES("{}\0{\"a\":1}")},
    {"syntax", "", BYTES("\0")},
    {"syntax", "", BYTES("\0{}")},
    {"syntax", "", BYTES("{\0}")},
    {"syntax", "", BYTES(",")},
    {"syntax", "", BYTES(":")},
    {"syntax", "", BYTES("<html>")},
    {"syntax", "", BYTES("a=1&b=2")},
    /* Byte order marks and blanks of other alphabets. */
    {"syntax", "", BYTES("\xef\xbb\xbf{}")},
    {"syntax", "", BYTES("{}\xef\xbb\xbf")},
    {"syntax", "", BYTES("\xff\xfe{\0}\0")},
    {"syntax", "", BYTES("\0{\0}")},
    {"syntax", "", BYTES("\xc2\xa0{}")},
    {"syntax", "", BYTES("{}\xe2\x80\xa8")},
    {"syntax", "", BYTES("\v{}")},
    {"syntax", "", BYTES("{}\f")},
    {"syntax", "", BYTES("\x01{}")},
    {"syntax", "", BYTES("\x7f{}")},
    /* Members and elements. */
    {"syntax", "", BYTES("{\"a\"}")},
    {"syntax", "", BYTES("{\"a\":}")},
    {"syntax", "", BYTES("{\"a\":1,}")},
    {"syntax", "", BYTES("{,\"a\":1}")},
    {"syntax", "", BYTES("{\"a\":1 \"b\":2}")},
    {"syntax", "", BYTES("{\"a\"::1}")},
    {"syntax", "", BYTES("{\"a\" 1}")},
    {"syntax", "", BYTES("{a:1}")},
    {"syntax", "", BYTES("{'a':1}")},
    {"syntax", "", BYTES("{1:1}")},
    {"syntax", "", BYTES("{null:1}")},
    {"syntax", "", BYTES("{\"a\":1]")},
    {"syntax", "", BYTES("[1,]")},
    {"syntax", "", BYTES("[,1]")},
    {"syntax", "", BYTES("[1,,2]")},
    {"syntax", "", BYTES("[1 2]")},
    {"syntax", "", BYTES("[1}")},
    {"syntax", "", BYTES("[1;2]")},
    /* Comments. */
    {"syntax", "", BYTES("{}//")},
    {"syntax", "", BYTES("/* */{}")},
    {"syntax", "", BYTES("[1#\n]")},
    /* Words. */
    {"syntax", "", BYTES("True")},
    {"syntax", "", BYTES("TRUE")},
    {"syntax", "", BYTES("tru")},
    {"syntax", "", BYTES("truee")},
    {"syntax", "", BYTES("nul")},
    {"syntax", "", BYTES("nulll")},
    {"syntax", "", BYTES("fals")},
    {"syntax", "", BYTES("undefined")},
    {"syntax", "", BYTES("NaN")},
    {"syntax", "", BYTES("Infinity")},
    {"syntax", "", BYTES("-Infinity")},
    {"syntax", "", BYTES("[nan]")},
    /* Numbers. */
    {"syntax", "", BYTES("01")},
    {"syntax", "", BYTES("-01")},
    {"syntax", "", BYTES("00")},
    {"syntax", "", BYTES("1.")},
    {"syntax", "", BYTES(".5")},
    {"syntax", "", BYTES("-.5")},
    {"syntax", "", BYTES("1.e1")},
    {"syntax", "", BYTES("1e")},
    {"syntax", "", BYTES("1e+")},
    {"syntax", "", BYTES("1E-")},
    {"syntax", "", BYTES("+1")},
    {"syntax", "", BYTES("-")},
    {"syntax", "", BYTES("--1")},
    {"syntax", "", BYTES("- 1")},
    {"syntax", "", BYTES("1_000")},
    {"syntax", "", BYTES("1,000")},
    {"syntax", "", BYTES("0x10")},
    {"syntax", "", BYTES("1e5.5")},
    {"syntax", "", BYTES("1.2.3")},
    {"syntax", "", BYTES("\xd9\xa1")}, /* an Arabic digit one */
    {"length", "", BYTES("0.1234567890123456789012345678901234567890123456789012345678901234567890")},
    {"length", "a[1]", BYTES("{\"a\":[1,1000000000000000000000000000000000000000000000000000000000000]}")},
    /* Texts. */
    {"syntax", "", BYTES("\"")},
    {"syntax", "", BYTES("\"a")},
    {"syntax", "", BYTES("\"a\\\"")},
    {"syntax", "", BYTES("'a'")},
    {"syntax", "", BYTES("\"\\x41\"")},
    {"syntax", "", BYTES("\"\\a\"")},
    {"syntax", "", BYTES("\"\\'\"")},
    {"syntax", "", BYTES("\"\\\n\"")},
    {"syntax", "", BYTES("\"\\\0\"")},
    {"syntax", "", BYTES("\"\\U0041\"")},
    {"syntax", "", BYTES("\"\\u004\"")},
    {"syntax", "", BYTES("\"\\u00 1\"")},
    {"syntax", "", BYTES("\"\\u+041\"")},
    {"syntax", "", BYTES("\"\\u004g\"")},
    {"syntax", "", BYTES("\"\\u{41}\"")},
    {"syntax", "", BYTES("\"\\ud83d\\u12\"")},
    {"syntax", "", BYTES("\"a\nb\"")},
    {"syntax", "", BYTES("\"a\rb\"")},
    {"syntax", "", BYTES("\"a\tb\"")},
    {"syntax", "", BYTES("\"a\x1f\"")},
    {"syntax", "", BYTES("\"a\0b\"")},
    {"syntax", "", BYTES("{\"a\0b\":1}")},
    {"syntax", "", BYTES("{\"a\nb\":1}")},
    /* U+0000 and surrogates by escape. */
    {"character", "", BYTES("\"\\u0000\"")},
    {"character", "a", BYTES("{\"a\":\"x\\u0000y\"}")},
    {"character", "", BYTES("{\"a\\u0000\":1}")},
    {"character", "", BYTES("{\"a\":1,\"b\\u0000\":2}")},
    {"character", "a.b[2]", BYTES("{\"a\":{\"b\":[1,2,\"\\u0000\"]}}")},
    {"character", "", BYTES("\"\\ud800\"")},
    {"character", "", BYTES("\"\\udc00\"")},
    {"character", "", BYTES("\"\\udfff\\ud800\"")},
    {"character", "", BYTES("\"\\ud83dx\"")},
    {"character", "", BYTES("\"\\ud83d\\ud83d\"")},
    {"character", "", BYTES("\"\\ud83d\\n\"")},
    {"character", "", BYTES("\"\\uD83D\\u0041\"")},
    {"character", "", BYTES("\"\\uD800\\uE000\"")},
    {"character", "", BYTES("\"\\uDBFF\\uDBFF\"")},
    {"character", "", BYTES("\"\\uDC00\\uDC00\"")},
    {"character", "", BYTES("\"\\uD800\\uD83D\\uDE00\"")},
    /* Bytes that are no UTF-8. */
    {"encoding", "", BYTES("\"\x80\"")},
    {"encoding", "", BYTES("\"\xff\"")},
    {"encoding", "", BYTES("\"\xc3\"")},
    {"encoding", "", BYTES("\"\xc3(\"")},
    {"encoding", "", BYTES("\"\xc0\x80\"")},
    {"encoding", "", BYTES("\"\xc0\xaf\"")},
    {"encoding", "", BYTES("\"\xe0\x80\xaf\"")},
    {"encoding", "", BYTES("\"\xf0\x80\x80\xaf\"")},
    {"encoding", "", BYTES("\"\xed\xa0\x80\"")},
    {"encoding", "", BYTES("\"\xed\xbf\xbf\"")},
    {"encoding", "", BYTES("\"\xf4\x90\x80\x80\"")},
    {"encoding", "", BYTES("\"\xf8\x88\x80\x80\x80\"")},
    {"encoding", "", BYTES("\"\xe2\x82\"")},
    {"encoding", "", BYTES("\"\xf0\x9f\x98\"")},
    {"encoding", "", BYTES("{\"\xe4\":1}")},
    {"encoding", "", BYTES("\"caf\xe9\"")},
    {"encoding", "", BYTES("\"\\\"\xfe\"")},
    /* One member twice. */
    {"duplicate", "a", BYTES("{\"a\":1,\"a\":1}")},
    {"duplicate", "a", BYTES("{\"a\":1,\"b\":2,\"a\":3}")},
    {"duplicate", "a", BYTES("{\"a\":1,\"\\u0061\":2}")},
    {"duplicate", "ab\xc3\xa9", BYTES("{\"ab\xc3\xa9\":1,\"\\u0061b\xc3\xa9\":2}")},
    {"duplicate", "/", BYTES("{\"/\":1,\"\\/\":2}")},
    {"duplicate", "\xc3\xa9", BYTES("{\"\xc3\xa9\":1,\"\\u00E9\":2}")},
    {"duplicate", "\xf0\x9f\x98\x80", BYTES("{\"\xf0\x9f\x98\x80\":1,\"\\uD83D\\uDE00\":2}")},
    {"duplicate", "\xc2\x80", BYTES("{\"\xc2\x80\":1,\"\\u0080\":2}")},
    {"duplicate", "\xdf\xbf", BYTES("{\"\xdf\xbf\":1,\"\\u07ff\":2}")},
    {"duplicate", "\xe0\xa0\x80", BYTES("{\"\xe0\xa0\x80\":1,\"\\u0800\":2}")},
    {"duplicate", "\xef\xbf\xbf", BYTES("{\"\xef\xbf\xbf\":1,\"\\uffff\":2}")},
    {"duplicate", "\xed\x9f\xbf", BYTES("{\"\xed\x9f\xbf\":1,\"\\ud7ff\":2}")},
    {"duplicate", "\xee\x80\x80", BYTES("{\"\xee\x80\x80\":1,\"\\ue000\":2}")},
    {"duplicate", "\xf0\x90\x80\x80", BYTES("{\"\xf0\x90\x80\x80\":1,\"\\ud800\\udc00\":2}")},
    {"duplicate", "\xf4\x8f\xbf\xbf", BYTES("{\"\xf4\x8f\xbf\xbf\":1,\"\\udbff\\udfff\":2}")},
    {"duplicate", "\xc2\xaa", BYTES("{\"\\u00aa\":1,\"\\u00AA\":2}")},
    {"duplicate", "\"\\\b\f\n\r\t",
     BYTES("{\"\\\"\\\\\\b\\f\\n\\r\\t\":1,\"\\u0022\\u005C\\u0008\\u000c\\u000a\\u000D\\u0009\":2}")},
    {"duplicate", "\x7f", BYTES("{\"\x7f\":1,\"\\u007f\":2}")},
    {"duplicate", "", BYTES("{\"\":1,\"\":2}")},
    {"duplicate", "organisation.name", BYTES("{\"organisation\":{\"name\":\"a\",\"name\":\"b\"}}")},
    {"duplicate", "[1].a", BYTES("[{\"a\":1},{\"a\":1,\"a\":2}]")},
    {"duplicate", "a[0][1].b", BYTES("{\"a\":[[1,{\"b\":1,\"c\":2,\"b\":3}]]}")},
    {"duplicate", "a", BYTES("{\"a\":{\"a\":{}},\"a\":[]}")},
    /* Too deep. */
    {"depth", "", BYTES("[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]")},
    {"depth", "", BYTES("[[[[[[[[[[[[[[[[{\"a\":1}]]]]]]]]]]]]]]]]")},
    {"depth", "",
     BYTES("{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{"
           "\"a\":{\"a\":"
           "{\"a\":{}}}}}}}}}}}}}}}}}")},
    {"depth", "", BYTES("[[[[[[[[[[[[[[[[[")},
};

static struct error *parse(struct arena *arena, const char *bytes, size_t length, struct document **document)
{
    /* A copy of exactly that size, so that a read beyond it is seen by the sanitizer. */
    char *exact = malloc(length + (length == 0));
    if (length > 0)
        memcpy(exact, bytes, length);
    struct error *error = document_parse(arena, exact, length, document);
    free(exact);
    return error;
}

static void hostile_texts_are_refused_each_for_its_reason(void **state)
{
    struct arena *arena = harness_arena(state);
    size_t count = sizeof hostile / sizeof *hostile;
    assert_true(count >= 46);
    for (size_t i = 0; i < count; i++) {
        const struct hostile *row = &hostile[i];
        struct document *document = NULL;
        struct error *error = parse(arena, row->bytes, row->length, &document);
        if (error == NULL)
            fail_msg("row %zu passed: %s", i, row->bytes);
        assert_null(document);
        assert_int_equal(error->code, ERROR_REQUEST_MALFORMED);
        /*
         * The same path and code are told once, so that each row, which holds one kind of fault, has one
         * entry.
         */
        if (error->entry_count != 1)
            fail_msg("row %zu, %s: %zu entries", i, row->bytes, error->entry_count);
        if (strcmp(error->entries->code, row->code) != 0 || strcmp(error->entries->path, row->path) != 0)
            fail_msg("row %zu, %s: %s at %s", i, row->bytes, error->entries->code, error->entries->path);
        assert_true(utf8_valid(error->entries->message, strlen(error->entries->message)));
        assert_true(strlen(error->entries->message) > 10);
    }
}

static const char *const valid[] = {
    "null",
    "true",
    "false",
    "0",
    "-0",
    "1",
    "-1",
    "10",
    "1.5",
    "-0.0",
    "1e5",
    "1E+5",
    "1e-5",
    "0e0",
    "0.1e1",
    "1e999",
    "-1e999",
    "123456789012345678901234567890123456789012345678901234567890",
    "9007199254740993",
    "\"\"",
    "\"a\"",
    " \t\r\n1\n",
    "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\"",
    "\"\\ud83d\\ude00\"",
    "\"\\uD83D\\uDE00\"",
    "\"\xf0\x9f\x98\x80\"",
    "\"\xc3\xa9\"",
    "\"\x7f\"",
    "\"\xed\x9f\xbf\xee\x80\x80\"",
    "\"\\u007f\\u0080\\uffff\"",
    "\"\xe2\x80\xa8\"",
    "\"\\\\u0000\"",
    "\"/\"",
    "[]",
    "{}",
    "[ ]",
    "{ }",
    "[[]]",
    "[{}]",
    "{\"\":{}}",
    "[1,2,3]",
    "[ 1 , 2 ]",
    "{ \"a\" : 1 , \"b\" : 2 }",
    "{\"\\u0061b\":1,\"\\u0061c\":2,\"a\":3}",
    "[{\"a\":1,\"b\":2,\"c\":3},{\"a\":1,\"c\":2}]",
    "{\"a\":{\"x\":1,\"y\":2,\"z\":3},\"z\":1}",
    "{\"a\":1,\"A\":2}",
    "{\"a\":1,\"a \":2}",
    "{\"a\":{\"a\":{\"a\":1}},\"b\":{\"a\":1}}",
    "[{\"a\":1},{\"a\":1}]",
    "{\"ab\":1,\"a\":2,\"abc\":3}",
    "[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]",
    "[[[[[[[[[[[[[[[{\"a\":1}]]]]]]]]]]]]]]]",
    "{\"a\":\"\\u0061\"}",
};

static void what_the_standard_allows_passes(void **state)
{
    struct arena *arena = harness_arena(state);
    for (size_t i = 0; i < sizeof valid / sizeof *valid; i++) {
        struct document *document = NULL;
        struct error *error = parse(arena, valid[i], strlen(valid[i]), &document);
        if (error != NULL)
            fail_msg("refused: %s: %s %s", valid[i], error->entries->code, error->entries->message);
        assert_non_null(document);
    }
}

/* All faults that leave the rest readable are told at once. */
static void every_fault_that_can_be_told_is_told(void **state)
{
    struct arena *arena = harness_arena(state);
    static const char text[] = "{\"a\":{\"x\":1,\"x\":2,\"x\":3},\"b\":\"\\u0000\",\"c\":[0,\"\\ud800\"],\"b\":1,"
                               "\"d\":1000000000000000000000000000000000000000000000000000000000000000}";
    static const char *const wanted[][2] = {
        {"a.x", "duplicate"}, {"b", "character"}, {"c[1]", "character"}, {"d", "length"}, {"b", "duplicate"}};
    struct document *document = NULL;
    struct error *error = parse(arena, text, sizeof text - 1, &document);
    assert_non_null(error);
    assert_int_equal(error->entry_count, 5);
    const struct error_entry *entry = error->entries;
    for (size_t i = 0; i < 5; i++, entry = entry->next) {
        assert_string_equal(entry->path, wanted[i][0]);
        assert_string_equal(entry->code, wanted[i][1]);
    }
}

/* What a name cannot hold stands as U+FFFD in it, in its place. */
static void names_with_faults_are_compared_all_the_same(void **state)
{
    struct arena *arena = harness_arena(state);
    struct document *document = NULL;
    struct error *error = parse(arena,
                                BYTES("{\"\\ud800\\u0041\":1,\"\xef\xbf\xbd"
                                      "A\":2}"),
                                &document);
    assert_non_null(error);
    assert_int_equal(error->entry_count, 2);
    assert_string_equal(error->entries->message, "The text holds half a surrogate pair.");
    assert_string_equal(error->entries->next->code, "duplicate");
    assert_string_equal(error->entries->next->path, "\xef\xbf\xbd"
                                                    "A");
    error = parse(arena, BYTES("{\"a\\u0000\":1,\"a\xef\xbf\xbd\":2}"), &document);
    assert_non_null(error);
    assert_int_equal(error->entry_count, 2);
    assert_string_equal(error->entries->message, "The text holds U+0000.");
    assert_string_equal(error->entries->next->path, "a\xef\xbf\xbd");
}

static void the_message_names_the_byte(void **state)
{
    struct arena *arena = harness_arena(state);
    struct document *document = NULL;
    struct error *error = parse(arena, BYTES("{\"a\": 01}"), &document);
    assert_non_null(strstr(error->entries->message, "Byte 7:"));
    error = parse(arena, BYTES("[\"ab\xff\"]"), &document);
    assert_non_null(strstr(error->entries->message, "Byte 4:"));
}

/* The client chooses names; the answer must not grow with them. */
static void paths_in_the_answer_are_bounded_and_valid(void **state)
{
    struct arena *arena = harness_arena(state);
    struct buffer text;
    buffer_init(&text, arena);
    for (int depth = 0; depth < 15; depth++) {
        buffer_add_text(&text, "{\"");
        for (int i = 0; i < 67; i++)
            buffer_add_text(&text, "\xe2\x82\xac");
        buffer_add_text(&text, "\":");
    }
    buffer_add_text(&text, "{\"x\":1,\"x\":2}");
    for (int depth = 0; depth < 15; depth++)
        buffer_add_char(&text, '}');
    struct document *document = NULL;
    struct error *error = parse(arena, text.bytes, text.length, &document);
    assert_non_null(error);
    assert_int_equal(error->entry_count, 1);
    assert_true(strlen(error->entries->path) <= 200);
    assert_true(strlen(error->entries->path) >= 197);
    assert_true(utf8_valid(error->entries->path, strlen(error->entries->path)));
}

static void a_megabyte_is_the_most(void **state)
{
    struct arena *arena = harness_arena(state);
    struct document *document = NULL;
    char *text = arena_alloc(arena, LIMIT_JSON_BYTES_MAX + 2);
    memset(text, ' ', LIMIT_JSON_BYTES_MAX + 1);
    text[0] = '1';
    assert_null(parse(arena, text, LIMIT_JSON_BYTES_MAX, &document));
    struct error *error = parse(arena, text, LIMIT_JSON_BYTES_MAX + 1, &document);
    assert_non_null(error);
    assert_string_equal(error->entries->code, "length");
}

/* A hundred thousand members: comparing each with each would take minutes. */
static void many_members_cost_a_sort_and_no_more(void **state)
{
    struct arena *arena = harness_arena(state);
    struct buffer text;
    buffer_init(&text, arena);
    buffer_add_char(&text, '{');
    size_t count = 0;
    for (; text.length < LIMIT_JSON_BYTES_MAX - 20; count++) {
        char member[20];
        buffer_add(&text, member, (size_t)snprintf(member, sizeof member, "\"%zx\":0,", count));
    }
    text.bytes[text.length - 1] = '}';
    struct document *document = NULL;
    int64_t begun = clock_monotonic();
    assert_null(parse(arena, text.bytes, text.length, &document));
    assert_int_equal(document_count(document), count);
    /* The same with one name twice, far apart. */
    text.length--;
    buffer_add_text(&text, ",\"0\":1}");
    struct error *error = parse(arena, text.bytes, text.length, &document);
    assert_non_null(error);
    assert_string_equal(error->entries->path, "0");
    assert_true(clock_monotonic() - begun < INT64_C(20000000));
}

static void many_duplicates_are_reported_up_to_the_limit(void **state)
{
    struct arena *arena = harness_arena(state);
    struct buffer text;
    buffer_init(&text, arena);
    buffer_add_char(&text, '{');
    for (int i = 0; i < 2 * LIMIT_VALIDATION_ENTRIES; i++)
        buffer_add_format(&text, "%s\"%d\":0,\"%d\":0", i == 0 ? "" : ",", i, i);
    buffer_add_char(&text, '}');
    struct document *document = NULL;
    struct error *error = parse(arena, text.bytes, text.length, &document);
    assert_non_null(error);
    assert_int_equal(error->entry_count, LIMIT_VALIDATION_ENTRIES);
}

/* Every cut of a valid text is refused or valid, and never read beyond (the sanitizer watches). */
static void cut_texts_are_never_read_beyond_their_end(void **state)
{
    struct arena *arena = harness_arena(state);
    static const char text[] = "{\"a\":[1.5e+3,true,false,null,"
                               "\"\\ud83d\\ude00\\n\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"],\"b\":{\"c\":-0}}";
    for (size_t length = 0; length < sizeof text - 1; length++) {
        struct document *document = NULL;
        assert_non_null(parse(arena, text, length, &document));
    }
    struct document *document = NULL;
    assert_null(parse(arena, text, sizeof text - 1, &document));
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(hostile_texts_are_refused_each_for_its_reason),
    HARNESS_TEST(what_the_standard_allows_passes),
    HARNESS_TEST(every_fault_that_can_be_told_is_told),
    HARNESS_TEST(names_with_faults_are_compared_all_the_same),
    HARNESS_TEST(the_message_names_the_byte),
    HARNESS_TEST(paths_in_the_answer_are_bounded_and_valid),
    HARNESS_TEST(a_megabyte_is_the_most),
    HARNESS_TEST(many_members_cost_a_sort_and_no_more),
    HARNESS_TEST(many_duplicates_are_reported_up_to_the_limit),
    HARNESS_TEST(cut_texts_are_never_read_beyond_their_end),
};
HARNESS_MODULE(document_scan, cases)
