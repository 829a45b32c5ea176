/* SPDX-License-Identifier: MIT */
/* The table of the fuzz targets, and what they share. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "codec/signing_key.h"

bool fuzz_signatures_hold;

fuzz_target *fuzz_find(const char *name)
{
    static const struct {
        const char *name;
        fuzz_target *run;
    } targets[] = {
#define ROW(function) {FUZZ_NAME(function), function},
        FUZZ_TARGETS(ROW)
#undef ROW
    };
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (strcmp(targets[i].name, name) == 0)
            return targets[i].run;
    return NULL;
}

void fuzz_expect(bool kept, const char *promise)
{
    if (kept)
        return;
    fprintf(stderr, "broken promise: %s\n", promise);
    abort();
}

const char *fuzz_text(struct arena *arena, const uint8_t *bytes, size_t size)
{
    return arena_copy(arena, bytes, strnlen((const char *)bytes, size));
}

void fuzz_lines(struct arena *arena, const uint8_t *bytes, size_t size, const char **lines_out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint8_t *end = i + 1 < count && size > 0 ? memchr(bytes, '\n', size) : NULL;
        size_t length = end != NULL ? (size_t)(end - bytes) : size;
        lines_out[i] = fuzz_text(arena, bytes, length);
        size_t taken = end != NULL ? length + 1 : length;
        bytes += taken;
        size -= taken;
    }
}

/* The linker puts this in the place of signing_key_verify() (local.mk). */
bool __real_signing_key_verify(const struct signing_key *key, const void *bytes, size_t length,
                               const unsigned char *signature, size_t signature_length);
bool __wrap_signing_key_verify(const struct signing_key *key, const void *bytes, size_t length,
                               const unsigned char *signature, size_t signature_length);
bool __wrap_signing_key_verify(const struct signing_key *key, const void *bytes, size_t length,
                               const unsigned char *signature, size_t signature_length)
{
    return fuzz_signatures_hold || __real_signing_key_verify(key, bytes, length, signature, signature_length);
}
