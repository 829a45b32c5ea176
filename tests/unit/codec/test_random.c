/* SPDX-License-Identifier: MIT */
/* Randomness: even, different in each process, and codes with leading zeros. */
#include "codec/random.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "harness.h"

static const char alphabet[] = "23456789abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ";

/*
 * Counts how often each character of `letters` stands in `text` and compares with chance: the sum of squared
 * deviations over the expectation is about its degrees of freedom, give or take a few times its square root.
 * Six deviations are passed by chance once in a hundred million runs, while a draw that folds 256 values onto
 * the alphabet is far off.
 */
static void assert_even(const char *text, const char *letters)
{
    size_t length = strlen(text);
    size_t count = strlen(letters);
    double expected = (double)length / (double)count;
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        double seen = 0;
        for (size_t j = 0; j < length; j++)
            seen += text[j] == letters[i];
        sum += (seen - expected) * (seen - expected) / expected;
    }
    double freedom = (double)count - 1;
    assert_true(sum < freedom + 6 * sqrt(2 * freedom) + 6);
}

static void texts_are_of_the_alphabet_and_even(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *text = random_text(arena, 200000);
    assert_int_equal(strlen(text), 200000);
    assert_int_equal(strspn(text, alphabet), 200000);
    assert_even(text, alphabet);
}

static void nothing_that_looks_like_something_else_is_in_it(void **state)
{
    struct arena *arena = harness_arena(state);
    assert_null(strpbrk(random_text(arena, 10000), "0Oo1Il i"));
}

static void a_generated_password_has_the_bits_that_it_must(void **state)
{
    (void)state;
    assert_true(RANDOM_PASSWORD_CHARACTERS * log2((double)(sizeof alphabet - 1)) >= 112);
}

static void codes_are_even_and_keep_leading_zeros(void **state)
{
    struct arena *arena = harness_arena(state);
    struct buffer all;
    buffer_init(&all, arena);
    size_t leading = 0;
    for (int i = 0; i < 20000; i++) {
        const char *code = random_code(arena, 6);
        assert_int_equal(strlen(code), 6);
        leading += code[0] == '0';
        buffer_add_text(&all, code);
    }
    assert_int_equal(strspn(all.bytes, "0123456789"), 120000);
    assert_even(all.bytes, "0123456789");
    assert_true(leading > 1600 && leading < 2400);
}

static void bytes_are_filled_to_the_end_and_differ(void **state)
{
    (void)state;
    unsigned char one[64] = {0};
    unsigned char other[64] = {0};
    random_bytes(one, 63);
    random_bytes(other, 63);
    assert_memory_not_equal(one, other, 63);
    assert_int_equal(one[63], 0);
    /* Sixteen zero bytes at an end come once in 2^128. */
    static const unsigned char zeros[16];
    assert_memory_not_equal(one + 47, zeros, 16);
    assert_memory_not_equal(one, zeros, 16);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(texts_are_of_the_alphabet_and_even),
    HARNESS_TEST(nothing_that_looks_like_something_else_is_in_it),
    HARNESS_TEST(a_generated_password_has_the_bits_that_it_must),
    HARNESS_TEST(codes_are_even_and_keep_leading_zeros),
    HARNESS_TEST(bytes_are_filled_to_the_end_and_differ),
};
HARNESS_MODULE(random, cases)
