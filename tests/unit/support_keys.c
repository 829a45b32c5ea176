/* SPDX-License-Identifier: MIT */
/* Signing keys that were made before. */
#include "support_keys.h"

#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "codec/signing_key.h"

#define KEYS_MADE 5

struct error *__real_signing_key_generate(struct arena *arena, struct signing_key_pair *pair_out);
struct error *__wrap_signing_key_generate(struct arena *arena, struct signing_key_pair *pair_out);

static bool always_new;

void keys_are_new(bool always)
{
    always_new = always;
}

struct error *__wrap_signing_key_generate(struct arena *arena, struct signing_key_pair *pair_out)
{
    static struct signing_key_pair made[KEYS_MADE];
    static struct arena *keeper;
    static pid_t owner;
    static unsigned calls;
    if (owner == 0)
        owner = getpid();
    if (always_new || owner != getpid())
        return __real_signing_key_generate(arena, pair_out);
    if (keeper == NULL)
        keeper = arena_new();
    struct signing_key_pair *pair = &made[calls++ % KEYS_MADE];
    if (pair->kid == NULL)
        TRY(__real_signing_key_generate(keeper, pair));
    *pair_out = (struct signing_key_pair){
        .private_pem = secret_copy(arena, pair->private_pem.bytes, pair->private_pem.length),
        .public_pem = arena_text(arena, pair->public_pem),
        .kid = arena_text(arena, pair->kid),
    };
    return NULL;
}
