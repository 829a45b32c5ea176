/* SPDX-License-Identifier: MIT */
/* Tells what one row of the route table says: the words of its path, and the errors that it can answer. */
#include "api/route.h"

#include <string.h>

#include "base/arena.h"

const char *route_word(struct arena *arena, const struct route *row, size_t index)
{
    const char *start = strchr(row->path, '{');
    for (size_t i = 0; i < index && start != NULL; i++)
        start = strchr(start + 1, '{');
    return start == NULL ? NULL : arena_copy(arena, start + 1, strcspn(start + 1, "}"));
}

static size_t add_code(enum error_code *codes, size_t count, enum error_code code)
{
    for (size_t i = 0; i < count; i++)
        if (codes[i] == code)
            return count;
    codes[count] = code;
    return count + 1;
}

size_t route_errors(const struct route *route, enum error_code codes_out[ERROR_CODE_COUNT])
{
    static const enum error_code of_token[] = {ERROR_TOKEN_MISSING,        ERROR_TOKEN_INVALID,
                                               ERROR_TOKEN_EXPIRED,        ERROR_TOKEN_REVOKED,
                                               ERROR_DATABASE_UNAVAILABLE, ERROR_IDENTITY_UNAVAILABLE};
    static const enum error_code of_body[] = {ERROR_REQUEST_MALFORMED, ERROR_TOO_LARGE, ERROR_MEDIA_TYPE};
    size_t count = 0;
    if (route->access != ACCESS_PUBLIC)
        for (size_t i = 0; i < sizeof of_token / sizeof *of_token; i++)
            count = add_code(codes_out, count, of_token[i]);
    if (route->access == ACCESS_PERMISSION)
        count = add_code(codes_out, count, ERROR_PERMISSION);
    if (route->names_link) {
        count = add_code(codes_out, count, ERROR_LINK_INVALID);
        count = add_code(codes_out, count, ERROR_DATABASE_UNAVAILABLE);
    }
    if (route->body_kind != BODY_NONE)
        for (size_t i = 0; i < sizeof of_body / sizeof *of_body; i++)
            count = add_code(codes_out, count, of_body[i]);
    /* A path without query parameters refuses all of them, so every path can answer these. */
    count = add_code(codes_out, count, ERROR_REQUEST_MALFORMED);
    count = add_code(codes_out, count, ERROR_REQUEST_INVALID);
    for (const enum error_code *code = route->errors; code != NULL && *code != ERROR_CODE_COUNT; code++)
        count = add_code(codes_out, count, *code);
    return add_code(codes_out, count, ERROR_INTERNAL);
}
