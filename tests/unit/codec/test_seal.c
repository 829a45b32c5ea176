/* SPDX-License-Identifier: MIT */
/* Sealed values: opened by their key and purpose only, and by older keys. */
#include "codec/seal.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "harness.h"

static struct secret master(struct arena *arena, unsigned char fill)
{
    unsigned char bytes[SEAL_MASTER_BYTES];
    memset(bytes, fill, sizeof bytes);
    return secret_copy(arena, bytes, sizeof bytes);
}

static void assert_closed(struct arena *arena, struct secret key, const char *purpose, const unsigned char *sealed,
                          size_t length)
{
    struct secret opened = {0};
    struct error *error = unseal(arena, key, purpose, sealed, length, &opened);
    assert_non_null(error);
    assert_int_equal(error->code, ERROR_INTERNAL);
    assert_null(opened.bytes);
}

static void what_was_sealed_opens(void **state)
{
    struct arena *arena = harness_arena(state);
    unsigned char *text = arena_alloc(arena, 5000);
    memset(text, 0x42, 5000);
    static const size_t lengths[] = {0, 1, 31, 32, 33, 4999};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        unsigned char *sealed = NULL;
        size_t length = 0;
        struct secret opened = {0};
        assert_null(seal(arena, master(arena, 1), "signing-key:a", text, lengths[i], &sealed, &length));
        assert_int_equal(length, lengths[i] + SEAL_OVERHEAD_BYTES);
        assert_null(unseal(arena, master(arena, 1), "signing-key:a", sealed, length, &opened));
        assert_int_equal(opened.length, lengths[i]);
        assert_memory_equal(opened.bytes, text, lengths[i]);
        assert_int_equal(opened.bytes[opened.length], 0);
    }
}

static void nothing_of_the_text_shows(void **state)
{
    struct arena *arena = harness_arena(state);
    static const char text[] = "-----BEGIN PRIVATE KEY-----";
    unsigned char *sealed = NULL;
    size_t length = 0;
    assert_null(seal(arena, master(arena, 1), "a", text, sizeof text - 1, &sealed, &length));
    assert_null(memmem(sealed, length, text, 4));
}

static void the_same_text_is_sealed_differently_each_time(void **state)
{
    struct arena *arena = harness_arena(state);
    unsigned char *one = NULL;
    unsigned char *other = NULL;
    size_t length = 0;
    assert_null(seal(arena, master(arena, 1), "a", "text", 4, &one, &length));
    assert_null(seal(arena, master(arena, 1), "a", "text", 4, &other, &length));
    assert_memory_not_equal(one + 1, other + 1, 24);
    assert_memory_not_equal(one + 25, other + 25, length - 25);
}

static void any_change_keeps_it_closed(void **state)
{
    struct arena *arena = harness_arena(state);
    struct secret key = master(arena, 1);
    unsigned char *sealed = NULL;
    size_t length = 0;
    assert_null(seal(arena, key, "a", "some text", 9, &sealed, &length));
    for (size_t i = 0; i < length; i++)
        for (int bit = 0; bit < 8; bit++) {
            sealed[i] ^= (unsigned char)(1 << bit);
            assert_closed(arena, key, "a", sealed, length);
            sealed[i] ^= (unsigned char)(1 << bit);
        }
    for (size_t cut = 0; cut < length; cut++)
        assert_closed(arena, key, "a", sealed, cut);
    /* arena_copy() puts a NUL behind what it copies. */
    unsigned char *longer = (unsigned char *)arena_copy(arena, sealed, length);
    assert_closed(arena, key, "a", longer, length + 1);
    struct secret opened;
    assert_null(unseal(arena, key, "a", sealed, length, &opened));
}

static void another_purpose_or_secret_keeps_it_closed(void **state)
{
    struct arena *arena = harness_arena(state);
    unsigned char *sealed = NULL;
    size_t length = 0;
    assert_null(seal(arena, master(arena, 1), "signing-key:a", "text", 4, &sealed, &length));
    assert_closed(arena, master(arena, 2), "signing-key:a", sealed, length);
    static const char *const purposes[] = {"signing-key:b", "signing-key:", "", "signing-key:a ", "Signing-key:a"};
    for (size_t i = 0; i < sizeof purposes / sizeof *purposes; i++)
        assert_closed(arena, master(arena, 1), purposes[i], sealed, length);
    unsigned char *longer_secret = arena_alloc(arena, SEAL_MASTER_BYTES + 1);
    memset(longer_secret, 1, SEAL_MASTER_BYTES + 1);
    assert_closed(arena, secret_copy(arena, longer_secret, SEAL_MASTER_BYTES + 1), "signing-key:a", sealed, length);
}

static void a_short_master_secret_is_refused(void **state)
{
    struct arena *arena = harness_arena(state);
    unsigned char bytes[SEAL_MASTER_BYTES] = {1};
    unsigned char *sealed = NULL;
    size_t length = 0;
    for (size_t i = 0; i < SEAL_MASTER_BYTES; i++) {
        struct error *error = seal(arena, secret_copy(arena, bytes, i), "a", "text", 4, &sealed, &length);
        assert_non_null(error);
        assert_int_equal(error->code, ERROR_INTERNAL);
    }
    assert_non_null(seal(arena, (struct secret){0}, "a", "text", 4, &sealed, &length));
    assert_null(sealed);
}

static const char *key_line(struct arena *arena, char digit)
{
    char *line = arena_alloc(arena, 65);
    memset(line, digit, 64);
    return line;
}

static struct error *read_lines(struct arena *arena, const char *lines, struct secret *master_out)
{
    return seal_master_read(arena, harness_write(arena, harness_directory(arena), "keys", lines, strlen(lines)),
                            master_out);
}

static void the_first_key_seals_and_all_open(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *old = key_line(arena, 'a'), *new = key_line(arena, 'b');
    struct secret one, both, turned, last, opened;
    unsigned char *under_old, *under_new;
    size_t old_length, new_length;
    assert_null(read_lines(arena, arena_format(arena, "%s\n", old), &one));
    assert_null(read_lines(arena, arena_format(arena, "%s\n%s\n", old, new), &both));
    assert_null(read_lines(arena, arena_format(arena, "%s\n\n%s", new, old), &turned));
    assert_null(read_lines(arena, new, &last));
    assert_null(one.older);
    assert_null(both.older->older);
    assert_null(seal(arena, both, "p", "text", 4, &under_old, &old_length));
    assert_null(seal(arena, turned, "p", "text", 4, &under_new, &new_length));
    assert_null(unseal(arena, one, "p", under_old, old_length, &opened));
    assert_null(unseal(arena, turned, "p", under_old, old_length, &opened));
    assert_null(unseal(arena, both, "p", under_new, new_length, &opened));
    assert_string_equal(secret_reveal(opened), "text");
    assert_non_null(unseal(arena, one, "p", under_new, new_length, &opened));
    assert_non_null(unseal(arena, last, "p", under_old, old_length, &opened));
    assert_non_null(unseal(arena, turned, "q", under_old, old_length, &opened));
}

static void a_secret_file_that_is_none_is_refused(void **state)
{
    struct arena *arena = harness_arena(state);
    struct secret master;
    const char *key = key_line(arena, 'a');
    const char *const bad[] = {
        "short", "\n\n", arena_format(arena, "%s\nnot a key\n", key), arena_format(arena, "%s0\n", key),
        arena_format(arena, "%s\n%s\n%s\n%s\n%s\n%s\n%s\n%s\n%s\n", key, key, key, key, key, key, key, key, key)};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct error *error = read_lines(arena, bad[i], &master);
        assert_non_null(error);
        assert_non_null(strstr(error->message, "secret file"));
    }
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(the_first_key_seals_and_all_open),
    HARNESS_TEST(a_secret_file_that_is_none_is_refused),
    HARNESS_TEST(what_was_sealed_opens),
    HARNESS_TEST(nothing_of_the_text_shows),
    HARNESS_TEST(the_same_text_is_sealed_differently_each_time),
    HARNESS_TEST(any_change_keeps_it_closed),
    HARNESS_TEST(another_purpose_or_secret_keeps_it_closed),
    HARNESS_TEST(a_short_master_secret_is_refused),
};
HARNESS_MODULE(seal, cases)
