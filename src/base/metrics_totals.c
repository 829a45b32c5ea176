/* SPDX-License-Identifier: MIT */
/* Adds up the counters of all operations, and finds quantiles of the durations. */
#include "base/metrics_totals.h"

#include <string.h>

#include "base/metrics_int.h"

_Static_assert(METRICS_TOTALS_BUCKETS == METRICS_BUCKETS + 1, "the header states the number of buckets");

static uint64_t load(_Atomic uint64_t *number)
{
    return atomic_load_explicit(number, memory_order_relaxed);
}

/* The last column takes every status that has none; such a status counts as no error. */
static void add_row(struct metrics_operation_row *row, struct metrics_totals *totals)
{
    bool login = strncmp(row->name, "login", METRICS_NAME_BYTES) == 0;
    for (size_t column = 0; column < METRICS_STATUSES; column++) {
        uint64_t count = load(&row->statuses[column]);
        int status = column < METRICS_STATUSES - 1 ? metrics_statuses[column] : 0;
        totals->requests += count;
        if (status >= 500)
            totals->errors += count;
        if (login && status == 200)
            totals->logins += count;
        if (login && (status == 401 || status == 429))
            totals->login_failures += count;
    }
    for (size_t bucket = 0; bucket < METRICS_TOTALS_BUCKETS; bucket++)
        totals->durations[bucket] += load(&row->durations.buckets[bucket]);
}

void metrics_totals_read(struct metrics_totals *totals_out)
{
    struct host_memory *memory = host_memory();
    size_t count = atomic_load(&memory->operation_count);
    *totals_out = (struct metrics_totals){
        .uploads = metrics_value(METRIC_UPLOAD_FILES),
        .upload_bytes = metrics_value(METRIC_UPLOAD_BYTES),
    };
    for (size_t i = 0; i < count && i < LIMIT_METRICS_OPERATIONS; i++)
        add_row(&memory->operations[i], totals_out);
}

static uint64_t subtract(uint64_t later, uint64_t earlier)
{
    return later >= earlier ? later - earlier : later;
}

void metrics_totals_subtract(const struct metrics_totals *later, const struct metrics_totals *earlier,
                             struct metrics_totals *difference_out)
{
    *difference_out = (struct metrics_totals){
        .requests = subtract(later->requests, earlier->requests),
        .errors = subtract(later->errors, earlier->errors),
        .logins = subtract(later->logins, earlier->logins),
        .login_failures = subtract(later->login_failures, earlier->login_failures),
        .uploads = subtract(later->uploads, earlier->uploads),
        .upload_bytes = subtract(later->upload_bytes, earlier->upload_bytes),
    };
    for (size_t i = 0; i < METRICS_TOTALS_BUCKETS; i++)
        difference_out->durations[i] = subtract(later->durations[i], earlier->durations[i]);
}

int64_t metrics_totals_quantile(const struct metrics_totals *totals, unsigned per_mille)
{
    uint64_t all = 0;
    for (size_t i = 0; i < METRICS_TOTALS_BUCKETS; i++)
        all += totals->durations[i];
    if (all == 0)
        return -1;
    double rank = (double)all * per_mille / 1000.0;
    double before = 0;
    for (size_t i = 0; i < METRICS_BUCKETS; i++) {
        double here = (double)totals->durations[i];
        if (here > 0 && before + here >= rank) {
            double low = i == 0 ? 0 : (double)metrics_bounds[i - 1];
            return (int64_t)(low + ((double)metrics_bounds[i] - low) * (rank - before) / here);
        }
        before += here;
    }
    return metrics_bounds[METRICS_BUCKETS - 1];
}
