/* SPDX-License-Identifier: MIT */
/* The headers of resumable uploads. */
#include "http/upload_header.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "harness.h"

static void metadata_is_read(void **state)
{
    struct arena *arena = harness_arena(state);
    struct upload_metadata metadata;
    assert_null(upload_metadata_read(arena, "", &metadata));
    assert_int_equal(metadata.count, 0);
    assert_null(upload_metadata_read(arena, "filename YS9iLnR4dA==, empty,blank ", &metadata));
    assert_int_equal(metadata.count, 3);
    assert_string_equal(metadata.pairs[0].key, "filename");
    assert_string_equal(metadata.pairs[0].value, "a/b.txt");
    assert_string_equal(metadata.pairs[1].key, "empty");
    assert_string_equal(metadata.pairs[1].value, "");
    assert_string_equal(metadata.pairs[2].value, "");
}

static void metadata_that_is_none_is_refused(void **state)
{
    struct arena *arena = harness_arena(state);
    struct upload_metadata metadata;
    static const char *const bad[] = {
        ",",       "a,",      ",a",     "a,,b",   "a YQ", "a YQ=",     "a YQ===",  "a Y=Q=", "a _-__",   "a YQ== x",
        "a YQ=\t", "a  YQ==", "a AA==", "a /w==", "a,a",  "a\tb YQ==", "\xc3\xa4", "a YR==", "a YQ==,a", "a YQ== YQ=="};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *fault = upload_metadata_read(arena, bad[i], &metadata);
        if (fault == NULL)
            (void)fprintf(stderr, "taken: %s\n", bad[i]);
        assert_non_null(fault);
    }
}

static void metadata_has_bounds(void **state)
{
    struct arena *arena = harness_arena(state);
    struct upload_metadata metadata;
    char text[UPLOAD_METADATA_BYTES + 2];
    memset(text, 'k', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_non_null(upload_metadata_read(arena, text, &metadata));
    assert_null(upload_metadata_read(arena, text + 1, &metadata));
    assert_null(upload_metadata_read(arena, "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p", &metadata));
    assert_int_equal(metadata.count, UPLOAD_METADATA_PAIRS);
    assert_non_null(upload_metadata_read(arena, "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q", &metadata));
}

static void checksums_are_read(void **state)
{
    struct arena *arena = harness_arena(state);
    uint8_t digest[DIGEST_BYTES];
    uint8_t wanted[DIGEST_BYTES];
    digest_sha256("", 0, wanted);
    assert_int_equal(upload_checksum_read(arena, "sha256 47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", digest),
                     UPLOAD_CHECKSUM_GOOD);
    assert_memory_equal(digest, wanted, DIGEST_BYTES);
    static const char *const malformed[] = {"",
                                            "sha256",
                                            "sha256 ",
                                            " sha256",
                                            "sha256 YQ==",
                                            "sha256  47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
                                            "sha256 *",
                                            "sha256 47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU"};
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++)
        assert_int_equal(upload_checksum_read(arena, malformed[i], digest), UPLOAD_CHECKSUM_MALFORMED);
    assert_int_equal(upload_checksum_read(arena, "sha1 Kq5sNclPz7QV2+lfQIuc6R7oRu0=", digest),
                     UPLOAD_CHECKSUM_UNKNOWN_ALGORITHM);
    assert_int_equal(upload_checksum_read(arena, "SHA256 YQ==", digest), UPLOAD_CHECKSUM_UNKNOWN_ALGORITHM);
}

static void numbers_are_digits(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "-1", "+1", " 1", "1 ", "1.0", "1e3", "0x1", "01", "9223372036854775808"};
    int64_t number = 0;
    assert_true(upload_number_read("0", &number));
    assert_int_equal(number, 0);
    assert_true(upload_number_read("9223372036854775807", &number));
    assert_true(number == INT64_MAX);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(upload_number_read(bad[i], &number));
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(metadata_is_read),    HARNESS_TEST(metadata_that_is_none_is_refused),
    HARNESS_TEST(metadata_has_bounds), HARNESS_TEST(checksums_are_read),
    HARNESS_TEST(numbers_are_digits),
};
HARNESS_MODULE(upload_header, cases)
