/* SPDX-License-Identifier: MIT */
/* Reads FastCGI records byte by byte as they come, and lets through what is right. */
#include "http/fastcgi_guard_int.h"

#include <string.h>

#include "base/limits.h"

/* Types of records (FastCGI specification, section 8). */
#define TYPE_BEGIN 1
#define TYPE_PARAMS 4
#define TYPE_STDIN 5
#define TYPE_GET_VALUES 9
#define TYPE_GET_VALUES_RESULT 10

#define BEGIN_BYTES 8
#define QUESTION_BYTES 512

/* What can be asked: this process serves one connection with one request at a time. */
static const struct {
    const char *name;
    char value;
} values[] = {{"FCGI_MAX_CONNS", '1'}, {"FCGI_MAX_REQS", '1'}, {"FCGI_MPXS_CONNS", '0'}};

#define VALUES (sizeof values / sizeof *values)
#define ANSWERED (1U << VALUES) /* the question is whole */

static bool refuse(struct fastcgi_guard *guard, const char *problem)
{
    guard->stage = FASTCGI_STAGE_BROKEN;
    guard->problem = problem;
    return false;
}

void fastcgi_guard_start(struct fastcgi_guard *guard)
{
    *guard = (struct fastcgi_guard){.stage = FASTCGI_STAGE_BEGIN};
}

void fastcgi_guard_next(struct fastcgi_guard *guard)
{
    guard->begun = guard->whole = false;
    if (guard->stage == FASTCGI_STAGE_ENDED)
        guard->stage = FASTCGI_STAGE_BEGIN;
    else if (guard->stage != FASTCGI_STAGE_BROKEN)
        (void)refuse(guard, "the request before was not read to its end");
}

size_t fastcgi_guard_held(const struct fastcgi_guard *guard)
{
    return guard->head_length;
}

/* ---- parameters ---------------------------------------------------------------------------------- */

/* A byte of a length: one below 128, or four of which the first has its highest bit set (section 3.4). */
static bool take_length(struct fastcgi_guard *guard, unsigned char byte)
{
    if (guard->more == 0) {
        guard->number = byte & 0x7f;
        guard->more = (byte & 0x80) != 0 ? 3 : 0;
    } else {
        guard->number = guard->number << 8 | byte;
        guard->more--;
    }
    if (guard->number > LIMIT_PARAMETERS_BYTES)
        return refuse(guard, "a parameter is too long");
    if (guard->more > 0)
        return true;
    if (guard->part == FASTCGI_PART_NAME_LENGTH) {
        guard->name_left = guard->number;
        guard->part = FASTCGI_PART_VALUE_LENGTH;
        return guard->name_left > 0 || refuse(guard, "a parameter has no name");
    }
    guard->value_left = guard->number;
    guard->part = FASTCGI_PART_NAME;
    guard->name_length = 0;
    if (guard->type == TYPE_GET_VALUES && guard->value_left > 0)
        return refuse(guard, "a value that is asked for is given");
    return ++guard->count <= LIMIT_PARAMETERS || refuse(guard, "there are too many parameters");
}

static void end_pair(struct fastcgi_guard *guard)
{
    guard->part = FASTCGI_PART_NAME_LENGTH;
    if (guard->type != TYPE_GET_VALUES)
        return;
    for (unsigned i = 0; i < VALUES; i++)
        if (guard->name_length == strlen(values[i].name) &&
            memcmp(guard->name, values[i].name, guard->name_length) == 0)
            guard->values |= 1U << i;
}

/* libfcgi makes the text NAME=VALUE of a parameter, so a name has no equals sign. */
static bool take_name(struct fastcgi_guard *guard, unsigned char byte)
{
    if (byte <= ' ' || byte >= 0x7f || byte == '=')
        return refuse(guard, "a parameter's name has a character that none has");
    if (guard->name_length < sizeof guard->name)
        guard->name[guard->name_length] = (char)byte;
    guard->name_length++;
    if (--guard->name_left > 0)
        return true;
    guard->part = FASTCGI_PART_VALUE;
    if (guard->value_left == 0)
        end_pair(guard);
    return true;
}

/* The bytes of a value, as far as they go; returns how many of them are good. */
static size_t take_value(struct fastcgi_guard *guard, const unsigned char *bytes, size_t length)
{
    size_t take = length < guard->value_left ? length : guard->value_left;
    const unsigned char *nul = memchr(bytes, '\0', take);
    if (nul != NULL) {
        (void)refuse(guard, "a parameter's value has a NUL");
        return (size_t)(nul - bytes);
    }
    guard->value_left -= take;
    if (guard->value_left == 0)
        end_pair(guard);
    return take;
}

/* Reads a piece of parameters; returns how many of its bytes are good. */
static size_t take_pairs(struct fastcgi_guard *guard, const unsigned char *bytes, size_t length)
{
    size_t at = 0;
    while (at < length && guard->stage != FASTCGI_STAGE_BROKEN) {
        if (guard->part == FASTCGI_PART_VALUE) {
            at += take_value(guard, bytes + at, length - at);
            continue;
        }
        bool good = guard->part == FASTCGI_PART_NAME ? take_name(guard, bytes[at]) : take_length(guard, bytes[at]);
        at += good ? 1 : 0;
    }
    return at;
}

static bool is_between_pairs(const struct fastcgi_guard *guard)
{
    return guard->part == FASTCGI_PART_NAME_LENGTH && guard->more == 0;
}

/* ---- records ------------------------------------------------------------------------------------- */

static void begin_pairs(struct fastcgi_guard *guard)
{
    guard->part = FASTCGI_PART_NAME_LENGTH;
    guard->more = 0;
    guard->bytes = 0;
    guard->count = 0;
}

static bool check_first(struct fastcgi_guard *guard, unsigned request)
{
    if (guard->type == TYPE_GET_VALUES && request == 0) {
        if (guard->asked || guard->content > QUESTION_BYTES)
            return refuse(guard, "the process is asked too much");
        guard->asked = true;
        begin_pairs(guard);
        if (guard->content == 0)
            guard->values |= ANSWERED;
        return true;
    }
    if (guard->type != TYPE_BEGIN || request == 0 || guard->content != BEGIN_BYTES)
        return refuse(guard, "a request has another beginning than FCGI_BEGIN_REQUEST");
    guard->request = request;
    guard->stage = FASTCGI_STAGE_PARAMETERS;
    guard->begun = true;
    begin_pairs(guard);
    return true;
}

static bool check_parameters(struct fastcgi_guard *guard)
{
    guard->bytes += guard->content;
    if (guard->type != TYPE_PARAMS)
        return refuse(guard, "a record is none of parameters");
    if (guard->bytes > LIMIT_PARAMETERS_BYTES)
        return refuse(guard, "the parameters are too long");
    if (guard->content > 0)
        return true;
    if (!is_between_pairs(guard))
        return refuse(guard, "the parameters end within one");
    guard->stage = FASTCGI_STAGE_BODY;
    guard->whole = true;
    return true;
}

/* Checks a record by its head, which is whole. */
static bool check(struct fastcgi_guard *guard)
{
    const unsigned char *head = guard->head;
    unsigned request = (unsigned)head[2] << 8 | head[3];
    guard->type = head[1];
    guard->content = (size_t)head[4] << 8 | head[5];
    guard->padding = head[6];
    if (head[0] != 1)
        return refuse(guard, "a record has another version than 1");
    if (guard->stage == FASTCGI_STAGE_BEGIN)
        return check_first(guard, request);
    if (request != guard->request)
        return refuse(guard, "a record belongs to another request");
    if (guard->stage == FASTCGI_STAGE_PARAMETERS)
        return check_parameters(guard);
    if (guard->type != TYPE_STDIN)
        return refuse(guard, "a record is none of a body");
    if (guard->content == 0)
        guard->stage = FASTCGI_STAGE_ENDED;
    return true;
}

/* Where bytes come from and where they go, in one buffer: `out` never overtakes `in`. */
struct flow {
    unsigned char *bytes;
    size_t in, out, end;
};

static size_t less(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void take_head(struct fastcgi_guard *guard, struct flow *flow)
{
    size_t take = less(FASTCGI_HEAD_BYTES - guard->head_length, flow->end - flow->in);
    memcpy(guard->head + guard->head_length, flow->bytes + flow->in, take);
    guard->head_length += take;
    flow->in += take;
    if (guard->head_length < FASTCGI_HEAD_BYTES)
        return;
    guard->head_length = 0;
    if (!check(guard) || guard->type == TYPE_GET_VALUES)
        return;
    guard->head[6] = 0;
    memcpy(flow->bytes + flow->out, guard->head, FASTCGI_HEAD_BYTES);
    flow->out += FASTCGI_HEAD_BYTES;
}

static void take_content(struct fastcgi_guard *guard, struct flow *flow)
{
    const unsigned char *from = flow->bytes + flow->in;
    size_t take = less(guard->content, flow->end - flow->in);
    bool pairs = guard->type == TYPE_PARAMS || guard->type == TYPE_GET_VALUES;
    size_t good = pairs ? take_pairs(guard, from, take) : take;
    if (guard->type != TYPE_GET_VALUES) {
        memmove(flow->bytes + flow->out, from, good);
        flow->out += good;
    }
    flow->in += take;
    guard->content -= take;
    if (guard->type != TYPE_GET_VALUES || guard->content > 0 || guard->stage == FASTCGI_STAGE_BROKEN)
        return;
    guard->values |= ANSWERED;
    if (!is_between_pairs(guard))
        (void)refuse(guard, "the values that are asked for end within one");
}

size_t fastcgi_guard_pass(struct fastcgi_guard *guard, unsigned char *bytes, size_t length)
{
    struct flow flow = {.bytes = bytes, .in = guard->head_length, .end = guard->head_length + length};
    while (flow.in < flow.end && guard->stage != FASTCGI_STAGE_BROKEN) {
        if (guard->content > 0) {
            take_content(guard, &flow);
        } else if (guard->padding > 0) {
            size_t take = less(guard->padding, flow.end - flow.in);
            guard->padding -= take;
            flow.in += take;
        } else if (guard->stage == FASTCGI_STAGE_ENDED) {
            (void)refuse(guard, "something follows the end of a request");
        } else {
            take_head(guard, &flow);
        }
    }
    return flow.out;
}

size_t fastcgi_guard_answer(struct fastcgi_guard *guard, unsigned char answer_out[FASTCGI_ANSWER_BYTES])
{
    size_t length = FASTCGI_HEAD_BYTES;
    if ((guard->values & ANSWERED) == 0 || guard->stage == FASTCGI_STAGE_BROKEN)
        return 0;
    memset(answer_out, 0, FASTCGI_ANSWER_BYTES);
    for (size_t i = 0; i < VALUES; i++) {
        size_t name = strlen(values[i].name);
        if ((guard->values & 1U << i) == 0)
            continue;
        answer_out[length] = (unsigned char)name;
        answer_out[length + 1] = 1;
        memcpy(answer_out + length + 2, values[i].name, name);
        answer_out[length + 2 + name] = (unsigned char)values[i].value;
        length += name + 3;
    }
    guard->values = 0;
    size_t whole = (length + 7) / 8 * 8;
    answer_out[0] = 1;
    answer_out[1] = TYPE_GET_VALUES_RESULT;
    answer_out[5] = (unsigned char)(length - FASTCGI_HEAD_BYTES);
    answer_out[6] = (unsigned char)(whole - length);
    return whole;
}
