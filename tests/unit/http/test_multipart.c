/* SPDX-License-Identifier: MIT */
/* Multipart bodies: parsed whatever the size of the pieces in which they come. */
#include "http/multipart.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/text.h"
#include "harness.h"
#include "record.h"

static void parts_are_read_as_sent(void **state)
{
    static const struct example examples[] = {
        {A("hello"), GIVES("a", "hello")},
        {HEAD("; name=a") "1\r\n" ONE("; name=\"b\"", "2"), "begin [a]\ndata 1\nend\nbegin [b]\ndata 2\nend\ngood"},
        /* empty: with and without a line end of its own */
        {A(""), "begin [a]\nend\ngood"},
        {HEAD("; name=a") "--XbX--\r\n", "begin [a]\nend\ngood"},
        {HEAD("; name=a") "--XbX\r\n"
                          "Content-Disposition: form-data; name=b\r\n\r\n--XbX--",
         "begin [a]\nend\nbegin [b]\nend\ngood"},
        /* the last line end may be missing, an empty line may come first, there may be no part at all */
        {HEAD("; name=a") "x\r\n--XbX--", GIVES("a", "x")},
        {"\r\n" A("x"), GIVES("a", "x")},
        {"--XbX--\r\n", "good"},
        {"--XbX--", "good"},
        /* blanks behind a boundary (RFC 2046) */
        {"--XbX \t \r\nContent-Disposition: form-data; name=a\r\n\r\nx\r\n--XbX--\r\n", GIVES("a", "x")},
        /* the header's spelling */
        {"--XbX\r\nCONTENT-disposition:Form-Data ;\tNAME=\"a\" \t\r\n\r\nx\r\n--XbX--", GIVES("a", "x")},
        {"--XbX\r\ncontent-type: text/plain; charset=x \r\nX-Other: 1\r\nX-Other: 2\r\n"
         "Content-Transfer-Encoding: base64\r\nContent-Disposition: form-data; name=\"a\"; "
         "x=1\r\n\r\nx\r\n--XbX--",
         "begin [a] type [text/plain; charset=x] encoding [base64]\ndata x\nend\ngood"},
        {"--XbX\r\nContent-Type:\r\nContent-Transfer-Encoding:\r\n"
         "Content-Disposition: form-data; name=\"a\";\r\n\r\nx\r\n--XbX--",
         "begin [a] type [] encoding []\ndata x\nend\ngood"},
        {ONE("; name=\"\"", "x"), GIVES("", "x")},
    };
    CHECK_ALL(state, examples);
}

static void what_only_looks_like_a_boundary_is_content(void **state)
{
    static const struct example examples[] = {
        {A("\r\n--XbXa"), GIVES("a", "\r\n--XbXa")},
        {A("\r\n--XbX-a"), GIVES("a", "\r\n--XbX-a")},
        {A("\r\n--XbX-\r\n--XbX-"), GIVES("a", "\r\n--XbX-\r\n--XbX-")},
        {A("\r\n--Xb"), GIVES("a", "\r\n--Xb")},
        {A("\r\n--XbY\r\n--"), GIVES("a", "\r\n--XbY\r\n--")},
        {A("\r\n-\r\n--Xb\r\n--XbXX"), GIVES("a", "\r\n-\r\n--Xb\r\n--XbXX")},
        {A("\r\r\n\r\n\r\r\n"), GIVES("a", "\r\r\n\r\n\r\r\n")},
        {A("\r"), GIVES("a", "\r")},
        {A("\r\n"), GIVES("a", "\r\n")},
        {A("--XbX"), "begin [a]\nend\n" BAD("it ends before its closing boundary")},
        {A("--XbXa"), GIVES("a", "--XbXa")},
        {A("--XbX-"), GIVES("a", "--XbX-")},
        {A("-"), GIVES("a", "-")},
        {A("\n--XbX\n"), GIVES("a", "\n--XbX\n")},
        {A("\r--XbX--"), GIVES("a", "\r--XbX--")},
        {A("x--XbX--"), GIVES("a", "x--XbX--")},
        {A("\r\n--\x80"), GIVES("a", "\r\n--\x80")},
        {A("\r\n--XbX\x80"), GIVES("a", "\r\n--XbX\x80")},
    };
    CHECK_ALL(state, examples);
}

static void framing_faults_are_refused(void **state)
{
    static const struct example examples[] = {
        {"", BAD("it ends before its closing boundary")},
        {"--XbX", BAD("it ends before its closing boundary")},
        {"--XbX\r\n", BAD("it ends before its closing boundary")},
        {HEAD("; name=a"), "begin [a]\n" BAD("it ends before its closing boundary")},
        {HEAD("; name=a") "x", "begin [a]\ndata x\n" BAD("it ends before its closing boundary")},
        {HEAD("; name=a") "x\r\n--XbX", "begin [a]\ndata x\n" BAD("it ends before its closing boundary")},
        {HEAD("; name=a") "x\r\n--XbX-", "begin [a]\ndata x\n" BAD("it ends before its closing boundary")},
        {HEAD("; name=a") "x\r\n--XbX--\r", "begin [a]\ndata x\nend\n" BAD("it ends before its closing boundary")},
        {"preamble\r\n" A("x"), BAD("there are bytes before its first boundary")},
        {"\r\n\r\n" A("x"), BAD("there are bytes before its first boundary")},
        {"\n" A("x"), BAD("there are bytes before its first boundary")},
        {"--XbXa" A("x"), BAD("there are bytes before its first boundary")},
        {"-" A("x"), BAD("there are bytes before its first boundary")},
        {"--Xbx\r\n", BAD("there are bytes before its first boundary")},
        {A("x") "\r\n", "begin [a]\ndata x\nend\n" BAD("there are bytes after its closing boundary")},
        {A("x") "x", "begin [a]\ndata x\nend\n" BAD("there are bytes after its closing boundary")},
        {"--XbX-- ", BAD("there are bytes after its closing boundary")},
        {"--XbX--\n", BAD("there are bytes after its closing boundary")},
        {"--XbX--\rx", BAD("there are bytes after its closing boundary")},
        {"--XbX--x", BAD("there are bytes after its closing boundary")},
        {A("x") A("y"), "begin [a]\ndata x\nend\n" BAD("there are bytes after its closing boundary")},
        {"--XbX\nContent-Disposition: form-data; name=a\n\nx\n--XbX--\n",
         BAD("a boundary's line holds more than the boundary")},
        {"--XbX\rx", BAD("a boundary's line does not end in CR LF")},
        {"--XbX \n", BAD("a boundary's line holds more than the boundary")},
        {"--XbX x\r\n", BAD("a boundary's line holds more than the boundary")},
        {HEAD("; name=a") "x\r\n--XbX\ny", "begin [a]\ndata x\n" BAD("a boundary's line holds more than the boundary")},
        {HEAD("; name=a") "x\r\n--XbX\x7fy",
         "begin [a]\ndata x\n" BAD("a boundary's line holds more than the boundary")},
        {"--XbX                                                                        \r\n",
         BAD("a boundary's line holds more than the boundary")},
    };
    CHECK_ALL(state, examples);
}

static void there_may_be_just_so_many_parts(void **state)
{
    struct arena *arena = harness_arena(state);
    for (size_t parts = LIMIT_PARTS; parts <= LIMIT_PARTS + 1; parts++) {
        struct buffer body;
        buffer_init(&body, arena);
        for (size_t i = 0; i < parts; i++)
            buffer_add_text(&body, "--XbX\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n");
        buffer_add_text(&body, "--XbX--\r\n");
        struct record record = {.calls_left = -1};
        buffer_init(&record.events, arena);
        struct multipart *multipart = multipart_new(arena, RECORD_BOUNDARY, &record_handler, &record);
        struct error *error = multipart_feed(multipart, body.bytes, body.length);
        assert_int_equal(multipart_count(multipart), LIMIT_PARTS);
        if (parts == LIMIT_PARTS) {
            assert_null(error);
            assert_null(multipart_finish(multipart));
            continue;
        }
        assert_int_equal(error->code, ERROR_REQUEST_INVALID);
        assert_string_equal(error->entries->code, "tooMany");
        assert_ptr_equal(multipart_finish(multipart), error);
    }
}

static void an_error_of_the_handler_ends_it(void **state)
{
    struct arena *arena = harness_arena(state);
    static const char body[] = HEAD("; name=a") "x\r\n" ONE("; name=\"b\"", "y");
    static const char *const seen[] = {
        "begin [a]\n",
        "begin [a]\ndata x",
        "begin [a]\ndata x\nend\n",
        "begin [a]\ndata x\nend\nbegin [b]\n",
        "begin [a]\ndata x\nend\nbegin [b]\ndata y",
        "begin [a]\ndata x\nend\nbegin [b]\ndata y\nend\n",
    };
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++) {
        struct record record = {.calls_left = (int)i + 1, .failure = error_plain(arena, ERROR_STORAGE_FULL)};
        buffer_init(&record.events, arena);
        struct multipart *multipart = multipart_new(arena, RECORD_BOUNDARY, &record_handler, &record);
        assert_ptr_equal(multipart_feed(multipart, body, sizeof body - 1), record.failure);
        assert_string_equal(record.events.bytes, seen[i]);
        assert_ptr_equal(multipart_feed(multipart, "z", 1), record.failure);
        assert_ptr_equal(multipart_finish(multipart), record.failure);
        assert_string_equal(record.events.bytes, seen[i]);
    }
}

static void every_size_and_look_alike_at_a_block_edge_survives(void **state)
{
    struct arena *arena = harness_arena(state);
    static const char boundary[] = "----WebKitFormBoundary7MA4YWxkTrZu0gW";
    static const char alike[] = "\r\n------WebKitFormBoundary7MA4YWxkTrZu0gX";
    struct harness_random random = {.state = 42};
    struct arena *scratch = arena_new();
    char *content = arena_alloc(arena, 2 * LIMIT_BLOCK_BYTES);
    for (size_t i = 0; i < 2 * LIMIT_BLOCK_BYTES; i++)
        content[i] = (char)harness_random_next(&random);
    for (size_t size = 0; size < 500; size++) {
        arena_reset(scratch);
        /* below 300: every small size; above: the look-alike wanders over the edge of the first block */
        size_t length = size < 300 ? size : LIMIT_BLOCK_BYTES + 300;
        char *sent = arena_copy(scratch, content, length);
        if (size >= 300)
            memcpy(sent + LIMIT_BLOCK_BYTES - size + 280, alike, sizeof alike - 1);
        struct buffer body;
        buffer_init(&body, scratch);
        buffer_add_format(&body, "--%s\r\nContent-Disposition: form-data; name=f\r\n\r\n", boundary);
        size_t start = body.length;
        buffer_add(&body, sent, length);
        buffer_add_format(&body, "\r\n--%s--\r\n", boundary);
        size_t cuts[] = {start, start + length / 2, start + (length < LIMIT_BLOCK_BYTES ? length : LIMIT_BLOCK_BYTES)};
        struct buffer events = record_run(scratch, boundary, body.bytes, body.length, cuts, 3);
        struct buffer wanted;
        buffer_init(&wanted, scratch);
        buffer_add_text(&wanted, length == 0 ? "begin [f]\n" : "begin [f]\ndata ");
        buffer_add(&wanted, sent, length);
        buffer_add_text(&wanted, length == 0 ? "end\ngood" : "\nend\ngood");
        record_assert_same(&events, &wanted);
    }
    arena_free(&scratch);
}

static struct error *drop_begin(void *context, const struct part_header *header)
{
    (void)context;
    (void)header;
    return NULL;
}

static struct error *drop_data(void *context, const void *bytes, size_t length)
{
    (void)bytes;
    *(size_t *)context += length;
    return NULL;
}

static struct error *drop_end(void *context)
{
    (void)context;
    return NULL;
}

static void memory_stays_constant(void **state)
{
    static const struct multipart_handler drop = {drop_begin, drop_data, drop_end};
    struct arena *arena = harness_arena(state);
    size_t got = 0;
    struct multipart *multipart = multipart_new(arena, RECORD_BOUNDARY, &drop, &got);
    assert_null(multipart_feed(multipart, HEAD("; name=a"), strlen(HEAD("; name=a"))));
    char *block = arena_alloc(arena, LIMIT_BLOCK_BYTES);
    memset(block, '\r', LIMIT_BLOCK_BYTES); /* each of them could start a delimiter */
    size_t used = arena_used(arena);
    for (int i = 0; i < 64; i++)
        assert_null(multipart_feed(multipart, block, LIMIT_BLOCK_BYTES));
    assert_int_equal(arena_used(arena), used);
    assert_int_equal(got, 64 * LIMIT_BLOCK_BYTES - 1); /* the last one is held back */
}

/* What bodies are thrown together from: what the parser knows, so that most go wrong somewhere deep. */
static const char *const scraps[] = {
    "--XbX",
    "--XbX\r\n",
    "\r\n--XbX\r\n",
    "\r\n--XbX--",
    "\r\n--XbX--\r\n",
    "--",
    "\r\n",
    "\r",
    "\n",
    "X",
    "b",
    "Content-Disposition: form-data; name=\"a\"\r\n\r\n",
    "Content-Disposition: form-data; name=\"f\"; ",
    "filename=\"x\"\r\n\r\n",
    "Content-Type: text/plain\r\n",
    "filename*=UTF-8''%e2%82%ac",
    "\xc3\xa4",
    "\xff",
    " ",
    "\\\"",
    "\"",
    ";",
    "%22",
    "data",
    "\r\n--Xb",
    "\r\n--XbXX",
    "\r\n\r\n",
    "\t",
    "=",
    ":",
};

/* A body of scraps, three times out of four with a head and with an end. */
static struct buffer random_body(struct arena *arena, struct harness_random *random)
{
    struct buffer body;
    buffer_init(&body, arena);
    if (harness_random_below(random, 4) != 0)
        buffer_add_text(&body, HEAD("; name=a"));
    for (uint32_t count = harness_random_below(random, 12); count > 0; count--)
        buffer_add_text(&body, scraps[harness_random_below(random, sizeof scraps / sizeof *scraps)]);
    if (harness_random_below(random, 4) != 0)
        buffer_add_text(&body, "\r\n--XbX--\r\n");
    return body;
}

static void random_bodies_do_not_depend_on_the_cuts(void **state)
{
    (void)state;
    struct harness_random random = {.state = 7578};
    struct arena *scratch = arena_new();
    size_t good = 0;
    for (int i = 0; i < 20000; i++) {
        arena_reset(scratch);
        struct buffer body = random_body(scratch, &random);
        struct buffer whole = record_run(scratch, RECORD_BOUNDARY, body.bytes, body.length, NULL, 0);
        for (int way = 0; way < 4; way++) {
            size_t cuts[8];
            size_t from = 0;
            for (size_t c = 0; c < 8; c++)
                cuts[c] = from += harness_random_below(&random, (uint32_t)(body.length - from) / 2 + 1);
            struct buffer pieces = record_run(scratch, RECORD_BOUNDARY, body.bytes, body.length, cuts, 8);
            record_assert_same(&whole, &pieces);
        }
        good += whole.length >= 4 && strcmp(whole.bytes + whole.length - 4, "good") == 0;
    }
    arena_free(&scratch);
    assert_true(good > 2000); /* the scraps do make bodies that hold */
}

static void an_error_says_what_is_wrong(void **state)
{
    struct arena *arena = harness_arena(state);
    struct record record = {.calls_left = -1};
    buffer_init(&record.events, arena);
    struct multipart *multipart = multipart_new(arena, RECORD_BOUNDARY, &record_handler, &record);
    static const char body[] = HEAD("; name=a") "x\r\n--XbX\r\nno field\r\n\r\n";
    struct error *error = multipart_feed(multipart, body, sizeof body - 1);
    assert_string_equal(error->message, "The multipart body cannot be read: a line of a part's header is not a field. "
                                        "Send it as RFC 7578 describes.");
    assert_non_null(strstr(error->detail, "part 2"));
    assert_string_equal(error->entries->path, "");
    assert_string_equal(error->entries->code, "multipart");
    assert_non_null(strstr(error->stack, "multipart_feed"));
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(parts_are_read_as_sent),          HARNESS_TEST(what_only_looks_like_a_boundary_is_content),
    HARNESS_TEST(framing_faults_are_refused),      HARNESS_TEST(there_may_be_just_so_many_parts),
    HARNESS_TEST(an_error_of_the_handler_ends_it), HARNESS_TEST(every_size_and_look_alike_at_a_block_edge_survives),
    HARNESS_TEST(memory_stays_constant),           HARNESS_TEST(random_bodies_do_not_depend_on_the_cuts),
    HARNESS_TEST(an_error_says_what_is_wrong),
};
HARNESS_MODULE(multipart, cases)
