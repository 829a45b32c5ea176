/* SPDX-License-Identifier: MIT */
/* The target for the records of a FastCGI connection: what goes on to libfcgi is whole in itself, however it comes. */
#include <string.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/text.h"
#include "fuzz.h"
#include "http/fastcgi_guard_int.h"

enum { BEGIN = 1, PARAMS = 4, STDIN = 5 };

/* What the guard has said of an input. */
struct heard {
    struct buffer passed;
    struct buffer answers;
    enum fastcgi_stage stage;
    const char *problem;
};

static struct heard hear(struct arena *arena, const uint8_t *bytes, size_t size, size_t piece)
{
    struct heard heard;
    struct fastcgi_guard guard;
    unsigned char *read_bytes = arena_alloc(arena, piece + FASTCGI_HEAD_BYTES);
    unsigned char answer[FASTCGI_ANSWER_BYTES];
    buffer_init(&heard.passed, arena);
    buffer_init(&heard.answers, arena);
    fastcgi_guard_start(&guard);
    for (size_t at = 0; at < size; at += piece) {
        size_t length = size - at < piece ? size - at : piece;
        memcpy(read_bytes + fastcgi_guard_held(&guard), bytes + at, length);
        size_t good = fastcgi_guard_pass(&guard, read_bytes, length);
        fuzz_expect(good <= length + FASTCGI_HEAD_BYTES - 1, "no more goes on than has come");
        buffer_add(&heard.passed, read_bytes, good);
        buffer_add(&heard.answers, answer, fastcgi_guard_answer(&guard, answer));
    }
    heard.stage = guard.stage;
    heard.problem = guard.problem;
    return heard;
}

static size_t number(const unsigned char *bytes, size_t length)
{
    size_t value = 0;
    for (size_t i = 0; i < length; i++)
        value = value << 8 | bytes[i];
    return value;
}

/* The length at `*at`, as libfcgi reads it; 0 when it is cut. */
static size_t pair_length(const struct buffer *pairs, size_t *at)
{
    const unsigned char *bytes = (const unsigned char *)pairs->bytes + *at;
    size_t size = *at < pairs->length && (*bytes & 0x80) != 0 ? 4 : 1;
    if (pairs->length - *at < size) {
        *at = pairs->length;
        return 0;
    }
    *at += size;
    return size == 1 ? *bytes : number(bytes, 4) & 0x7fffffff;
}

/* Parameters that are whole, or cut at their end. */
static void check_pairs(const struct buffer *pairs, bool whole)
{
    size_t count = 0;
    for (size_t at = 0; at < pairs->length; count++) {
        size_t name = pair_length(pairs, &at);
        size_t value = at < pairs->length ? pair_length(pairs, &at) : 0;
        fuzz_expect(name <= LIMIT_PARAMETERS_BYTES && value <= LIMIT_PARAMETERS_BYTES, "a length is bounded");
        size_t left = pairs->length - at;
        size_t name_here = name < left ? name : left;
        fuzz_expect(memchr(pairs->bytes + at, '\0', name_here) == NULL &&
                        memchr(pairs->bytes + at, '=', name_here) == NULL,
                    "a name is one");
        at += name_here;
        size_t value_here = value < pairs->length - at ? value : pairs->length - at;
        fuzz_expect(memchr(pairs->bytes + at, '\0', value_here) == NULL, "a value has no NUL");
        at += value_here;
        fuzz_expect(!whole || (name > 0 && name_here == name && value_here == value), "parameters are whole");
    }
    fuzz_expect(count <= LIMIT_PARAMETERS + 1, "the number of parameters is bounded");
}

/* The records that went on, read by a plain reader. */
static void check_records(struct arena *arena, const struct buffer *passed)
{
    struct buffer pairs;
    int last = 0;
    bool ended[STDIN + 1] = {false};
    buffer_init(&pairs, arena);
    for (size_t at = 0; passed->length - at >= FASTCGI_HEAD_BYTES;) {
        const unsigned char *head = (const unsigned char *)passed->bytes + at;
        size_t length = number(head + 4, 2);
        int type = head[1];
        fuzz_expect(head[0] == 1 && head[6] == 0, "a record is of version 1 and has no padding");
        fuzz_expect(number(head + 2, 2) == number((const unsigned char *)passed->bytes + 2, 2) &&
                        number(head + 2, 2) != 0,
                    "all records belong to one request");
        fuzz_expect(last == 0 ? type == BEGIN && length == 8
                              : type == (ended[PARAMS] ? STDIN : PARAMS) && !ended[STDIN],
                    "records come in order");
        ended[type] = type != BEGIN && length == 0;
        at += FASTCGI_HEAD_BYTES;
        length = length < passed->length - at ? length : passed->length - at;
        if (type == PARAMS)
            buffer_add(&pairs, passed->bytes + at, length);
        at += length;
        last = type;
    }
    fuzz_expect(pairs.length <= LIMIT_PARAMETERS_BYTES, "all parameters are bounded");
    check_pairs(&pairs, ended[PARAMS]);
}

void fuzz_fastcgi(struct arena *arena, const uint8_t *bytes, size_t size)
{
    struct heard whole = hear(arena, bytes, size, size + 1);
    static const size_t pieces[] = {1, 3, 8, 64};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        struct heard cut = hear(arena, bytes, size, pieces[i]);
        fuzz_expect(
            cut.passed.length == whole.passed.length &&
                memcmp(cut.passed.bytes, whole.passed.bytes, cut.passed.length) == 0 && cut.stage == whole.stage &&
                cut.problem == whole.problem &&
                (whole.problem != NULL || (cut.answers.length == whole.answers.length &&
                                           memcmp(cut.answers.bytes, whole.answers.bytes, cut.answers.length) == 0)),
            "how the bytes come changes nothing");
    }
    fuzz_expect(whole.answers.length <= FASTCGI_ANSWER_BYTES && whole.answers.length % 8 == 0,
                "one question is answered");
    fuzz_expect((whole.stage == FASTCGI_STAGE_BROKEN) == (whole.problem != NULL), "what is broken says why");
    check_records(arena, &whole.passed);
}
