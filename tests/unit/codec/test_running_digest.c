/* SPDX-License-Identifier: MIT */
/* Tests a SHA-256 whose state is saved and loaded again: the result is the digest of all bytes. */
#include "codec/digest.h"

#include <string.h>

#include "base/arena.h"
#include "codec/encoding.h"
#include "harness.h"

static unsigned char *noise(struct arena *arena, struct harness_random *random, size_t length)
{
    unsigned char *bytes = arena_alloc(arena, length);
    for (size_t i = 0; i < length; i++)
        bytes[i] = (unsigned char)harness_random_next(random);
    return bytes;
}

/* FIPS 180-4, section 5.3.3: the initial hash is the state of nothing. */
static void the_state_is_that_of_the_standard(void **state)
{
    struct arena *arena = harness_arena(state);
    uint8_t kept[RUNNING_DIGEST_BYTES];
    struct running_digest *digest = running_digest_new(arena);
    running_digest_save(digest, kept);
    assert_string_equal(hex_encode(arena, kept, DIGEST_BYTES),
                        "6a09e667bb67ae853c6ef372a54ff53a510e527f9b05688c1f83d9ab5be0cd19");
    running_digest_update(digest, "abc", 3);
    running_digest_save(digest, kept);
    assert_string_equal(hex_encode(arena, kept + DIGEST_BYTES, 12), "000000000000000361626300");
}

static void it_goes_on_from_any_point(void **state)
{
    struct arena *arena = harness_arena(state);
    struct harness_random random = {.state = 9};
    enum { LENGTH = 1000 };
    const unsigned char *bytes = noise(arena, &random, LENGTH);
    uint8_t whole[DIGEST_BYTES];
    uint8_t parts[DIGEST_BYTES];
    uint8_t kept[RUNNING_DIGEST_BYTES];
    digest_sha256(bytes, LENGTH, whole);
    for (size_t cut = 0; cut <= LENGTH; cut++) {
        struct running_digest *digest = running_digest_new(arena);
        running_digest_update(digest, bytes, cut);
        running_digest_save(digest, kept);
        digest = running_digest_load(arena, kept, sizeof kept);
        assert_non_null(digest);
        assert_int_equal(running_digest_length(digest), cut);
        running_digest_update(digest, bytes + cut, LENGTH - cut);
        running_digest_result(digest, parts);
        assert_memory_equal(parts, whole, DIGEST_BYTES);
    }
}

static void it_goes_on_again_and_again(void **state)
{
    struct arena *arena = harness_arena(state);
    struct harness_random random = {.state = 10};
    enum { LENGTH = 40000 };
    const unsigned char *bytes = noise(arena, &random, LENGTH);
    uint8_t whole[DIGEST_BYTES];
    uint8_t parts[DIGEST_BYTES];
    uint8_t kept[RUNNING_DIGEST_BYTES];
    digest_sha256(bytes, LENGTH, whole);
    struct running_digest *digest = running_digest_new(arena);
    for (size_t at = 0; at < LENGTH;) {
        size_t step = harness_random_below(&random, 300);
        step = step > LENGTH - at ? LENGTH - at : step;
        running_digest_update(digest, bytes + at, step);
        at += step;
        running_digest_result(digest, parts); /* changes nothing */
        running_digest_save(digest, kept);
        digest = running_digest_load(arena, kept, sizeof kept);
    }
    running_digest_result(digest, parts);
    assert_memory_equal(parts, whole, DIGEST_BYTES);
}

/* The number of bits has more than 32 of them from 512 MiB on. */
static void it_counts_beyond_four_gibibits(void **state)
{
    struct arena *arena = harness_arena(state);
    enum { BLOCK = 1 << 20, BLOCKS = 513 };
    const unsigned char *zeros = arena_alloc(arena, BLOCK);
    uint8_t whole[DIGEST_BYTES];
    uint8_t parts[DIGEST_BYTES];
    uint8_t kept[RUNNING_DIGEST_BYTES];
    struct digest *other = digest_open(arena);
    struct running_digest *digest = running_digest_new(arena);
    for (int i = 0; i < BLOCKS; i++) {
        digest_update(other, zeros, BLOCK);
        running_digest_update(digest, zeros, BLOCK);
    }
    running_digest_save(digest, kept);
    digest = running_digest_load(arena, kept, sizeof kept);
    digest_update(other, "end", 3);
    running_digest_update(digest, "end", 3);
    digest_final(other, whole);
    running_digest_result(digest, parts);
    assert_memory_equal(parts, whole, DIGEST_BYTES);
}

static void what_is_no_state_is_refused(void **state)
{
    struct arena *arena = harness_arena(state);
    uint8_t kept[RUNNING_DIGEST_BYTES];
    running_digest_save(running_digest_new(arena), kept);
    assert_null(running_digest_load(arena, kept, sizeof kept - 1));
    assert_null(running_digest_load(arena, kept, 0));
    kept[RUNNING_DIGEST_BYTES - 1] = 1;
    assert_null(running_digest_load(arena, kept, sizeof kept));
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(the_state_is_that_of_the_standard), HARNESS_TEST(it_goes_on_from_any_point),
    HARNESS_TEST(it_goes_on_again_and_again),        HARNESS_TEST(it_counts_beyond_four_gibibits),
    HARNESS_TEST(what_is_no_state_is_refused),
};
HARNESS_MODULE(running_digest, cases)
