/* SPDX-License-Identifier: MIT */
/* What all kinds of stores share of bytes that arrive in pieces: their life from open to closed. */
#include "blob/partial.h"

#include "base/arena.h"
#include "base/error.h"
#include "blob/blob.h"
#include "blob/writer_int.h"

struct blob_partial {
    struct blob_store *store;
    struct arena *arena;
    void *state; /* the kind's own */
    bool closed;
};

static const struct blob_partial_functions *functions_of(const struct blob_store *store)
{
    return store->functions->partial;
}

bool blob_has_partials(const struct blob_store *store)
{
    return functions_of(store) != NULL;
}

bool blob_partials_lock(const struct blob_store *store)
{
    return functions_of(store)->locks;
}

struct error *blob_partial_create(struct blob_store *store, struct arena *arena, struct id id)
{
    return functions_of(store)->create(store, arena, id);
}

void blob_partial_close(struct blob_partial *partial)
{
    if (partial->closed)
        return;
    partial->closed = true;
    functions_of(partial->store)->close(partial->store, partial->state);
}

static void close_deferred(void *argument)
{
    blob_partial_close(argument);
}

struct error *blob_partial_open(struct blob_store *store, struct arena *arena, struct id id,
                                struct blob_partial **partial_out, enum blob_partial_state *outcome_out)
{
    void *state;
    *partial_out = NULL;
    TRY(functions_of(store)->open(store, arena, id, &state, outcome_out));
    if (*outcome_out != BLOB_PARTIAL_OPEN)
        return NULL;
    struct blob_partial *partial = arena_alloc(arena, sizeof *partial);
    *partial = (struct blob_partial){.store = store, .arena = arena, .state = state};
    arena_defer(arena, close_deferred, partial);
    *partial_out = partial;
    return NULL;
}

struct error *blob_partial_go_on(struct blob_partial *partial, uint64_t size, bool *there_out)
{
    return functions_of(partial->store)->go_on(partial->store, partial->arena, partial->state, size, there_out);
}

struct error *blob_partial_write(struct blob_partial *partial, const void *bytes, size_t length)
{
    return functions_of(partial->store)->write(partial->store, partial->arena, partial->state, bytes, length);
}

struct error *blob_partial_sync(struct blob_partial *partial)
{
    return functions_of(partial->store)->sync(partial->store, partial->arena, partial->state);
}

struct blob_writer *blob_partial_finish(struct blob_partial *partial, uint64_t size, const uint8_t digest[DIGEST_BYTES])
{
    partial->closed = true; /* the writer has the state now */
    return blob_writer_resume(partial->store, partial->arena, partial->state, size, digest);
}

struct error *blob_partial_remove(struct blob_store *store, struct arena *arena, struct id id)
{
    return functions_of(store)->remove(store, arena, id);
}

struct error *blob_partial_each(struct blob_store *store, struct arena *arena,
                                struct error *(*visit)(void *context, const struct blob_partial_found *found),
                                void *context)
{
    return functions_of(store)->each(store, arena, visit, context);
}
