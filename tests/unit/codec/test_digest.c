/* SPDX-License-Identifier: MIT */
/* SHA-256 and HMAC by published vectors. */
#include "codec/digest.h"

#include <string.h>
#include <sys/wait.h>

#include "base/arena.h"
#include "codec/encoding.h"
#include "harness.h"

static const char *hex(struct arena *arena, const uint8_t digest[DIGEST_BYTES])
{
    return hex_encode(arena, digest, DIGEST_BYTES);
}

/* FIPS 180-4's examples. */
static void sha256_follows_the_standard(void **state)
{
    struct arena *arena = harness_arena(state);
    static const char *const pairs[][2] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    uint8_t digest[DIGEST_BYTES];
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        digest_sha256(pairs[i][0], strlen(pairs[i][0]), digest);
        assert_string_equal(hex(arena, digest), pairs[i][1]);
    }
}

static void a_stream_gives_the_same_however_it_is_cut(void **state)
{
    struct arena *arena = harness_arena(state);
    struct harness_random random = {.state = 4};
    enum { LENGTH = 5000 };
    unsigned char *bytes = arena_alloc(arena, LENGTH);
    for (size_t i = 0; i < LENGTH; i++)
        bytes[i] = (unsigned char)harness_random_next(&random);
    uint8_t whole[DIGEST_BYTES];
    digest_sha256(bytes, LENGTH, whole);
    struct digest *digest = digest_open(arena);
    for (int round = 0; round < 20; round++) {
        uint8_t parts[DIGEST_BYTES];
        for (size_t at = 0; at < LENGTH;) {
            size_t step = harness_random_below(&random, 300);
            step = step > LENGTH - at ? LENGTH - at : step;
            digest_update(digest, bytes + at, step);
            at += step;
        }
        digest_final(digest, parts);
        /* The stream has begun afresh, so that every round gives the same. */
        assert_memory_equal(parts, whole, DIGEST_BYTES);
    }
}

/* RFC 4231, test cases 1, 2 and 6. */
static void hmac_follows_the_rfc(void **state)
{
    struct arena *arena = harness_arena(state);
    uint8_t digest[DIGEST_BYTES];
    unsigned char key[131];
    memset(key, 0x0b, 20);
    digest_hmac(secret_copy(arena, key, 20), "Hi There", 8, digest);
    assert_string_equal(hex(arena, digest), "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    digest_hmac(secret_of("Jefe"), "what do ya want for nothing?", 28, digest);
    assert_string_equal(hex(arena, digest), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, sizeof key);
    static const char text[] = "Test Using Larger Than Block-Size Key - Hash Key First";
    digest_hmac(secret_copy(arena, key, sizeof key), text, strlen(text), digest);
    assert_string_equal(hex(arena, digest), "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

static void equality_looks_at_every_byte(void **state)
{
    (void)state;
    uint8_t one[DIGEST_BYTES];
    digest_sha256("x", 1, one);
    for (size_t i = 0; i < DIGEST_BYTES; i++) {
        uint8_t other[DIGEST_BYTES];
        memcpy(other, one, sizeof other);
        assert_true(digest_equal(one, other));
        other[i] ^= 0x80;
        assert_false(digest_equal(one, other));
    }
}

static void sign_with(void *context)
{
    const struct secret *key = context;
    uint8_t digest[DIGEST_BYTES];
    digest_hmac(*key, "x", 1, digest);
}

/* An empty key would sign for everybody. */
static void hmac_without_a_key_ends_the_process(void **state)
{
    (void)state;
    struct secret keys[] = {{.bytes = NULL, .length = 0}, secret_of("")};
    for (size_t i = 0; i < 2; i++)
        assert_true(WIFSIGNALED(harness_fork(sign_with, &keys[i])));
    struct secret shortest = secret_of("k");
    assert_int_equal(harness_fork(sign_with, &shortest), 0);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(sha256_follows_the_standard),
    HARNESS_TEST(a_stream_gives_the_same_however_it_is_cut),
    HARNESS_TEST(hmac_follows_the_rfc),
    HARNESS_TEST(equality_looks_at_every_byte),
    HARNESS_TEST(hmac_without_a_key_ends_the_process),
};
HARNESS_MODULE(digest, cases)
