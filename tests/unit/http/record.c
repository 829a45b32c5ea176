/* SPDX-License-Identifier: MIT */
/* Records the events of the multipart parser for a body that is cut in every way. */
#include "record.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "harness.h"

static struct error *count_call(struct record *record)
{
    if (record->calls_left > 0 && --record->calls_left == 0)
        return record->failure;
    return NULL;
}

static void close_data(struct record *record)
{
    if (record->in_data)
        buffer_add_char(&record->events, '\n');
    record->in_data = false;
}

static struct error *on_begin(void *context, const struct part_header *header)
{
    struct record *record = context;
    close_data(record);
    buffer_add_format(&record->events, "begin [%s]", header->name);
    if (header->file_name != NULL)
        buffer_add_format(&record->events, " file [%s]", header->file_name);
    if (header->content_type != NULL)
        buffer_add_format(&record->events, " type [%s]", header->content_type);
    if (header->transfer_encoding != NULL)
        buffer_add_format(&record->events, " encoding [%s]", header->transfer_encoding);
    buffer_add_char(&record->events, '\n');
    return count_call(record);
}

static struct error *on_data(void *context, const void *bytes, size_t length)
{
    struct record *record = context;
    assert_true(length > 0);
    if (!record->in_data)
        buffer_add_text(&record->events, "data ");
    record->in_data = true;
    buffer_add(&record->events, bytes, length);
    return count_call(record);
}

static struct error *on_end(void *context)
{
    struct record *record = context;
    close_data(record);
    buffer_add_text(&record->events, "end\n");
    return count_call(record);
}

const struct multipart_handler record_handler = {on_begin, on_data, on_end};

static struct error *feed_copy(struct multipart *multipart, const char *bytes, size_t length)
{
    char *copy = malloc(length == 0 ? 1 : length);
    assert_non_null(copy);
    memcpy(copy, bytes, length);
    struct error *error = multipart_feed(multipart, copy, length);
    free(copy);
    return error;
}

static void add_outcome(struct buffer *events, const struct error *error)
{
    if (error != NULL)
        buffer_add_format(events, "%s: %s", error_code_text(error->code),
                          error->entry_count > 0 ? error->entries->message : "");
    else
        buffer_add_text(events, "good");
}

struct buffer record_run(struct arena *arena, const char *boundary, const char *body, size_t length, const size_t *cuts,
                         size_t cut_count)
{
    struct record record = {.calls_left = -1};
    buffer_init(&record.events, arena);
    struct multipart *multipart = multipart_new(arena, boundary, &record_handler, &record);
    struct error *error = NULL;
    size_t from = 0;
    for (size_t i = 0; i <= cut_count && error == NULL; i++) {
        size_t to = i < cut_count ? cuts[i] : length;
        error = feed_copy(multipart, body + from, to - from);
        from = to;
    }
    if (error == NULL)
        error = multipart_finish(multipart);
    close_data(&record);
    add_outcome(&record.events, error);
    return record.events;
}

void record_assert_same(const struct buffer *a, const struct buffer *b)
{
    if (a->length != b->length || memcmp(a->bytes, b->bytes, a->length) != 0)
        fail_msg("the events differ:\n%s\n--- and ---\n%s", a->bytes, b->bytes);
}

struct buffer record_every_way(struct arena *arena, const char *body, size_t length)
{
    struct buffer whole = record_run(arena, RECORD_BOUNDARY, body, length, NULL, 0);
    size_t *bytewise = arena_array(arena, length + 1, sizeof *bytewise);
    for (size_t i = 0; i < length; i++)
        bytewise[i] = i + 1;
    struct arena *scratch = arena_new();
    struct buffer single = record_run(scratch, RECORD_BOUNDARY, body, length, bytewise, length);
    record_assert_same(&whole, &single);
    for (size_t cut = 0; cut <= length; cut++) {
        arena_reset(scratch);
        struct buffer halves = record_run(scratch, RECORD_BOUNDARY, body, length, &cut, 1);
        record_assert_same(&whole, &halves);
    }
    arena_free(&scratch);
    return whole;
}

void record_check_all(void **state, const struct example *examples, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct buffer events = record_every_way(harness_arena(state), examples[i].body, strlen(examples[i].body));
        if (strcmp(events.bytes, examples[i].events) != 0)
            fail_msg("body:\n%s\ngives:\n%s\nnot:\n%s", examples[i].body, events.bytes, examples[i].events);
    }
}
