/* SPDX-License-Identifier: MIT */
/* What the guard of a FastCGI connection lets through, what it answers itself, and where it cuts. */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/text.h"
#include "http/fastcgi_guard_int.h"

enum { BEGIN = 1, ABORT = 2, PARAMS = 4, STDIN = 5, DATA = 8, GET_VALUES = 9 };

static void add_record(struct buffer *to, int type, int request, const void *content, size_t length, size_t padding)
{
    const unsigned char head[FASTCGI_HEAD_BYTES] = {1,
                                                    (unsigned char)type,
                                                    0,
                                                    (unsigned char)request,
                                                    (unsigned char)(length >> 8),
                                                    (unsigned char)length,
                                                    (unsigned char)padding};
    static const unsigned char nothing[256];
    buffer_add(to, head, sizeof head);
    buffer_add(to, content, length);
    buffer_add(to, nothing, padding);
}

static void add_begin(struct buffer *to, size_t padding)
{
    add_record(to, BEGIN, 1, "\0\1\1\0\0\0\0", 8, padding);
}

static void add_pair(struct buffer *to, const char *name, size_t name_length, const char *value, size_t value_length)
{
    const size_t lengths[] = {name_length, value_length};
    for (size_t i = 0; i < 2; i++) {
        const unsigned char four[4] = {(unsigned char)(lengths[i] >> 24 | 0x80), (unsigned char)(lengths[i] >> 16),
                                       (unsigned char)(lengths[i] >> 8), (unsigned char)lengths[i]};
        if (lengths[i] < 128)
            buffer_add(to, &four[3], 1);
        else
            buffer_add(to, four, 4);
    }
    buffer_add(to, name, name_length);
    buffer_add(to, value, value_length);
}

/* A request with a long value, a body, and so much padding behind each record. */
static struct buffer request(struct arena *arena, size_t padding)
{
    static char value[300];
    struct buffer pairs;
    struct buffer all;
    buffer_init(&pairs, arena);
    buffer_init(&all, arena);
    memset(value, 'v', sizeof value);
    add_pair(&pairs, "REQUEST_METHOD", 14, "GET", 3);
    add_pair(&pairs, "HTTP_X", 6, value, sizeof value);
    add_pair(&pairs, "EMPTY", 5, "", 0);
    add_begin(&all, padding);
    add_record(&all, PARAMS, 1, pairs.bytes, 40, padding);
    add_record(&all, PARAMS, 1, pairs.bytes + 40, pairs.length - 40, padding);
    add_record(&all, PARAMS, 1, "", 0, padding);
    add_record(&all, STDIN, 1, "a\0body", 6, padding);
    add_record(&all, STDIN, 1, "", 0, padding);
    return all;
}

/* Gives the bytes in pieces of `piece`; what goes on. */
static struct buffer pass(struct arena *arena, struct fastcgi_guard *guard, const struct buffer *sent, size_t piece)
{
    struct buffer passed;
    unsigned char *read_bytes = arena_alloc(arena, piece + FASTCGI_HEAD_BYTES);
    buffer_init(&passed, arena);
    for (size_t at = 0; at < sent->length; at += piece) {
        size_t length = sent->length - at < piece ? sent->length - at : piece;
        memcpy(read_bytes + fastcgi_guard_held(guard), sent->bytes + at, length);
        size_t good = fastcgi_guard_pass(guard, read_bytes, length);
        buffer_add(&passed, read_bytes, good);
    }
    return passed;
}

static void assert_same(const struct buffer *a, const struct buffer *b)
{
    assert_int_equal(a->length, b->length);
    assert_memory_equal(a->bytes, b->bytes, a->length);
}

static void a_request_passes_as_it_is_and_without_its_padding(void **state)
{
    struct arena *arena = harness_arena(state);
    static const size_t pieces[] = {1, 2, 3, 7, 8, 9, 64, 100000};
    static const size_t paddings[] = {0, 1, 7, 255};
    struct buffer plain = request(arena, 0);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
        for (size_t k = 0; k < sizeof paddings / sizeof *paddings; k++) {
            struct fastcgi_guard guard;
            fastcgi_guard_start(&guard);
            struct buffer sent = request(arena, paddings[k]);
            struct buffer passed = pass(arena, &guard, &sent, pieces[i]);
            assert_same(&passed, &plain);
            assert_int_equal(guard.stage, FASTCGI_STAGE_ENDED);
            assert_true(guard.begun && guard.whole);
            assert_null(guard.problem);
        }
}

static void the_next_request_needs_the_end_of_the_one_before(void **state)
{
    struct arena *arena = harness_arena(state);
    struct fastcgi_guard guard;
    struct buffer one = request(arena, 8);
    struct buffer plain = request(arena, 0);
    fastcgi_guard_start(&guard);
    (void)pass(arena, &guard, &one, 10000);
    fastcgi_guard_next(&guard);
    assert_false(guard.begun || guard.whole);
    struct buffer passed = pass(arena, &guard, &one, 10000);
    assert_same(&passed, &plain);
    /* It comes before it may. */
    (void)pass(arena, &guard, &one, 10000);
    assert_int_equal(guard.stage, FASTCGI_STAGE_BROKEN);
    /* The body was not read to its end. */
    fastcgi_guard_start(&guard);
    one.length -= 17;
    (void)pass(arena, &guard, &one, 10000);
    assert_int_equal(guard.stage, FASTCGI_STAGE_BODY);
    fastcgi_guard_next(&guard);
    assert_int_equal(guard.stage, FASTCGI_STAGE_BROKEN);
    passed = pass(arena, &guard, &plain, 10000);
    assert_int_equal(passed.length, 0);
}

/* Whatever the pieces are, `good` bytes of it pass, and then it is broken. */
static void assert_cut(struct arena *arena, const struct buffer *sent, size_t good, const char *problem)
{
    static const size_t pieces[] = {1, 5, 8, 1 << 20};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        struct fastcgi_guard guard;
        fastcgi_guard_start(&guard);
        struct buffer passed = pass(arena, &guard, sent, pieces[i]);
        assert_int_equal(guard.stage, FASTCGI_STAGE_BROKEN);
        assert_non_null(strstr(guard.problem, problem));
        assert_int_equal(passed.length, good);
        assert_int_equal(guard.begun, good >= 16);
        unsigned char answer[FASTCGI_ANSWER_BYTES];
        assert_int_equal(fastcgi_guard_answer(&guard, answer), 0);
    }
}

static void a_record_that_no_web_server_sends_is_cut(void **state)
{
    struct arena *arena = harness_arena(state);
    static const struct {
        int before; /* so many records of a request come first */
        int type, request;
        size_t length;
        const char *problem;
    } rows[] = {
        {0, 0, 0, 0, "another beginning"},         {0, 99, 0, 8, "another beginning"},
        {0, BEGIN, 0, 8, "another beginning"},     {0, BEGIN, 1, 4, "another beginning"},
        {0, BEGIN, 1, 64, "another beginning"},    {0, PARAMS, 1, 4, "another beginning"},
        {0, STDIN, 1, 4, "another beginning"},     {0, GET_VALUES, 1, 0, "another beginning"},
        {0, GET_VALUES, 0, 513, "asked too much"}, {1, BEGIN, 1, 8, "none of parameters"},
        {1, BEGIN, 2, 8, "another request"},       {1, PARAMS, 2, 4, "another request"},
        {1, GET_VALUES, 0, 4, "another request"},  {1, ABORT, 1, 0, "none of parameters"},
        {1, STDIN, 1, 0, "none of parameters"},    {2, PARAMS, 1, 0, "none of a body"},
        {2, DATA, 1, 4, "none of a body"},         {2, ABORT, 1, 0, "none of a body"},
        {2, GET_VALUES, 0, 0, "another request"},  {2, 3, 1, 8, "none of a body"},
        {3, BEGIN, 1, 8, "follows the end"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buffer sent;
        buffer_init(&sent, arena);
        if (rows[i].before > 0)
            add_begin(&sent, 0);
        if (rows[i].before > 1)
            add_record(&sent, PARAMS, 1, "", 0, 0);
        if (rows[i].before > 2)
            add_record(&sent, STDIN, 1, "", 0, 0);
        size_t good = sent.length;
        static const char content[600];
        add_record(&sent, rows[i].type, rows[i].request, content, rows[i].length, 0);
        assert_cut(arena, &sent, good, rows[i].problem);
    }
}

static void a_wrong_version_is_cut(void **state)
{
    struct arena *arena = harness_arena(state);
    static const size_t heads[] = {0, 16};
    for (size_t i = 0; i < 2; i++) {
        struct buffer sent = request(arena, 0);
        sent.bytes[heads[i]] = 2;
        assert_cut(arena, &sent, heads[i], "version");
    }
}

static void a_parameter_that_is_wrong_is_cut_at_its_byte(void **state)
{
    struct arena *arena = harness_arena(state);
    static const struct {
        const char *bytes;
        size_t length, good;
        const char *problem;
    } rows[] = {
        {"\xff\xff\xff\xfe\xff\xff\xff\xfe", 8, 2, "too long"},
        {"\x01\xc0\x00\x00\x00", 5, 3, "too long"},
        {"\x80\x04\x00\x01", 4, 3, "too long"},
        {"\x03\x80\x04\x00\x01", 5, 4, "too long"},
        {"\x00\x01x", 3, 0, "no name"},
        {"\x00\x00", 2, 0, "no name"},
        {"\x80\x00\x00\x00", 4, 3, "no name"},
        {"\x03\x01"
         "A=Bv",
         6, 3, "character"},
        {"\x03\x01"
         "A\0Bv",
         6, 3, "character"},
        {"\x03\x01"
         "A Bv",
         6, 3, "character"},
        {"\x03\x01"
         "A\x80"
         "Bv",
         6, 3, "character"},
        {"\x01\x03"
         "Av\0v",
         6, 4, "NUL"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buffer sent;
        buffer_init(&sent, arena);
        add_begin(&sent, 0);
        size_t good = sent.length + FASTCGI_HEAD_BYTES + rows[i].good;
        add_record(&sent, PARAMS, 1, rows[i].bytes, rows[i].length, 0);
        assert_cut(arena, &sent, good, rows[i].problem);
    }
}

static void parameters_that_end_within_one_are_cut(void **state)
{
    struct arena *arena = harness_arena(state);
    struct buffer pair;
    buffer_init(&pair, arena);
    add_pair(&pair, "NAME", 4, "value", 5);
    for (size_t length = 1; length < pair.length; length++) {
        struct buffer sent;
        buffer_init(&sent, arena);
        add_begin(&sent, 0);
        add_record(&sent, PARAMS, 1, pair.bytes, length, 0);
        size_t good = sent.length;
        add_record(&sent, PARAMS, 1, "", 0, 0);
        assert_cut(arena, &sent, good, "end within");
    }
}

/* Parameters of exactly `bytes` bytes. */
static struct buffer parameters(struct arena *arena, size_t bytes)
{
    struct buffer sent;
    struct buffer pairs;
    buffer_init(&sent, arena);
    buffer_init(&pairs, arena);
    add_begin(&sent, 0);
    char *value = arena_alloc(arena, bytes);
    memset(value, 'v', bytes);
    add_pair(&pairs, "N", 1, value, bytes - 6);
    assert_int_equal(pairs.length, bytes);
    for (size_t at = 0; at < bytes; at += 65535)
        add_record(&sent, PARAMS, 1, pairs.bytes + at, bytes - at < 65535 ? bytes - at : 65535, 0);
    add_record(&sent, PARAMS, 1, "", 0, 0);
    return sent;
}

static void the_bounds_of_all_parameters_are_exact(void **state)
{
    struct arena *arena = harness_arena(state);
    struct fastcgi_guard guard;
    fastcgi_guard_start(&guard);
    struct buffer sent = parameters(arena, LIMIT_PARAMETERS_BYTES);
    struct buffer passed = pass(arena, &guard, &sent, 8192);
    assert_same(&passed, &sent);
    assert_int_equal(guard.stage, FASTCGI_STAGE_BODY);
    fastcgi_guard_start(&guard);
    sent = parameters(arena, LIMIT_PARAMETERS_BYTES + 1);
    (void)pass(arena, &guard, &sent, 8192);
    assert_non_null(strstr(guard.problem, "the parameters are too long"));
    for (size_t more = 0; more < 2; more++) {
        fastcgi_guard_start(&guard);
        buffer_init(&sent, arena);
        add_begin(&sent, 0);
        for (size_t i = 0; i < LIMIT_PARAMETERS + more; i++)
            add_record(&sent, PARAMS, 1, "\1\0A", 3, 0);
        add_record(&sent, PARAMS, 1, "", 0, 0);
        (void)pass(arena, &guard, &sent, 8192);
        assert_int_equal(guard.stage, more == 0 ? FASTCGI_STAGE_BODY : FASTCGI_STAGE_BROKEN);
    }
    assert_non_null(strstr(guard.problem, "too many"));
}

/* Asks for values so often; the answer's content. */
static struct buffer ask(struct arena *arena, const char *const *names, size_t count, size_t padding, size_t piece)
{
    struct fastcgi_guard guard;
    struct buffer pairs;
    struct buffer sent;
    struct buffer content;
    buffer_init(&pairs, arena);
    buffer_init(&sent, arena);
    buffer_init(&content, arena);
    for (size_t i = 0; i < count; i++)
        add_pair(&pairs, names[i], strlen(names[i]), "", 0);
    add_record(&sent, GET_VALUES, 0, pairs.bytes, pairs.length, padding);
    fastcgi_guard_start(&guard);
    assert_int_equal(pass(arena, &guard, &sent, piece).length, 0);
    assert_int_equal(guard.stage, FASTCGI_STAGE_BEGIN);
    unsigned char answer[FASTCGI_ANSWER_BYTES];
    size_t length = fastcgi_guard_answer(&guard, answer);
    assert_true(length >= FASTCGI_HEAD_BYTES && length % 8 == 0);
    static const unsigned char head[] = {1, 10, 0, 0, 0};
    assert_memory_equal(answer, head, sizeof head);
    assert_int_equal(length, FASTCGI_HEAD_BYTES + answer[5] + answer[6]);
    for (size_t i = FASTCGI_HEAD_BYTES + answer[5]; i < length; i++)
        assert_int_equal(answer[i], 0);
    buffer_add(&content, answer + FASTCGI_HEAD_BYTES, answer[5]);
    assert_int_equal(fastcgi_guard_answer(&guard, answer), 0);
    /* Once. */
    (void)pass(arena, &guard, &sent, piece);
    assert_int_equal(guard.stage, FASTCGI_STAGE_BROKEN);
    return content;
}

static void each_value_is_answered_once_however_often_it_is_asked_for(void **state)
{
    struct arena *arena = harness_arena(state);
    static const char *const all[] = {"FCGI_MPXS_CONNS", "FCGI_MAX_CONNS", "FCGI_MAX_REQS"};
    static const char *const many[] = {"FCGI_MPXS_CONNS",
                                       "FCGI_MPXS_CONNS",
                                       "FCGI_MPXS_CONNS",
                                       "FCGI_MPXS_CONNS",
                                       "FCGI_MPXS_CONNS",
                                       "FCGI_MPXS_CONNS",
                                       "FCGI_MPXS_CONNS",
                                       "FCGI_MPXS_CONNS",
                                       "FCGI_MPXS_CONNS",
                                       "FCGI_MPXS_CONNS",
                                       "FCGI_MPXS_CONNSX",
                                       "FCGI_MPXS_CONN",
                                       "X"};
    static const char whole[] = "\16\1FCGI_MAX_CONNS1\15\1FCGI_MAX_REQS1\17\1FCGI_MPXS_CONNS0";
    static const char one[] = "\17\1FCGI_MPXS_CONNS0";
    static const size_t pieces[] = {1, 8, 1000};
    for (size_t i = 0; i < 3; i++) {
        struct buffer content = ask(arena, all, 3, i * 8, pieces[i]);
        assert_int_equal(content.length, sizeof whole - 1);
        assert_memory_equal(content.bytes, whole, content.length);
        content = ask(arena, many, sizeof many / sizeof *many, i * 8, pieces[i]);
        assert_int_equal(content.length, sizeof one - 1);
        assert_memory_equal(content.bytes, one, content.length);
        assert_int_equal(ask(arena, NULL, 0, i * 8, pieces[i]).length, 0);
    }
}

static void a_request_may_follow_a_question(void **state)
{
    struct arena *arena = harness_arena(state);
    struct buffer plain = request(arena, 0);
    struct buffer sent;
    struct fastcgi_guard guard;
    unsigned char answer[FASTCGI_ANSWER_BYTES];
    buffer_init(&sent, arena);
    add_record(&sent, GET_VALUES, 0, "\17\0FCGI_MPXS_CONNS", 17, 7);
    buffer_add(&sent, plain.bytes, plain.length);
    fastcgi_guard_start(&guard);
    struct buffer passed = pass(arena, &guard, &sent, 10000);
    assert_same(&passed, &plain);
    assert_int_equal(fastcgi_guard_answer(&guard, answer), 32);
}

static void a_question_that_is_wrong_gets_no_answer(void **state)
{
    struct arena *arena = harness_arena(state);
    static const struct {
        const char *bytes;
        size_t length;
        const char *problem;
    } rows[] = {{"\17\1FCGI_MPXS_CONNS0", 18, "is given"},
                {"\17\0FCGI_MPXS", 11, "end within"},
                {"\xff\xff\xff\xff\xff\xff\xff\xff", 8, "too long"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buffer sent;
        buffer_init(&sent, arena);
        add_record(&sent, GET_VALUES, 0, rows[i].bytes, rows[i].length, 0);
        assert_cut(arena, &sent, 0, rows[i].problem);
    }
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_request_passes_as_it_is_and_without_its_padding),
    HARNESS_TEST(the_next_request_needs_the_end_of_the_one_before),
    HARNESS_TEST(a_record_that_no_web_server_sends_is_cut),
    HARNESS_TEST(a_wrong_version_is_cut),
    HARNESS_TEST(a_parameter_that_is_wrong_is_cut_at_its_byte),
    HARNESS_TEST(parameters_that_end_within_one_are_cut),
    HARNESS_TEST(the_bounds_of_all_parameters_are_exact),
    HARNESS_TEST(each_value_is_answered_once_however_often_it_is_asked_for),
    HARNESS_TEST(a_request_may_follow_a_question),
    HARNESS_TEST(a_question_that_is_wrong_gets_no_answer),
};
HARNESS_MODULE(fastcgi_guard, cases)
