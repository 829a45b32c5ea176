/* SPDX-License-Identifier: MIT */
/* What the server's error numbers and words mean. */
#include "harness.h"

#include "store/database/database_int.h"

static void error_numbers_have_their_meaning(void **state)
{
    static const struct {
        unsigned number;
        enum failure failure;
    } table[] = {
        {2002, FAILURE_UNAVAILABLE}, {2003, FAILURE_UNAVAILABLE}, {2006, FAILURE_LOST},
        {2013, FAILURE_LOST},        {1040, FAILURE_UNAVAILABLE}, {1047, FAILURE_UNAVAILABLE},
        {1053, FAILURE_LOST},        {1205, FAILURE_CONFLICT},    {1213, FAILURE_CONFLICT},
        {1290, FAILURE_UNAVAILABLE}, {1836, FAILURE_UNAVAILABLE}, {1045, FAILURE_UNAVAILABLE},
        {1969, FAILURE_UNAVAILABLE}, {1021, FAILURE_FULL},        {1114, FAILURE_FULL},
        {1062, FAILURE_DUPLICATE},   {1452, FAILURE_REFERENCE},   {1451, FAILURE_REFERENCE},
        {1243, FAILURE_FORGOTTEN},   {1615, FAILURE_FORGOTTEN},   {1064, FAILURE_MISTAKE},
        {1146, FAILURE_MISTAKE},     {1406, FAILURE_MISTAKE},     {4025, FAILURE_MISTAKE},
        {0, FAILURE_MISTAKE},        {2000, FAILURE_LOST},        {2099, FAILURE_LOST},
        {3024, FAILURE_MISTAKE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        assert_int_equal(failure_of(table[i].number, ""), table[i].failure);
}

static void a_full_disk_is_told_from_the_engine_s_words(void **state)
{
    (void)state;
    assert_int_equal(failure_of(1030, "Got error 28 \"No space left on device\" from storage engine InnoDB"),
                     FAILURE_FULL);
    assert_int_equal(failure_of(1030, "Got error 122 \"Internal (unspecified) error in handler\""),
                     FAILURE_UNAVAILABLE);
    assert_int_equal(failure_of(1030, "Got error 128 \"Out of memory in engine\" from storage engine"),
                     FAILURE_UNAVAILABLE);
}

static void the_key_s_name_is_read_whatever_the_value_holds(void **state)
{
    static const struct {
        const char *message, *key;
    } table[] = {
        {"Duplicate entry 'a@b.example' for key 'user_email'", "user_email"},
        {"Duplicate entry 'x' for key 'PRIMARY'", "PRIMARY"},
        {"Duplicate entry 'x' for key 'user.user_email'", "user_email"},
        {"Duplicate entry '' for key 'evil'' for key 'user_email'", "user_email"},
        {"Duplicate entry 'x", ""},
        {"Duplicate entry 'x' for key '", ""},
        {"", ""},
        {"Doppelter Eintrag 'x' f\xc3\xbcr Schl\xc3\xbcssel 'user_email'", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char key[65];
        failure_key(table[i].message, key);
        assert_string_equal(key, table[i].key);
    }
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(error_numbers_have_their_meaning),
    HARNESS_TEST(a_full_disk_is_told_from_the_engine_s_words),
    HARNESS_TEST(the_key_s_name_is_read_whatever_the_value_holds),
};
HARNESS_MODULE(failure, cases)
