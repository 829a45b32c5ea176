/* SPDX-License-Identifier: MIT */
/* Schema tables: every failing path at once, typed values, and replies that are what the table says. */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/id.h"
#include "base/secret.h"
#include "codec/document.h"
#include "http/schema.h"

struct inner {
    const char *name;
};

struct sample {
    const char *text;
    const char *email;
    const char *phone;
    const char *choice;
    struct secret secret;
    struct id id;
    bool flag;
    int64_t number;
    struct text_list words;
    const struct inner *inner;
};

static const struct schema_field inner_fields[] = {
    {.name = "name",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_REQUIRED,
     .minimum = 1,
     .maximum = 5,
     .offset = offsetof(struct inner, name)},
};
static const struct schema inner_schema = {.name = "Inner", SCHEMA_FIELDS(inner_fields), .size = sizeof(struct inner)};

static const struct schema_field fields[] = {
    {.name = "text",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_REQUIRED,
     .minimum = 1,
     .maximum = 5,
     .offset = offsetof(struct sample, text)},
    {.name = "email", .type = SCHEMA_EMAIL, .offset = offsetof(struct sample, email)},
    {.name = "phone", .type = SCHEMA_PHONE, .flags = SCHEMA_NULLABLE, .offset = offsetof(struct sample, phone)},
    {.name = "choice",
     .type = SCHEMA_CHOICE,
     .choices = "ab|a|bc",
     .fallback = "a",
     .offset = offsetof(struct sample, choice)},
    {.name = "secret", .type = SCHEMA_SECRET, .minimum = 1, .maximum = 8, .offset = offsetof(struct sample, secret)},
    {.name = "id", .type = SCHEMA_ID, .offset = offsetof(struct sample, id)},
    {.name = "flag", .type = SCHEMA_BOOLEAN, .fallback = "true", .offset = offsetof(struct sample, flag)},
    {.name = "number",
     .type = SCHEMA_INTEGER,
     .minimum = 1,
     .maximum = 100,
     .fallback = "25",
     .offset = offsetof(struct sample, number)},
    {.name = "words",
     .type = SCHEMA_TEXTS,
     .flags = SCHEMA_UNIQUE,
     .minimum = 1,
     .maximum = 3,
     .item_maximum = 4,
     .offset = offsetof(struct sample, words)},
    {.name = "inner", .type = SCHEMA_OBJECT, .schema = &inner_schema, .offset = offsetof(struct sample, inner)},
};
static const struct schema schema = {.name = "Sample", SCHEMA_FIELDS(fields), .size = sizeof(struct sample)};

static struct error *read_text(struct arena *arena, const char *json, struct sample **sample_out, uint64_t *present_out)
{
    struct document *document;
    struct validation validation;
    TRY(document_parse(arena, json, strlen(json), &document));
    validation_init(&validation, arena);
    *sample_out = schema_read(&schema, document, &validation, present_out);
    return validation.error;
}

static bool names(const struct error *error, const char *path, const char *code)
{
    for (const struct error_entry *entry = error->entries; entry != NULL; entry = entry->next)
        if (strcmp(entry->path, path) == 0 && strcmp(entry->code, code) == 0)
            return true;
    return false;
}

static void schema_fills_the_struct_and_the_fallbacks(void **state)
{
    struct arena *arena = harness_arena(state);
    struct sample *sample = NULL;
    uint64_t present = 0;
    assert_null(read_text(arena,
                          "{\"text\":\"h\xc3\xa9llo\",\"phone\":null,\"words\":[\"a\",\"b\"],\"secret\":\"s\","
                          "\"inner\":{\"name\":\"x\"},\"id\":\"0190f5fe-7c00-7a00-8000-000000000001\"}",
                          &sample, &present));
    assert_string_equal(sample->text, "h\xc3\xa9llo");
    assert_null(sample->phone);
    assert_string_equal(sample->choice, "a");
    assert_true(sample->flag);
    assert_int_equal(sample->number, 25);
    assert_int_equal(sample->words.count, 2);
    assert_string_equal(sample->inner->name, "x");
    assert_false(id_is_none(sample->id));
    assert_true(schema_has(&schema, present, "phone"));
    assert_false(schema_has(&schema, present, "email"));
}

static void schema_lists_every_failing_path_at_once(void **state)
{
    struct arena *arena = harness_arena(state);
    struct sample *sample = NULL;
    struct error *error =
        read_text(arena,
                  "{\"email\":\"nobody\",\"phone\":\"0441\",\"choice\":\"b\",\"secret\":\"123456789\","
                  "\"id\":\"X\",\"flag\":1,\"number\":101,\"words\":[\"a\",\"a\",7],\"inner\":{\"y\":1},"
                  "\"other\":null}",
                  &sample, NULL);
    assert_non_null(error);
    assert_int_equal(error->code, ERROR_REQUEST_INVALID);
    static const char *const expected[][2] = {
        {"text", "required"},      {"email", "format"},  {"phone", "format"},    {"choice", "choice"},
        {"secret", "length"},      {"id", "format"},     {"flag", "type"},       {"number", "range"},
        {"words[1]", "duplicate"}, {"words[2]", "type"}, {"inner.y", "unknown"}, {"inner.name", "required"},
        {"other", "unknown"},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        if (!names(error, expected[i][0], expected[i][1]))
            fail_msg("%s %s is missing", expected[i][0], expected[i][1]);
    assert_int_equal(error->entry_count, sizeof expected / sizeof *expected);
}

static void schema_reads_whole_numbers_within_their_bounds(void **state)
{
    struct arena *arena = harness_arena(state);
    static const struct {
        const char *json;
        int64_t number; /* 0: refused */
        const char *code;
    } cases[] = {{"1", 1, NULL},       {"42", 42, NULL},    {"100", 100, NULL},  {"7.0", 7, NULL},
                 {"0", 0, "range"},    {"101", 0, "range"}, {"-5", 0, "range"},  {"1.5", 0, "type"},
                 {"\"7\"", 0, "type"}, {"true", 0, "type"}, {"null", 0, "type"}, {"1e300", 0, "type"},
                 {"[]", 0, "type"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sample *sample = NULL;
        const char *text = arena_format(arena, "{\"text\":\"x\",\"number\":%s}", cases[i].json);
        struct error *error = read_text(arena, text, &sample, NULL);
        if (cases[i].code == NULL) {
            assert_null(error);
            assert_int_equal(sample->number, cases[i].number);
        } else if (error == NULL || !names(error, "number", cases[i].code)) {
            fail_msg("%s is not refused as %s", cases[i].json, cases[i].code);
        }
    }
}

static void schema_refuses_null_where_it_is_not_said(void **state)
{
    struct arena *arena = harness_arena(state);
    struct sample *sample = NULL;
    struct error *error =
        read_text(arena, "{\"text\":null,\"flag\":null,\"words\":null,\"inner\":null}", &sample, NULL);
    assert_non_null(error);
    assert_true(names(error, "text", "type") && names(error, "flag", "type") && names(error, "words", "type") &&
                names(error, "inner", "type"));
}

static void schema_refuses_blank_and_control_characters(void **state)
{
    struct arena *arena = harness_arena(state);
    struct sample *sample = NULL;
    assert_true(names(read_text(arena, "{\"text\":\"   \"}", &sample, NULL), "text", "length"));
    assert_true(names(read_text(arena, "{\"text\":\"a\\nb\"}", &sample, NULL), "text", "format"));
    assert_true(names(read_text(arena, "{\"text\":\"a\\u0085\"}", &sample, NULL), "text", "format"));
    assert_true(names(read_text(arena, "{\"text\":\"abcdef\"}", &sample, NULL), "text", "length"));
}

static void schema_takes_names_in_which_nothing_makes_a_link(void **state)
{
    static const struct schema_field name_fields[] = {
        {.name = "name", .type = SCHEMA_NAME, .minimum = 1, .maximum = 5, .offset = offsetof(struct inner, name)}};
    static const struct schema name_schema = {
        .name = "Named", SCHEMA_FIELDS(name_fields), .size = sizeof(struct inner)};
    static const struct {
        const char *value;
        const char *code; /* NULL: taken */
    } cases[] = {{"Ægir", NULL},       {"O'N-B", NULL},        {"a:b", "format"},     {"a/b", "format"},
                 {"a\\\\b", "format"}, {"<b", "format"},       {"b>", "format"},      {"a@b", "format"},
                 {"a\\n", "format"},   {"\\u202ex", "format"}, {"abcdef", "length"},  {"abcde:", "length"},
                 {" ", "length"},      {"", "length"},         {"\\u200b", "format"}, {"\\u3164 ", "format"},
                 {"\\u200bx", NULL}};
    struct arena *arena = harness_arena(state);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct document *document;
        struct validation validation;
        const char *json = arena_format(arena, "{\"name\":\"%s\"}", cases[i].value);
        assert_null(document_parse(arena, json, strlen(json), &document));
        validation_init(&validation, arena);
        const struct inner *inner = schema_read(&name_schema, document, &validation, NULL);
        if (cases[i].code == NULL)
            assert_true(inner->name != NULL && (*cases[i].value == '\\' || strcmp(inner->name, cases[i].value) == 0));
        if ((validation.error == NULL) != (cases[i].code == NULL) ||
            (cases[i].code != NULL && !names(validation.error, "name", cases[i].code)))
            fail_msg("\"%s\" is not checked as it must be", cases[i].value);
    }
    struct buffer buffer;
    buffer_init(&buffer, arena);
    schema_describe(&buffer, &name_schema, true);
    assert_non_null(strstr(buffer.bytes, "\"minLength\":1,\"maxLength\":5"));
    assert_non_null(strstr(buffer.bytes, "\"pattern\":\"^ *[^ \\\\u0000-\\\\u001F:/\\\\\\\\<>@"));
}

static void schema_takes_only_an_object(void **state)
{
    struct arena *arena = harness_arena(state);
    struct sample *sample = NULL;
    static const char *const others[] = {"[]", "\"x\"", "1", "null", "true"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_true(names(read_text(arena, others[i], &sample, NULL), "", "type"));
}

static void query_is_split_and_read(void **state)
{
    struct arena *arena = harness_arena(state);
    struct schema_pair *pairs;
    size_t count;
    struct validation validation;
    validation_init(&validation, arena);
    assert_null(schema_split_query(arena, "text=a+b%21&number=7&flag=0&words=x&words=y", &pairs, &count));
    struct sample *sample = schema_read_pairs(&schema, pairs, count, &validation, NULL);
    assert_null(validation.error);
    assert_string_equal(sample->text, "a b!");
    assert_int_equal(sample->number, 7);
    assert_false(sample->flag);
    assert_int_equal(sample->words.count, 2);
}

static void query_faults_are_named(void **state)
{
    struct arena *arena = harness_arena(state);
    struct schema_pair *pairs;
    size_t count;
    struct validation validation;
    validation_init(&validation, arena);
    assert_null(schema_split_query(arena, "text=a&text=b&number=x&nope=1&flag=maybe", &pairs, &count));
    (void)schema_read_pairs(&schema, pairs, count, &validation, NULL);
    assert_true(names(validation.error, "text", "duplicate") && names(validation.error, "number", "type") &&
                names(validation.error, "nope", "unknown") && names(validation.error, "flag", "type"));
    assert_int_equal(schema_split_query(arena, "a=%zz", &pairs, &count)->code, ERROR_REQUEST_MALFORMED);
    assert_int_equal(schema_split_query(arena, "a=%ff", &pairs, &count)->code, ERROR_REQUEST_MALFORMED);
    assert_int_equal(schema_split_query(arena, "a=%00", &pairs, &count)->code, ERROR_REQUEST_MALFORMED);
}

static void phones_are_checked(void **state)
{
    (void)state;
    assert_true(schema_phone_is_good("+441632960123"));
    static const char *const bad[] = {"",         "+",     "441632960123",      "+0441632960",
                                      "+44 1632", "+4416", "+1234567890123456", "+44163296012x"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (schema_phone_is_good(bad[i]))
            fail_msg("%s should not pass", bad[i]);
}

static void what_is_written_is_escaped_and_never_a_secret(void **state)
{
    struct arena *arena = harness_arena(state);
    struct buffer buffer;
    struct inner inner = {.name = "q\"\n"};
    const char *words[] = {"a", "\xff"};
    struct sample sample = {
        .text = "t", .secret = secret_of("hunter2"), .number = 5, .words = {words, 2}, .inner = &inner};
    buffer_init(&buffer, arena);
    schema_write(&buffer, &schema, &sample);
    assert_string_equal(
        buffer.bytes,
        "{\"text\":\"t\",\"email\":null,\"phone\":null,\"choice\":null,\"secret\":null,\"id\":null,"
        "\"flag\":false,\"number\":5,\"words\":[\"a\",\"\xef\xbf\xbd\"],\"inner\":{\"name\":\"q\\\"\\n\"}}");
}

static void what_members_exclude_and_how_long_addresses_are_is_described(void **state)
{
    static const struct schema_field two_fields[] = {
        {.name = "all", .type = SCHEMA_BOOLEAN},
        {.name = "others", .type = SCHEMA_BOOLEAN, .unless = "all"},
        {.name = "email", .type = SCHEMA_EMAIL},
    };
    static const struct schema two = {.name = "Two", SCHEMA_FIELDS(two_fields), .size = 1};
    struct buffer buffer;
    buffer_init(&buffer, harness_arena(state));
    schema_describe(&buffer, &two, true);
    assert_non_null(strstr(buffer.bytes,
                           "\"not\":{\"properties\":{\"others\":{\"const\":true},\"all\":{\"const\":true}},"
                           "\"required\":[\"others\",\"all\"]}"));
    assert_non_null(strstr(buffer.bytes, "\"format\":\"idn-email\",\"maxLength\":254"));
    buffer_init(&buffer, harness_arena(state));
    schema_describe(&buffer, &two, false);
    assert_null(strstr(buffer.bytes, "\"not\""));
    assert_null(strstr(buffer.bytes, "maxLength"));
}

static void descriptions_are_json(void **state)
{
    struct arena *arena = harness_arena(state);
    struct buffer buffer;
    struct document *document;
    buffer_init(&buffer, arena);
    schema_describe(&buffer, &schema, true);
    assert_null(document_parse(arena, buffer.bytes, buffer.length, &document));
    const struct document *properties = document_member(document, "properties");
    assert_int_equal(document_count(properties), sizeof fields / sizeof *fields);
    int64_t maximum = 0;
    assert_true(document_integer(document_member(document_member(properties, "number"), "maximum"), &maximum));
    assert_int_equal(maximum, 100);
    assert_int_equal(document_count(document_member(document, "required")), 1);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(schema_fills_the_struct_and_the_fallbacks),
    HARNESS_TEST(schema_lists_every_failing_path_at_once),
    HARNESS_TEST(schema_reads_whole_numbers_within_their_bounds),
    HARNESS_TEST(schema_refuses_null_where_it_is_not_said),
    HARNESS_TEST(schema_refuses_blank_and_control_characters),
    HARNESS_TEST(schema_takes_names_in_which_nothing_makes_a_link),
    HARNESS_TEST(schema_takes_only_an_object),
    HARNESS_TEST(query_is_split_and_read),
    HARNESS_TEST(query_faults_are_named),
    HARNESS_TEST(phones_are_checked),
    HARNESS_TEST(what_is_written_is_escaped_and_never_a_secret),
    HARNESS_TEST(what_members_exclude_and_how_long_addresses_are_is_described),
    HARNESS_TEST(descriptions_are_json),
};
HARNESS_MODULE(schema, cases)
