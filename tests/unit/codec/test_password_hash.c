/* SPDX-License-Identifier: MIT */
/* Password hashes: made, verified, renewed, refused. */
#include "codec/password_hash.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "codec/password_memory_int.h"
#include "harness.h"

/* The least that the library takes: these tests are about meaning, not about cost. */
static const struct password_cost cheap = {.memory_kib = 8, .passes = 1};

static char *hash_of(struct arena *arena, const char *password, size_t length, struct password_cost cost)
{
    char *hash = NULL;
    assert_null(password_hash(arena, secret_copy(arena, password, length), cost, &hash));
    return hash;
}

static void the_right_password_matches_and_no_other(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *hash = hash_of(arena, "correct horse", 13, cheap);
    assert_int_equal(password_verify(hash, secret_of("correct horse"), cheap), PASSWORD_RIGHT);
    static const char *const wrong[] = {"",
                                        "correct horsf",
                                        "correct hors",
                                        "correct horse ",
                                        " correct horse",
                                        "Correct horse",
                                        "correct\xc2\xa0horse"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(password_verify(hash, secret_of(wrong[i]), cheap), PASSWORD_WRONG);
    assert_int_equal(password_verify(hash, (struct secret){0}, cheap), PASSWORD_WRONG);
}

/* No password is not the empty password. */
static void no_password_matches_nothing(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *hash = hash_of(arena, "", 0, cheap);
    assert_int_equal(password_verify(hash, secret_of(""), cheap), PASSWORD_RIGHT);
    assert_int_equal(password_verify(hash, (struct secret){0}, cheap), PASSWORD_WRONG);
    char *none = NULL;
    assert_non_null(password_hash(arena, (struct secret){0}, cheap, &none));
    assert_null(none);
}

static void every_byte_counts(void **state)
{
    struct arena *arena = harness_arena(state);
    char *longest = arena_alloc(arena, 513);
    memset(longest, 'x', 512);
    const char *hash = hash_of(arena, longest, 512, cheap);
    assert_int_equal(password_verify(hash, secret_copy(arena, longest, 512), cheap), PASSWORD_RIGHT);
    longest[511] = 'y';
    assert_int_equal(password_verify(hash, secret_copy(arena, longest, 512), cheap), PASSWORD_WRONG);
    assert_int_equal(password_verify(hash, secret_copy(arena, longest, 72), cheap), PASSWORD_WRONG);
    hash = hash_of(arena, "a\0b", 3, cheap);
    assert_int_equal(password_verify(hash, secret_copy(arena, "a\0b", 3), cheap), PASSWORD_RIGHT);
    assert_int_equal(password_verify(hash, secret_copy(arena, "a\0c", 3), cheap), PASSWORD_WRONG);
    assert_int_equal(password_verify(hash, secret_copy(arena, "a", 1), cheap), PASSWORD_WRONG);
}

static void the_hash_is_a_short_argon2id_text_with_its_own_salt(void **state)
{
    struct arena *arena = harness_arena(state);
    const struct password_cost cost = {.memory_kib = 32, .passes = 2};
    const char *one = hash_of(arena, "password", 8, cost);
    assert_int_equal(strncmp(one, "$argon2id$v=19$m=32,t=2,p=1$", 28), 0);
    assert_true(strlen(one) < 128);
    assert_string_not_equal(one, hash_of(arena, "password", 8, cost));
}

static void other_costs_ask_for_a_new_hash(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *hash = hash_of(arena, "password", 8, cheap);
    static const struct password_cost others[] = {{.memory_kib = 16, .passes = 1}, {.memory_kib = 8, .passes = 2}};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(password_verify(hash, secret_of("password"), others[i]), PASSWORD_RIGHT_BUT_WEAK);
        assert_int_equal(password_verify(hash, secret_of("passwore"), others[i]), PASSWORD_WRONG);
        const char *fresh = hash_of(arena, "password", 8, others[i]);
        assert_int_equal(password_verify(fresh, secret_of("password"), others[i]), PASSWORD_RIGHT);
    }
}

/* A damaged row must neither let in nor count as a wrong try. */
static void a_damaged_hash_decides_nothing(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *hash = hash_of(arena, "password", 8, cheap);
    static const char *const damaged[] = {"",
                                          "$",
                                          "password",
                                          "*",
                                          "$2y$10$abcdefghijklmnopqrstuv",
                                          "$argon2id$v=19$m=8,t=1,p=1$$",
                                          "$argon2i$v=19$m=8,t=3,p=1$c2FsdHNhbHQ$aGFzaGhhc2g"};
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++)
        if (password_verify(damaged[i], secret_of("password"), cheap) != PASSWORD_UNDECIDED)
            fail_msg("decided: %s", damaged[i]);
    char *cut = arena_text(arena, hash);
    *strrchr(cut, '$') = '\0';
    assert_int_equal(password_verify(cut, secret_of("password"), cheap), PASSWORD_UNDECIDED);
    const char *joined = arena_format(arena, "%s$", hash);
    assert_int_equal(password_verify(joined, secret_of("password"), cheap), PASSWORD_UNDECIDED);
}

/* The memory of a hash that costs more than this process may have. */
static void compare_without_memory(void *context)
{
    const char *hash = context;
    const struct rlimit none = {0, 0};
    if (setrlimit(RLIMIT_AS, &none) != 0)
        _exit(3);
    _exit(password_verify(hash, secret_of("password"), cheap) == PASSWORD_UNDECIDED ? 0 : 1);
}

/* It must not count as a wrong try, and lock its owner out. */
static void where_there_is_no_memory_a_password_is_not_told_wrong(void **state)
{
#ifdef __SANITIZE_ADDRESS__
    skip(); /* the sanitizer has the say in where memory comes from */
#endif
    struct arena *arena = harness_arena(state);
    const char *hash = hash_of(arena, "password", 8, cheap);
    static const char little[] = "$argon2id$v=19$m=8,";
    assert_memory_equal(hash, little, sizeof little - 1);
    int status = harness_fork(compare_without_memory,
                              arena_format(arena, "$argon2id$v=19$m=524288,%s", hash + sizeof little - 1));
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void an_impossible_cost_is_an_error(void **state)
{
    struct arena *arena = harness_arena(state);
    static const struct password_cost costs[] = {
        {.memory_kib = 0, .passes = 1}, {.memory_kib = 7, .passes = 1}, {.memory_kib = 8, .passes = 0}};
    for (size_t i = 0; i < sizeof costs / sizeof *costs; i++) {
        char *hash = NULL;
        struct error *error = password_hash(arena, secret_of("password"), costs[i], &hash);
        assert_non_null(error);
        assert_int_equal(error->code, ERROR_INTERNAL);
        assert_null(hash);
    }
}

static unsigned char *map(size_t length)
{
    void *memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    return memory;
}

static unsigned char *map_lent(size_t length)
{
    password_memory_begin();
    unsigned char *memory = map(length);
    password_memory_end();
    return memory;
}

static void assert_clear(const unsigned char *memory, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (memory[i] != 0)
            fail_msg("byte %zu is %u", i, memory[i]);
}

/* The library maps its memory through us, and a hash needs no more than before. */
static void a_hash_of_many_pages_takes_the_memory_that_is_kept(void **state)
{
    struct arena *arena = harness_arena(state);
    const struct password_cost costly = {.memory_kib = 3 * PASSWORD_MEMORY_LEAST / 1024, .passes = 1};
    const char *hash = hash_of(arena, "password", 8, costly);
    size_t kept = password_memory_kept();
    assert_true(kept >= (size_t)costly.memory_kib * 1024);
    assert_int_equal(password_verify(hash, secret_of("password"), costly), PASSWORD_RIGHT);
    assert_int_equal(password_verify(hash, secret_of("passwore"), costly), PASSWORD_WRONG);
    assert_int_equal(password_memory_kept(), kept);
    const struct password_cost costlier = {.memory_kib = 2 * costly.memory_kib, .passes = 1};
    hash = hash_of(arena, "password", 8, costlier);
    assert_true(password_memory_kept() >= (size_t)costlier.memory_kib * 1024);
    assert_int_equal(password_verify(hash, secret_of("password"), costlier), PASSWORD_RIGHT);
}

static void what_was_lent_comes_back_empty(void **state)
{
    (void)state;
    const size_t length = PASSWORD_MEMORY_LEAST + 4096;
    unsigned char *memory = map_lent(length);
    for (int round = 0; round < 3; round++) {
        assert_clear(memory, length);
        memset(memory, 's', length);
        errno = EINVAL;
        assert_int_equal(munmap(memory, length), 0);
        assert_int_equal(errno, EINVAL);
        assert_ptr_equal(map_lent(length), memory);
    }
    assert_clear(memory, length);
    assert_int_equal(munmap(memory, length), 0);
}

static void other_mappings_are_no_business_of_it(void **state)
{
    (void)state;
    const size_t length = PASSWORD_MEMORY_LEAST;
    unsigned char *lent = map_lent(length);
    unsigned char *second = map_lent(length);
    unsigned char *other = map(length);
    unsigned char *small = map_lent(4096);
    assert_ptr_not_equal(second, lent);
    assert_ptr_not_equal(other, lent);
    memset(other, 'o', length);
    small[0] = second[length - 1] = lent[length - 1] = 'x';
    assert_int_equal(munmap(lent, length), 0);
    assert_int_equal(munmap(second, length), 0);
    assert_int_equal(munmap(small, 4096), 0);
    assert_int_equal(other[length - 1], 'o');
    assert_int_equal(munmap(other, length), 0);
    assert_ptr_equal(map_lent(length), lent);
    assert_int_equal(munmap(lent, length), 0);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(the_right_password_matches_and_no_other),
    HARNESS_TEST(no_password_matches_nothing),
    HARNESS_TEST(every_byte_counts),
    HARNESS_TEST(the_hash_is_a_short_argon2id_text_with_its_own_salt),
    HARNESS_TEST(other_costs_ask_for_a_new_hash),
    HARNESS_TEST(a_damaged_hash_decides_nothing),
    HARNESS_TEST(where_there_is_no_memory_a_password_is_not_told_wrong),
    HARNESS_TEST(an_impossible_cost_is_an_error),
    HARNESS_TEST(a_hash_of_many_pages_takes_the_memory_that_is_kept),
    HARNESS_TEST(what_was_lent_comes_back_empty),
    HARNESS_TEST(other_mappings_are_no_business_of_it),
};
HARNESS_MODULE(password_hash, cases)
