/* SPDX-License-Identifier: MIT */
/* What the server's error numbers and words mean. */
#include "harness.h"

#include "store/database/database_int.h"

static void error_numbers_have_their_meaning(void **state)
{
    static const struct {
        unsigned number;
        enum database_failure failure;
    } table[] = {
        {2002, DATABASE_FAILURE_UNAVAILABLE}, {2003, DATABASE_FAILURE_UNAVAILABLE},
        {2006, DATABASE_FAILURE_LOST},        {2013, DATABASE_FAILURE_LOST},
        {1040, DATABASE_FAILURE_UNAVAILABLE}, {1047, DATABASE_FAILURE_LOST},
        {1053, DATABASE_FAILURE_LOST},        {1205, DATABASE_FAILURE_CONFLICT},
        {1213, DATABASE_FAILURE_CONFLICT},    {1290, DATABASE_FAILURE_UNAVAILABLE},
        {1836, DATABASE_FAILURE_UNAVAILABLE}, {1045, DATABASE_FAILURE_UNAVAILABLE},
        {1969, DATABASE_FAILURE_UNAVAILABLE}, {1021, DATABASE_FAILURE_FULL},
        {1114, DATABASE_FAILURE_FULL},        {1062, DATABASE_FAILURE_DUPLICATE},
        {1452, DATABASE_FAILURE_REFERENCE},   {1451, DATABASE_FAILURE_REFERENCE},
        {1243, DATABASE_FAILURE_FORGOTTEN},   {1615, DATABASE_FAILURE_FORGOTTEN},
        {1064, DATABASE_FAILURE_MISTAKE},     {1146, DATABASE_FAILURE_MISTAKE},
        {1406, DATABASE_FAILURE_MISTAKE},     {4025, DATABASE_FAILURE_MISTAKE},
        {0, DATABASE_FAILURE_MISTAKE},        {2000, DATABASE_FAILURE_LOST},
        {2099, DATABASE_FAILURE_LOST},        {3024, DATABASE_FAILURE_MISTAKE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        assert_int_equal(database_failure_of(table[i].number, ""), table[i].failure);
}

static void a_full_disk_is_told_from_the_engine_s_words(void **state)
{
    (void)state;
    assert_int_equal(database_failure_of(1030, "Got error 28 \"No space left on device\" from storage engine InnoDB"),
                     DATABASE_FAILURE_FULL);
    assert_int_equal(database_failure_of(1030, "Got error 122 \"Internal (unspecified) error in handler\""),
                     DATABASE_FAILURE_UNAVAILABLE);
    assert_int_equal(database_failure_of(1030, "Got error 128 \"Out of memory in engine\" from storage engine"),
                     DATABASE_FAILURE_UNAVAILABLE);
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
        database_failure_key(table[i].message, key);
        assert_string_equal(key, table[i].key);
    }
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(error_numbers_have_their_meaning),
    HARNESS_TEST(a_full_disk_is_told_from_the_engine_s_words),
    HARNESS_TEST(the_key_s_name_is_read_whatever_the_value_holds),
};
HARNESS_MODULE(database_failure, cases)
