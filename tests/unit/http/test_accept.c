/* SPDX-License-Identifier: MIT */
/* Which form of a reply the header Accept asks for. */
#include "harness.h"

#include "http/accept.h"

static const char *const types[] = {"application/json", "text/csv", "application/x-ndjson"};

static void chooses_by_quality_then_by_name(void **state)
{
    static const struct {
        const char *header;
        size_t choice;
    } rows[] = {
        {NULL, 0},
        {"", 0},
        {"text/csv", 1},
        {"TEXT/CSV", 1},
        {"application/x-ndjson", 2},
        {"application/json", 0},
        {"*/*", 0},
        {"text/*", 1},
        {"application/*", 0},
        {"text/csv, */*", 1},
        {"*/*, text/csv", 1},
        {"text/csv, application/json", 0},
        {"text/csv;q=0.9, application/json;q=0.8", 1},
        {"text/csv; q=0.8 , application/json ;q=0.9", 0},
        {"text/csv;q=0.5,application/x-ndjson;q=0.51", 2},
        {"application/json;q=0, */*", 1},
        {"application/*;q=0, */*;q=0.1", 1},
        {"application/x-ndjson;q=0, application/*;q=0.4, text/*;q=0.3", 0},
        {"text/csv;q=0", 0},
        {"text/csv;q=0.000", 0},
        {"text/csv;q=0.001", 1},
        {"text/csv;q=1.000", 1},
        {"text/csv;header=present;charset=utf-8", 1},
        {"text/csv;charset=\"a,b;q=0\";q=0.2", 1},
        {"text/csv;charset=utf-8;Q=0", 0},
        /* What cannot be read is left out. */
        {"text/csv;q=2", 0},
        {"text/csv;q=0.1234", 0},
        {"text/csv;q=.5", 0},
        {"text/csv;q=", 0},
        {"text/csv;q=-1, application/x-ndjson;q=0.1", 2},
        {",,;;, ,text/csv,,", 1},
        {"text", 0},
        {"text/", 0},
        {"text/csvx", 0},
        {"xtext/csv", 0},
        {"*", 0},
        {"*/csv", 0},
        {"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", 0},
        {"\"text/csv", 0},
        {"text/csv;a=\"\\\"\", application/x-ndjson;q=0.9", 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (accept_choose(rows[i].header, types, 3) != rows[i].choice)
            fail_msg("%s", rows[i].header);
}

static const struct CMUnitTest cases[] = {HARNESS_TEST(chooses_by_quality_then_by_name)};
HARNESS_MODULE(accept, cases)
