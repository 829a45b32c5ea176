/* SPDX-License-Identifier: MIT */
/* How often and how soon a statement or a transaction that met a conflict is tried again. */
#include <time.h>

#include "base/clock.h"
#include "codec/random.h"
#include "store/database/database_int.h"

/*
 * The longest pause before each try; the last one holds for all that follow. Measured with 50 writers that lock the
 * same two rows in opposite orders without a break: with three tries after 20, 40 and 80 ms, 60 to 80 of 2,000
 * transactions failed. Transactions that meet at the commit on several nodes of a cluster need more tries, so they go
 * on until the time of a statement is over. Most meet few others, so the first pauses are short. The last one is short
 * as well: whoever has lost often waits longest, and is overtaken by all who have just come. Measured with nine writers
 * of one person's rows through three nodes, twice each in turn: with 400 and 900 ms behind these, one of a hundred
 * waited for 1.3 and 1.5 s; without, for 0.7 s, and none failed.
 */
static const uint32_t pause_milliseconds[] = {50, 100, 200};
#define PAUSES (sizeof pause_milliseconds / sizeof *pause_milliseconds)

/* The most tries, where nothing bounds the time. */
#define RETRIES 100

bool retry_in_time(const struct database *database, int64_t start)
{
    int64_t patience = (int64_t)database->options.query_timeout_seconds * 1000000;
    return patience == 0 || clock_monotonic() - start < patience;
}

bool retry_allowed(const struct database *database, unsigned attempt, int64_t start)
{
    return attempt < RETRIES && retry_in_time(database, start);
}

void retry_pause(unsigned attempt)
{
    uint32_t random;
    random_bytes(&random, sizeof random);
    uint32_t microseconds = random % (pause_milliseconds[attempt < PAUSES ? attempt : PAUSES - 1] * 1000);
    struct timespec pause = {.tv_nsec = (long)microseconds * 1000};
    (void)nanosleep(&pause, NULL);
}
