/* SPDX-License-Identifier: MIT */
/* What a document's values come out as. What is refused before is in test_document_scan.c. */
#include "codec/document.h"

#include <cjson/cJSON.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "harness.h"

static const struct document *good(struct arena *arena, const char *text)
{
    struct document *document = NULL;
    if (document_parse(arena, text, strlen(text), &document) != NULL)
        fail_msg("refused: %s", text);
    return document;
}

static void values_come_out_as_they_were_sent(void **state)
{
    struct arena *arena = harness_arena(state);
    const struct document *document =
        good(arena, "{\"text\":\"a\\u00e9\\ud83d\\ude00\\n\",\"number\":-12,\"yes\":true,\"no\":false,\"none\":null,"
                    "\"list\":[1,\"two\",[]],\"object\":{\"x\":1},\"\":7}");
    assert_int_equal(document_kind(document), DOCUMENT_OBJECT);
    assert_int_equal(document_count(document), 8);
    assert_string_equal(document_text(document_member(document, "text")), "a\xc3\xa9\xf0\x9f\x98\x80\n");
    int64_t number = 0;
    assert_true(document_integer(document_member(document, "number"), &number));
    assert_int_equal(number, -12);
    assert_true(document_integer(document_member(document, ""), &number));
    assert_int_equal(number, 7);
    bool flag = false;
    assert_true(document_boolean(document_member(document, "yes"), &flag));
    assert_true(flag);
    assert_true(document_boolean(document_member(document, "no"), &flag));
    assert_false(flag);
    assert_int_equal(document_kind(document_member(document, "none")), DOCUMENT_NULL);
    const struct document *list = document_member(document, "list");
    assert_int_equal(document_kind(list), DOCUMENT_ARRAY);
    assert_int_equal(document_count(list), 3);
    const struct document *element = document_first(list);
    assert_null(document_name(element));
    assert_int_equal(document_kind(element), DOCUMENT_NUMBER);
    element = document_next(element);
    assert_string_equal(document_text(element), "two");
    element = document_next(element);
    assert_int_equal(document_kind(element), DOCUMENT_ARRAY);
    assert_null(document_first(element));
    assert_null(document_next(element));
    static const char *const names[] = {"text", "number", "yes", "no", "none", "list", "object", ""};
    size_t i = 0;
    for (const struct document *member = document_first(document); member != NULL; member = document_next(member))
        assert_string_equal(document_name(member), names[i++]);
    assert_int_equal(i, 8);
}

static void names_are_matched_exactly(void **state)
{
    struct arena *arena = harness_arena(state);
    const struct document *document = good(arena, "{\"Name\":1,\"name \":2,\"list\":[{\"name\":3}]}");
    assert_null(document_member(document, "name"));
    assert_null(document_member(document, "NAME"));
    assert_non_null(document_member(document, "Name"));
    assert_null(document_member(document_member(document, "list"), "name"));
    assert_null(document_member(NULL, "name"));
}

static void getters_refuse_other_kinds(void **state)
{
    struct arena *arena = harness_arena(state);
    static const char *const texts[] = {"null", "true", "1", "\"1\"", "[1]", "{\"a\":1}"};
    static const enum document_kind kinds[] = {DOCUMENT_NULL, DOCUMENT_BOOLEAN, DOCUMENT_NUMBER,
                                               DOCUMENT_TEXT, DOCUMENT_ARRAY,   DOCUMENT_OBJECT};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const struct document *value = good(arena, texts[i]);
        int64_t number = 77;
        bool flag = true;
        assert_int_equal(document_kind(value), kinds[i]);
        assert_int_equal(document_text(value) != NULL, kinds[i] == DOCUMENT_TEXT);
        assert_int_equal(document_integer(value, &number), kinds[i] == DOCUMENT_NUMBER);
        assert_int_equal(number, kinds[i] == DOCUMENT_NUMBER ? 1 : 77);
        assert_int_equal(document_boolean(value, &flag), kinds[i] == DOCUMENT_BOOLEAN);
        assert_int_equal(document_first(value) != NULL, kinds[i] == DOCUMENT_ARRAY || kinds[i] == DOCUMENT_OBJECT);
        assert_null(document_name(value));
    }
    int64_t number;
    bool flag;
    assert_null(document_text(NULL));
    assert_false(document_integer(NULL, &number));
    assert_false(document_boolean(NULL, &flag));
    assert_null(document_first(NULL));
    assert_null(document_next(NULL));
    assert_null(document_name(NULL));
    assert_int_equal(document_count(NULL), 0);
}

struct number {
    const char *text;
    bool is_integer;
    int64_t value;
};

static void integers_are_exact_or_refused(void **state)
{
    struct arena *arena = harness_arena(state);
    static const struct number numbers[] = {
        {"0", true, 0},
        {"-0", true, 0},
        {"5.0", true, 5},
        {"0.5e1", true, 5},
        {"1e3", true, 1000},
        {"9007199254740991", true, DOCUMENT_INTEGER_MAX},
        {"-9007199254740991", true, DOCUMENT_INTEGER_MIN},
        {"9007199254740992", false, 0},
        {"9007199254740993", false, 0},
        {"-9007199254740992", false, 0},
        {"9223372036854775807", false, 0},
        {"9223372036854775808", false, 0},
        {"18446744073709551616", false, 0},
        {"1.5", false, 0},
        {"-0.5", false, 0},
        {"1e-1", false, 0},
        {"1e400", false, 0},
        {"-1e400", false, 0},
        {"1e19", false, 0},
        {"1e-400", true, 0},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        int64_t value = 77;
        bool is_integer = document_integer(good(arena, numbers[i].text), &value);
        if (is_integer != numbers[i].is_integer || value != (is_integer ? numbers[i].value : 77))
            fail_msg("%s: %d %lld", numbers[i].text, is_integer, (long long)value);
    }
}

static size_t freed;
static size_t freed_with_password;

static void examine_and_free(void *memory)
{
    if (memory != NULL) {
        freed++;
        freed_with_password += memmem(memory, malloc_usable_size(memory), "hunter2", 7) != NULL;
    }
    free(memory);
}

/* A login's body holds a password, and the library's memory goes back to the heap as it is. */
static void texts_are_wiped_before_their_memory_is_freed(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    cJSON_Hooks hooks = {.malloc_fn = malloc, .free_fn = examine_and_free};
    cJSON_InitHooks(&hooks);
    freed = 0;
    freed_with_password = 0;
    (void)good(arena, "{\"a\":\"hunter2\",\"b\":[{\"c\":\"xx hunter2 xx\"},\"hunter2\"],\"d\":\"hunter2\"}");
    arena_free(&arena);
    cJSON_InitHooks(NULL);
    assert_true(freed > 8);
    assert_int_equal(freed_with_password, 0);
}

static const char *written(struct arena *arena, const char *text, int indent)
{
    struct buffer buffer;
    buffer_init(&buffer, arena);
    document_write(good(arena, text), indent, &buffer);
    return buffer.bytes;
}

static void what_is_written_is_what_was_read(void **state)
{
    static const char *const texts[] = {"null",
                                        "true",
                                        "-9007199254740991",
                                        "0.10000000000000001",
                                        "\"\\\" \\n\"",
                                        "{}",
                                        "[]",
                                        "{\"a\":[1,{\"b\":null}],\"\":false}"};
    struct arena *arena = harness_arena(state);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_string_equal(written(arena, texts[i], -1), texts[i]);
        assert_string_equal(written(arena, written(arena, texts[i], 0), -1), texts[i]);
    }
    /* Beyond what a number can be it stays so. */
    assert_string_equal(written(arena, "[1e400,-1e400]", -1), "[1e999,-1e999]");
    assert_string_equal(written(arena, "{\"a\":[1,{}]}", 0), "{\n  \"a\": [\n    1,\n    {}\n  ]\n}");
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(values_come_out_as_they_were_sent), HARNESS_TEST(names_are_matched_exactly),
    HARNESS_TEST(getters_refuse_other_kinds),        HARNESS_TEST(integers_are_exact_or_refused),
    HARNESS_TEST(what_is_written_is_what_was_read),  HARNESS_TEST(texts_are_wiped_before_their_memory_is_freed),
};
HARNESS_MODULE(document, cases)
