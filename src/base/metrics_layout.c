/* SPDX-License-Identifier: MIT */
/* Bounds of the buckets, statuses of the columns, and a digest (FNV-1a) of all that gives a number its meaning. */
#include "base/metrics_int.h"

#include <stddef.h>

const int64_t metrics_bounds[METRICS_BUCKETS] = {500,    1000,   2500,   5000,    10000,   25000,   50000,
                                                 100000, 250000, 500000, 1000000, 2500000, 5000000, 10000000};
const int metrics_statuses[METRICS_STATUSES - 1] = {200, 204, 206, 304, 400, 401, 403, 404, 405,
                                                    409, 412, 413, 415, 416, 429, 500, 503};

static uint64_t digest(uint64_t value, const void *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        value = (value ^ ((const unsigned char *)bytes)[i]) * UINT64_C(1099511628211);
    return value;
}

uint64_t metrics_layout(void)
{
    static const char words[] =
#define METRIC(symbol, type, name, labels, unit, help) name "{" labels "}" #unit ";"
#define METRIC_HISTOGRAM(symbol, name, help) name ";"
#include "base/metrics.def"
#undef METRIC
#undef METRIC_HISTOGRAM
        "upload slots 20 20 1 23;"; /* the bits of their words (base/host/upload_slots.c) */
    uint64_t value = digest(UINT64_C(14695981039346656037), words, sizeof words);
    value = digest(value, metrics_bounds, sizeof metrics_bounds);
    return digest(value, metrics_statuses, sizeof metrics_statuses);
}
