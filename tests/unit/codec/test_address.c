/* SPDX-License-Identifier: MIT */
/* E-mail addresses: their form, their bounds and their comparison keys. */
#include "harness.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/text.h"
#include "codec/address.h"

/* Lines of spellings of one address; the first is the key. */
static const char *const alike[][6] = {
    {"ann@example.org", "Ann@Example.ORG", "ANN@EXAMPLE.ORG", "ａｎｎ＠ｅｘａｍｐｌｅ．ｏｒｇ", "ann﹫example。org",
     "ann@example｡org"},
    {"élan@example.org", "ÉLAN@example.org", "e\xcc\x81lan@example.org", "E\xcc\x81LAN@EXAMPLE.org", "Élan@example.org",
     "ｅ\xcc\x81lan@example.org"},
    {"strasse@example.org", "straße@example.org", "STRASSE@example.org", "STRAẞE@example.org", "ſtraſſe@example.org",
     NULL},
    {"office@example.org", "oﬃce@example.org", "oﬀice@example.org", NULL},
    {"k\xc3\xa5re@example.org", "\xe2\x84\xaa\xe2\x84\xabre@example.org", "KÅRE@example.org",
     "ka\xcc\x8are@example.org", NULL},
    {"i@example.org", "I@example.org", "ｉ@example.org", NULL},
    {"i\xcc\x87@example.org", "İ@example.org", "I\xcc\x87@example.org", NULL},
    {"ı@example.org", "ı@EXAMPLE.org", NULL},
    {"σίσυφοσ@example.org", "ΣΊΣΥΦΟΣ@example.org", "Σίσυφος@example.org", NULL},
    {"иван@xn--e1afmkfd.xn--p1ai", "ИВАН@ПРИМЕР.РФ", "иван@пример.рф", "Иван@XN--E1AFMKFD.XN--P1AI", NULL},
    {"a@xn--mnchen-3ya.de", "a@münchen.de", "A@MÜNCHEN.DE", "a@mu\xcc\x88nchen.de", "a@XN--MNCHEN-3YA.de",
     "a＠ｍünchen．de"},
    {"a@xn--strae-oqa.de", "a@straße.de", "a@STRAẞE.de", NULL},
    {"a@strasse.de", "A@STRASSE.de", NULL},
    {"a@xn---24-zxc8cb2a.gr", "a@ΟΔΟΣ-24.gr", "a@οδοσ-24.gr", "a@ΟΔΟϹ-24.gr", NULL},
    {"a@xn---24-zxc8cbv.gr", "a@οδος-24.gr", "a@ΟΔΟς-24.gr", NULL},
    {"用户@xn--fsqu00a.xn--0zwm56d", "用户@例子.测试", "用户＠例子。测试", "用户@例子｡测试", NULL},
    {"a1@example.org", "a¹@example.org", "a①@example.org", "ａ１@example.org", NULL},
    {"tel@example.org", "℡@example.org", "TEL@example.org", NULL},
    {"a.b@example.org", "a․b@example.org", "a．b@example.org", NULL},
    {"가@example.org", "\xe1\x84\x80\xe1\x85\xa1@example.org", NULL},
};

static void spellings_of_one_address_have_one_key(void **state)
{
    struct arena *arena = harness_arena(state);
    for (size_t row = 0; row < sizeof alike / sizeof *alike; row++)
        for (size_t i = 0; i < 6 && alike[row][i] != NULL; i++) {
            if (address_validate(arena, alike[row][i]) != ADDRESS_GOOD)
                fail_msg("%s should be good", alike[row][i]);
            if (strcmp(address_key(arena, alike[row][i]), alike[row][0]) != 0)
                fail_msg("%s has the key %s", alike[row][i], address_key(arena, alike[row][i]));
            assert_true(address_same(arena, alike[row][0], alike[row][i]));
        }
}

static void different_addresses_have_different_keys(void **state)
{
    struct arena *arena = harness_arena(state);
    size_t rows = sizeof alike / sizeof *alike;
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < rows; k++)
            assert_int_equal(address_same(arena, alike[i][0], alike[k][0]), i == k);
    static const char *const pairs[][2] = {
        {"ann@example.org", "аnn@example.org"}, /* a Cyrillic letter */
        {"a.nn@example.org", "ann@example.org"},  {"ann+x@example.org", "ann@example.org"},
        {"elan@example.org", "élan@example.org"}, {"ann@example.org", "ann@example.org."},
        {"ann@example.org", "ann@example.org "},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        assert_false(address_same(arena, pairs[i][0], pairs[i][1]));
    assert_false(address_same(arena, NULL, NULL));
    assert_false(address_same(arena, "a@b.co", NULL));
}

static void an_address_is_kept_as_typed_and_cleaned(void **state)
{
    struct arena *arena = harness_arena(state);
    static const char *const cases[][3] = {
        /* typed, kept, as a mail server takes it */
        {"AZaz09.!#@EXAMPLE.org", "azaz09.!#@example.org", "azaz09.!#@example.org"},
        {"Élan@Example.org", "Élan@example.org", "Élan@example.org"},
        {"E\xcc\x81lan@example.org", "Élan@example.org", "Élan@example.org"},
        {"straße@straße.de", "straße@straße.de", "straße@xn--strae-oqa.de"},
        {"ÉLAN@MÜNCHEN.DE", "Élan@münchen.de", "Élan@xn--mnchen-3ya.de"},
        {"ann＠münchen．de", "ann@münchen.de", "ann@xn--mnchen-3ya.de"},
        {"ann﹫例子。测试", "ann@例子.测试", "ann@xn--fsqu00a.xn--0zwm56d"},
        {"a@xn--mnchen-3ya.de", "a@xn--mnchen-3ya.de", "a@xn--mnchen-3ya.de"},
        {"a@ΟΔΟΣ-24.gr", "a@οδοσ-24.gr", "a@xn---24-zxc8cb2a.gr"},
        {"a@ΟΔΟς-24.gr", "a@οδος-24.gr", "a@xn---24-zxc8cbv.gr"},
        {"No Address", "no address", "no address"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *kept = address_clean(arena, cases[i][0]);
        assert_string_equal(kept, cases[i][1]);
        assert_string_equal(address_clean(arena, kept), kept);
        assert_string_equal(address_wire(arena, kept), cases[i][2]);
        assert_string_equal(address_key(arena, kept), address_key(arena, cases[i][0]));
    }
}

static void what_nobody_sees_is_refused(void **state)
{
    struct arena *arena = harness_arena(state);
    static const uint32_t unseen[] = {
        0x00ad,  0x034f,  0x061c,   0x115f,  0x1160,  0x17b4,  0x17b5, 0x180b, 0x180e,  0x200b,   0x200c,  0x200d,
        0x200e,  0x200f,  0x2028,   0x2029,  0x202a,  0x202e,  0x202f, 0x2060, 0x2064,  0x2066,   0x2069,  0x206f,
        0x2800,  0x3000,  0x3164,   0xfe00,  0xfe0f,  0xfeff,  0xffa0, 0xfff9, 0xfffc,  0x1d159,  0x1d173, 0x1bca0,
        0xe0000, 0xe0001, 0xe0041,  0xe007f, 0xe0100, 0xe01ef, 0xe000, 0xf8ff, 0xf0000, 0x10fffd, 0x0378,  0xffff,
        0xfdd0,  0x1fffe, 0x10ffff, 0x0080,  0x0085,  0x009f,  0x00a0, 0x1680, 0x2000,  0x200a,   0x205f};
    for (size_t i = 0; i < sizeof unseen / sizeof *unseen; i++) {
        char letter[5] = {0};
        uint32_t c = unseen[i];
        if (c < 0x800)
            (void)snprintf(letter, sizeof letter, "%c%c", (int)(0xc0 | c >> 6), (int)(0x80 | (c & 63)));
        else if (c < 0x10000)
            (void)snprintf(letter, sizeof letter, "%c%c%c", (int)(0xe0 | c >> 12), (int)(0x80 | (c >> 6 & 63)),
                           (int)(0x80 | (c & 63)));
        else
            (void)snprintf(letter, sizeof letter, "%c%c%c%c", (int)(0xf0 | c >> 18), (int)(0x80 | (c >> 12 & 63)),
                           (int)(0x80 | (c >> 6 & 63)), (int)(0x80 | (c & 63)));
        static const char *const places[] = {"a%sb@example.org", "%sab@example.org", "ab%s@example.org",
                                             "ab@exa%smple.org", "ab@example.org%s"};
        for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
            const char *mark = strchr(places[k], '%');
            const char *text = arena_format(arena, "%.*s%s%s", (int)(mark - places[k]), places[k], letter, mark + 2);
            if (address_validate(arena, text) != ADDRESS_INVISIBLE)
                fail_msg("U+%04X in %s should be refused", (unsigned)c, places[k]);
            assert_false(address_same(arena, text, "ab@example.org"));
        }
    }
    assert_int_equal(address_validate(arena, "a\xff@example.org"), ADDRESS_INVISIBLE);
}

static void domains_are_checked(void **state)
{
    struct arena *arena = harness_arena(state);
    static const char *const domains[] = {"a@xn--a.de",
                                          "a@xn--.de",
                                          "a@xn--mnchen-3ya-.de",
                                          "a@☃.example",
                                          "a@münchen",
                                          "a@.münchen.de",
                                          "a@münchen..de",
                                          "a@münchen.de.",
                                          "a@mün chen.de",
                                          "a@mün_chen.de",
                                          "a@-münchen.de",
                                          "a@\xcc\x81mnchen.de",
                                          "a@xn--fa-hia.de-",
                                          ("a@\xd7\x90"
                                           "a.example")};
    for (size_t i = 0; i < sizeof domains / sizeof *domains; i++)
        if (address_validate(arena, domains[i]) == ADDRESS_GOOD)
            fail_msg("%s should not pass", domains[i]);
    assert_int_equal(address_validate(arena, "a@xn--a.de"), ADDRESS_DOMAIN);
}

static void the_form_is_checked(void **state)
{
    struct arena *arena = harness_arena(state);
    static const char *const good[] = {"a@b.co",
                                       "first.last+tag@sub.example.org",
                                       "O'Neil@x-y.example",
                                       "j\xc3\xbcrgen@example.org",
                                       "1@2.example",
                                       "a@ab--cd.example",
                                       "हिन्दी@example.org"};
    static const char *const shapeless[] = {"",
                                            "a",
                                            "@b.co",
                                            "a@",
                                            "a@b",
                                            "a b@c.de",
                                            ".a@b.co",
                                            "a.@b.co",
                                            "a..b@c.de",
                                            "a@b..co",
                                            "a@-b.co",
                                            "a@b-.co",
                                            "a@b.co.",
                                            "a@b_c.de",
                                            "a\r\nBcc: x@y.zz@b.co",
                                            "<a@b.co>",
                                            "a@b.co,c@d.ee",
                                            "a@[127.0.0.1]",
                                            "a@b@c.de",
                                            "a＠b@c.de",
                                            "a..b＠c.de",
                                            "a\x7f@b.co"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (address_validate(arena, good[i]) != ADDRESS_GOOD)
            fail_msg("%s should pass", good[i]);
    for (size_t i = 0; i < sizeof shapeless / sizeof *shapeless; i++)
        if (address_validate(arena, shapeless[i]) != ADDRESS_SHAPE)
            fail_msg("%s should not pass", shapeless[i]);
    /* What NFKC makes of a letter is checked as well: these are (a), a blank and an acute, a < and three dots. */
    static const char *const made[] = {"⒜@example.org", "a\xc2\xb4@example.org", "a＜@example.org", "a…b@example.org"};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        assert_int_equal(address_validate(arena, made[i]), ADDRESS_SHAPE);
    for (enum address_fault fault = ADDRESS_SHAPE; fault <= ADDRESS_LENGTH; fault++)
        assert_non_null(strstr(address_fault_text(fault), "e-mail address"));
    assert_null(address_fault_text(ADDRESS_GOOD));
}

static const char *repeated(struct arena *arena, const char *text, size_t times, const char *end)
{
    struct buffer out;
    buffer_init(&out, arena);
    while (times-- > 0)
        buffer_add_text(&out, text);
    buffer_add_text(&out, end);
    return out.bytes;
}

static void lengths_are_bounded_as_typed_and_as_a_key(void **state)
{
    struct arena *arena = harness_arena(state);
    assert_int_equal(address_validate(arena, repeated(arena, "a", 64, "@example.org")), ADDRESS_GOOD);
    assert_int_equal(address_validate(arena, repeated(arena, "a", 65, "@example.org")), ADDRESS_LENGTH);
    assert_int_equal(address_validate(arena, repeated(arena, "é", 32, "@example.org")), ADDRESS_GOOD);
    assert_int_equal(address_validate(arena, repeated(arena, "é", 33, "@example.org")), ADDRESS_LENGTH);
    /* U+0149 folds to three bytes from two, U+FB03 to three from three, U+FDFA to 33 from three. */
    assert_int_equal(address_validate(arena, repeated(arena, "ŉ", 32, "@example.org")), ADDRESS_LENGTH);
    assert_int_equal(address_validate(arena, repeated(arena, "ﬃ", 21, "@example.org")), ADDRESS_GOOD);
    const char *letters = repeated(arena, "a", 62, ".");
    const char *domain = arena_format(arena, "%s%s%s", letters, letters, letters);
    assert_int_equal(address_validate(arena, repeated(arena, "a", 64, arena_format(arena, "@%sde", domain))),
                     ADDRESS_LENGTH);
    assert_int_equal(address_validate(arena, repeated(arena, "a", 63, arena_format(arena, "@%sde", domain))),
                     ADDRESS_LENGTH);
    assert_int_equal(address_validate(arena, repeated(arena, "a", 62, arena_format(arena, "@%sde", domain))),
                     ADDRESS_GOOD);
    assert_int_equal(address_validate(arena, repeated(arena, "a", 60, arena_format(arena, "@%s", domain))),
                     ADDRESS_SHAPE);
    /* Whatever comes is bounded work, and comes back. */
    const char *huge = repeated(arena, "\xef\xb7\xba", 20000, "@example.org");
    assert_int_equal(address_validate(arena, huge), ADDRESS_LENGTH);
    assert_string_equal(address_key(arena, huge), huge);
}

/* Each code point there is, alone and before an accent: a key is its own key, and cleaning does not change it. */
static void a_key_is_its_own_key(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    for (uint32_t c = 0x80; c < 0x30000; c++) {
        const unsigned char bytes[] = {(unsigned char)(0xf0 | c >> 18), (unsigned char)(0x80 | (c >> 12 & 63)),
                                       (unsigned char)(0x80 | (c >> 6 & 63)), (unsigned char)(0x80 | (c & 63))};
        const unsigned char three[] = {(unsigned char)(0xe0 | c >> 12), bytes[2], bytes[3]};
        const unsigned char two[] = {(unsigned char)(0xc0 | c >> 6), bytes[3]};
        const void *letter = c < 0x800 ? (const void *)two : c < 0x10000 ? (const void *)three : (const void *)bytes;
        const char *text = arena_copy(arena, letter, c < 0x800 ? 2 : c < 0x10000 ? 3 : 4);
        static const char *const ends[] = {"@example.org", "\xcc\x81"
                                                           "a@example.org"};
        for (size_t i = 0; i < 2; i++) {
            const char *address = arena_format(arena, "a%s%s", text, ends[i]);
            const char *key = address_key(arena, address);
            if (strcmp(address_key(arena, key), key) != 0 ||
                strcmp(address_key(arena, address_clean(arena, address)), key) != 0)
                fail_msg("U+%04X: %s, %s", (unsigned)c, key, address_key(arena, key));
        }
        if (c % 256 == 0)
            arena_reset(arena);
    }
    arena_free(&arena);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(spellings_of_one_address_have_one_key),
    HARNESS_TEST(different_addresses_have_different_keys),
    HARNESS_TEST(an_address_is_kept_as_typed_and_cleaned),
    HARNESS_TEST(what_nobody_sees_is_refused),
    HARNESS_TEST(the_form_is_checked),
    HARNESS_TEST(domains_are_checked),
    HARNESS_TEST(lengths_are_bounded_as_typed_and_as_a_key),
    HARNESS_TEST(a_key_is_its_own_key),
};
HARNESS_MODULE(address, cases)
