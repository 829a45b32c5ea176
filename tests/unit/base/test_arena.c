/* SPDX-License-Identifier: MIT */
/* Arenas: alignment, growth, reset, deferred calls, and sizes that end the process. */
#include "base/arena.h"

#include <malloc.h>
#include <stdalign.h>
#include <string.h>
#include <sys/wait.h>

#include "harness.h"

/* The sanitizer's builds give every allocation a block of its own (src/base/arena.c). */
#ifdef __SANITIZE_ADDRESS__
#define BLOCKS_ARE_SHARED 0
#else
#define BLOCKS_ARE_SHARED 1
#endif

static bool all_zero(const unsigned char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

static void memory_is_zeroed_and_aligned_at_any_size(void **state)
{
    struct arena *arena = harness_arena(state);
    for (size_t size = 0; size < 3000; size = size * 3 / 2 + 1) {
        unsigned char *memory = arena_alloc(arena, size);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % alignof(max_align_t), 0);
        assert_true(all_zero(memory, size));
        memset(memory, 0xa5, size);
    }
}

static void memory_is_zeroed_again_after_a_reset(void **state)
{
    struct arena *arena = harness_arena(state);
    memset(arena_alloc(arena, 4000), 0xff, 4000);
    arena_reset(arena);
    assert_int_equal(arena_used(arena), 0);
    assert_true(all_zero(arena_alloc(arena, 8000), 8000));
}

static void allocations_do_not_overlap(void **state)
{
    struct arena *arena = harness_arena(state);
    struct harness_random random = {.state = 7};
    enum { COUNT = 500 };
    unsigned char *memory[COUNT];
    size_t sizes[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        sizes[i] = harness_random_below(&random, i % 50 == 0 ? 70000 : 600);
        memory[i] = arena_alloc(arena, sizes[i]);
        memset(memory[i], (int)(i % 251), sizes[i]);
    }
    for (size_t i = 0; i < COUNT; i++)
        for (size_t j = 0; j < sizes[i]; j++)
            assert_int_equal(memory[i][j], i % 251);
}

static void empty_allocations_are_unique(void **state)
{
    struct arena *arena = harness_arena(state);
    void *first = arena_alloc(arena, 0);
    assert_ptr_not_equal(first, arena_alloc(arena, 0));
}

static void a_copy_is_terminated(void **state)
{
    struct arena *arena = harness_arena(state);
    char *copy = arena_copy(arena, "ab\0cd", 5);
    assert_memory_equal(copy, "ab\0cd", 6);
    assert_string_equal(arena_copy(arena, NULL, 0), "");
    assert_string_equal(arena_text(arena, "text"), "text");
    assert_null(arena_text(arena, NULL));
}

static void formatting_takes_any_length(void **state)
{
    struct arena *arena = harness_arena(state);
    assert_string_equal(arena_format(arena, "%s-%d", "a", 5), "a-5");
    const char *wide = arena_format(arena, "%0100000d", 1);
    assert_int_equal(strlen(wide), 100000);
    assert_int_equal(wide[99999], '1');
}

struct journal {
    char text[32];
    size_t length;
};

struct entry {
    struct journal *journal;
    char letter;
};

static void write_entry(void *argument)
{
    const struct entry *entry = argument;
    entry->journal->text[entry->journal->length++] = entry->letter;
}

static void deferred_calls_run_last_first_once(void **state)
{
    struct arena *arena = harness_arena(state);
    struct journal journal = {.length = 0};
    struct entry entries[] = {{&journal, 'a'}, {&journal, 'b'}, {&journal, 'c'}};
    for (size_t i = 0; i < 3; i++)
        arena_defer(arena, write_entry, &entries[i]);
    arena_reset(arena);
    assert_string_equal(journal.text, "cba");
    arena_reset(arena);
    assert_string_equal(journal.text, "cba");
    struct arena *other = arena_new();
    arena_defer(other, write_entry, &entries[0]);
    arena_free(&other);
    assert_null(other);
    assert_string_equal(journal.text, "cbaa");
}

/* What a deferred call sees of the arena's memory is what was written there. */
static void deferred_calls_run_before_memory_is_wiped(void **state)
{
    struct arena *arena = harness_arena(state);
    struct journal journal = {.length = 0};
    struct entry *entry = arena_alloc(arena, sizeof *entry);
    *entry = (struct entry){&journal, 'x'};
    arena_defer(arena, write_entry, entry);
    arena_reset(arena);
    assert_string_equal(journal.text, "x");
}

static void defer_again(void *argument)
{
    struct arena *arena = argument;
    static struct journal journal;
    static struct entry entry = {&journal, 'y'};
    journal.length = 0;
    arena_defer(arena, write_entry, &entry);
}

static void a_deferred_call_may_defer(void **state)
{
    struct arena *arena = harness_arena(state);
    arena_defer(arena, defer_again, arena);
    arena_reset(arena);
    assert_int_equal(arena_used(arena), 0);
}

static void freeing_nothing_is_fine(void **state)
{
    (void)state;
    struct arena *none = NULL;
    arena_free(&none);
    assert_null(none);
}

#if BLOCKS_ARE_SHARED
static void a_huge_allocation_leaves_room_for_small_ones(void **state)
{
    struct arena *arena = harness_arena(state);
    char *before = arena_alloc(arena, 16);
    char *huge = arena_alloc(arena, 1 << 20);
    char *after = arena_alloc(arena, 16);
    memset(huge, 1, 1 << 20);
    assert_ptr_equal(after, before + 16);
    assert_true(all_zero((unsigned char *)after, 16));
}

/* A worker lives through thousands of requests, of which some are large. */
static void a_reset_gives_back_what_was_taken(void **state)
{
    struct arena *arena = harness_arena(state);
    size_t before = 0;
    for (int request = 0; request < 200; request++) {
        for (size_t size = 1; size < 300000; size *= 3)
            memset(arena_alloc(arena, size), 0x5a, size);
        for (int i = 0; i < 5000; i++)
            memset(arena_alloc(arena, 24), 0x5a, 24);
        assert_true(arena_used(arena) > 5000 * 24);
        arena_reset(arena);
        if (request == 2)
            before = mallinfo2().uordblks;
    }
    size_t after = mallinfo2().uordblks;
    assert_true(after < before + 100000);
    /* Even the first bytes of the block that was kept. */
    void *first = arena_alloc(arena, 16);
    arena_reset(arena);
    assert_ptr_equal(arena_alloc(arena, 16), first);
}

static void a_reset_wipes_what_was_written(void **state)
{
    struct arena *arena = harness_arena(state);
    unsigned char *memory = arena_alloc(arena, 64);
    /* Volatile, because the compiler may take for granted that nobody but us writes to fresh memory. */
    unsigned char *volatile kept = memory;
    memcpy(kept, "a secret of the request before", 30);
    arena_reset(arena);
    /* The first block is kept, so the address may be read. */
    assert_true(all_zero(kept, 64));
}
#endif

static void ask_for_too_many(void *context)
{
    struct arena *arena = context;
    (void)arena_array(arena, SIZE_MAX / 2, 4);
}

static void ask_for_too_much(void *context)
{
    struct arena *arena = context;
    (void)arena_alloc(arena, SIZE_MAX - 8);
}

static void an_impossible_size_ends_the_process(void **state)
{
    int status = harness_fork(ask_for_too_many, harness_arena(state));
    assert_true(WIFSIGNALED(status));
    status = harness_fork(ask_for_too_much, harness_arena(state));
    assert_true(WIFSIGNALED(status));
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(memory_is_zeroed_and_aligned_at_any_size),
    HARNESS_TEST(memory_is_zeroed_again_after_a_reset),
    HARNESS_TEST(allocations_do_not_overlap),
    HARNESS_TEST(empty_allocations_are_unique),
    HARNESS_TEST(a_copy_is_terminated),
    HARNESS_TEST(formatting_takes_any_length),
    HARNESS_TEST(deferred_calls_run_last_first_once),
    HARNESS_TEST(deferred_calls_run_before_memory_is_wiped),
    HARNESS_TEST(a_deferred_call_may_defer),
    HARNESS_TEST(freeing_nothing_is_fine),
#if BLOCKS_ARE_SHARED
    HARNESS_TEST(a_huge_allocation_leaves_room_for_small_ones),
    HARNESS_TEST(a_reset_gives_back_what_was_taken),
    HARNESS_TEST(a_reset_wipes_what_was_written),
#endif
    HARNESS_TEST(an_impossible_size_ends_the_process),
};
HARNESS_MODULE(arena, cases)
