/* SPDX-License-Identifier: MIT */
/*
 * Writes all metrics in Prometheus' text exposition format 0.0.4: a HELP and a TYPE line a family, then its samples.
 *
 * In memory each bucket counts its own range; the text has them cumulated. _count is the sum of the buckets, so that
 * the two always agree, at whatever instant a process died.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/host/census.h"
#include "base/host/hints.h"
#include "base/host_memory_int.h"
#include "base/metrics_int.h"
#include "base/text.h"

enum type { COUNTER, GAUGE };
enum unit { ONE, TIME };

struct description {
    enum type type;
    const char *name;
    const char *labels;
    enum unit unit;
    const char *help;
};

static const struct description cells[METRIC_COUNT] = {
#define METRIC(symbol, type, name, labels, unit, help) {type, name, labels, unit, help},
#define METRIC_HISTOGRAM(symbol, name, help)
#include "base/metrics.def"
#undef METRIC
#undef METRIC_HISTOGRAM
};

static const struct {
    const char *name;
    const char *help;
} histograms[METRIC_HISTOGRAM_COUNT] = {
#define METRIC(symbol, type, name, labels, unit, help)
#define METRIC_HISTOGRAM(symbol, name, help) {name, help},
#include "base/metrics.def"
#undef METRIC
#undef METRIC_HISTOGRAM
};

/* The helps hold neither backslash nor line end, the two characters that need an escape. */
static void add_head(struct buffer *buffer, const char *name, const char *type, const char *help)
{
    buffer_add_format(buffer, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void add_whole(struct buffer *buffer, const char *name, const char *labels, uint64_t value)
{
    bool plain = *labels == '\0';
    buffer_add_format(buffer, "%s%s%s%s %" PRIu64 "\n", name, plain ? "" : "{", labels, plain ? "" : "}", value);
}

static void add_milliseconds(struct buffer *buffer, const char *name, uint64_t value)
{
    buffer_add_format(buffer, "%s %" PRIu64 ".%03" PRIu64 "\n", name, value / 1000, value % 1000);
}

static void add_cells(struct buffer *buffer)
{
    const char *family = "";
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        const struct description *cell = &cells[i];
        uint64_t value = metrics_value((enum metric)i);
        if (strcmp(family, cell->name) != 0)
            add_head(buffer, cell->name, cell->type == COUNTER ? "counter" : "gauge", cell->help);
        family = cell->name;
        if (cell->unit == ONE)
            add_whole(buffer, cell->name, cell->labels, value);
        else if (value != 0)
            add_milliseconds(buffer, cell->name, value);
    }
}

/* `labels` is "" or ends with a comma. */
static void add_histogram(struct buffer *buffer, const char *name, const char *labels,
                          struct metrics_histogram *histogram)
{
    uint64_t count = 0;
    for (size_t i = 0; i <= METRICS_BUCKETS; i++) {
        char bound[24] = "+Inf";
        if (i < METRICS_BUCKETS)
            (void)snprintf(bound, sizeof bound, "%g", (double)metrics_bounds[i] / 1000000.0);
        count += atomic_load_explicit(&histogram->buckets[i], memory_order_relaxed);
        buffer_add_format(buffer, "%s_bucket{%sle=\"%s\"} %" PRIu64 "\n", name, labels, bound, count);
    }
    uint64_t sum = atomic_load_explicit(&histogram->sum, memory_order_relaxed);
    int length = (int)strlen(labels) - 1;
    const char *open = length > 0 ? "{" : "";
    const char *close = length > 0 ? "}" : "";
    length = length > 0 ? length : 0;
    buffer_add_format(buffer, "%s_sum%s%.*s%s %" PRIu64 ".%06" PRIu64 "\n", name, open, length, labels, close,
                      sum / 1000000, sum % 1000000);
    buffer_add_format(buffer, "%s_count%s%.*s%s %" PRIu64 "\n", name, open, length, labels, close, count);
}

/* A name from the shared memory, where any bytes may stand, as a label value. */
static const char *clean(const char *name, size_t size, char *out)
{
    size_t length = strnlen(name, size - 1);
    for (size_t i = 0; i < length; i++)
        out[i] = text_is_alpha(name[i]) || text_is_digit(name[i]) || name[i] == '-' ? name[i] : '_';
    out[length] = '\0';
    return out;
}

static size_t operation_count(void)
{
    size_t count = atomic_load(&host_memory()->operation_count);
    return count < LIMIT_METRICS_OPERATIONS ? count : LIMIT_METRICS_OPERATIONS;
}

static void add_requests(struct buffer *buffer)
{
    static const char name[] = "gatehouse_requests_total";
    add_head(buffer, name, "counter", "Requests answered, by operation (\"other\": of no operation) and HTTP status.");
    for (size_t i = 0; i < operation_count(); i++) {
        struct metrics_operation_row *row = &host_memory()->operations[i];
        char operation[METRICS_NAME_BYTES];
        (void)clean(row->name, sizeof operation, operation);
        for (size_t column = 0; column < METRICS_STATUSES; column++) {
            uint64_t count = atomic_load_explicit(&row->statuses[column], memory_order_relaxed);
            char status[12] = "other";
            if (column < METRICS_STATUSES - 1)
                (void)snprintf(status, sizeof status, "%d", metrics_statuses[column]);
            if (count > 0)
                buffer_add_format(buffer, "%s{operation=\"%s\",status=\"%s\"} %" PRIu64 "\n", name, operation, status,
                                  count);
        }
    }
}

static void add_durations(struct buffer *buffer)
{
    static const char name[] = "gatehouse_request_duration_seconds";
    add_head(buffer, name, "histogram", "Time from the request's arrival at the worker to its reply, by operation.");
    for (size_t i = 0; i < operation_count(); i++) {
        struct metrics_operation_row *row = &host_memory()->operations[i];
        char operation[METRICS_NAME_BYTES];
        char labels[METRICS_NAME_BYTES + 16];
        uint64_t count = 0;
        for (size_t bucket = 0; bucket <= METRICS_BUCKETS; bucket++)
            count += atomic_load_explicit(&row->durations.buckets[bucket], memory_order_relaxed);
        (void)snprintf(labels, sizeof labels, "operation=\"%s\",", clean(row->name, sizeof operation, operation));
        if (count > 0)
            add_histogram(buffer, name, labels, &row->durations);
    }
}

/* ---- processes ------------------------------------------------------------------------------------ */

static void add_processes(struct buffer *buffer)
{
    static const char workers[] = "gatehouse_workers";
    struct host_census census;
    host_census_take(&census);
    add_head(buffer, workers, "gauge", "Living workers by pool and state; the one that answers this is busy.");
    for (size_t i = 0; i < census.pool_count; i++) {
        const struct host_census_pool *pool = &census.pools[i];
        buffer_add_format(buffer, "%s{pool=\"%s\",state=\"busy\"} %u\n%s{pool=\"%s\",state=\"idle\"} %u\n", workers,
                          pool->name, pool->busy, workers, pool->name, pool->workers - pool->busy);
    }
    add_head(buffer, "gatehouse_job_runners", "gauge", "Living job runners of this host.");
    add_whole(buffer, "gatehouse_job_runners", "", census.job_runners);
    add_head(buffer, "gatehouse_oldest_worker_start_timestamp_seconds", "gauge",
             "When the oldest living worker was started.");
    if (census.oldest > 0)
        add_milliseconds(buffer, "gatehouse_oldest_worker_start_timestamp_seconds", (uint64_t)census.oldest);
}

static void add_house(struct buffer *buffer)
{
    add_head(buffer, "gatehouse_build_info", "gauge", "The version that answers; the value is always 1.");
    add_whole(buffer, "gatehouse_build_info", "version=\"" PACKAGE_VERSION "\"", 1);
    add_head(buffer, "gatehouse_metrics_created_timestamp_seconds", "gauge", "Since when these numbers are counted.");
    add_milliseconds(buffer, "gatehouse_metrics_created_timestamp_seconds", (uint64_t)host_memory()->created);
    add_head(buffer, "gatehouse_metrics_shared", "gauge",
             "1: the numbers are those of the host; 0: of the answering process alone.");
    add_whole(buffer, "gatehouse_metrics_shared", "", host_memory_is_shared() ? 1 : 0);
    add_head(buffer, "gatehouse_change_version", "gauge",
             "The newest change of shared state that this host has heard of.");
    add_whole(buffer, "gatehouse_change_version", "", host_hints_change_version());
}

void metrics_write(struct buffer *buffer)
{
    add_house(buffer);
    add_processes(buffer);
    add_requests(buffer);
    add_durations(buffer);
    add_cells(buffer);
    for (size_t i = 0; i < METRIC_HISTOGRAM_COUNT; i++) {
        add_head(buffer, histograms[i].name, "histogram", histograms[i].help);
        add_histogram(buffer, histograms[i].name, "", &host_memory()->histograms[i].histogram);
    }
}
