/* SPDX-License-Identifier: MIT */
/* Reads randomness from the kernel, and draws numbers and codes from it. */
#include "codec/random.h"

#include <sodium.h>

#include "base/arena.h"

static const char unambiguous[] = "23456789abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ";

void random_bytes(void *bytes_out, size_t length)
{
    randombytes_buf(bytes_out, length);
}

/* randombytes_uniform() draws again instead of taking a remainder, so that all characters are equally likely. */
static char *draw(struct arena *arena, size_t characters, const char *alphabet, uint32_t size)
{
    char *text = arena_alloc(arena, characters + 1);
    for (size_t i = 0; i < characters; i++)
        text[i] = alphabet[randombytes_uniform(size)];
    return text;
}

char *random_text(struct arena *arena, size_t characters)
{
    return draw(arena, characters, unambiguous, sizeof unambiguous - 1);
}

char *random_code(struct arena *arena, size_t digits)
{
    return draw(arena, digits, "0123456789", 10);
}
