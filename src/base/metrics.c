/* SPDX-License-Identifier: MIT */
/*
 * The counters: single numbers, histograms of durations, and requests by operation and status.
 *
 * A process numbers its operations in the order in which it names them. The shared memory has a row an operation, and
 * other programs may have named theirs in another order; so each process keeps a table from its own numbers to the
 * rows.
 */
#include "base/metrics.h"

#include <stdio.h>
#include <string.h>

#include "base/host_memory_int.h"
#include "base/metrics_int.h"

static struct {
    const char *names[LIMIT_METRICS_OPERATIONS]; /* by this process's numbers */
    unsigned rows[LIMIT_METRICS_OPERATIONS];     /* their rows in the shared memory */
    unsigned count;
} operations = {.count = 1};

/* ---- operations ----------------------------------------------------------------------------------- */

/*
 * The row of a name. A new one is made under the file's lock; a process that dies before it raises the count leaves
 * none.
 */
static unsigned find_row(const char *name)
{
    struct host_memory *memory = host_memory();
    if (!host_memory_lock())
        return 0;
    unsigned count = atomic_load(&memory->operation_count);
    count = count > LIMIT_METRICS_OPERATIONS ? LIMIT_METRICS_OPERATIONS : count;
    unsigned row = 0;
    while (row < count && strncmp(memory->operations[row].name, name, METRICS_NAME_BYTES) != 0)
        row++;
    if (row == count && count < LIMIT_METRICS_OPERATIONS) {
        (void)snprintf(memory->operations[row].name, METRICS_NAME_BYTES, "%s", name);
        atomic_store(&memory->operation_count, count + 1);
    }
    host_memory_unlock();
    return row < LIMIT_METRICS_OPERATIONS ? row : 0;
}

unsigned metrics_operation(const char *name)
{
    for (unsigned i = 1; i < operations.count; i++)
        if (strcmp(operations.names[i], name) == 0)
            return i;
    if (operations.count == LIMIT_METRICS_OPERATIONS || strlen(name) >= METRICS_NAME_BYTES)
        return 0;
    operations.names[operations.count] = name;
    operations.rows[operations.count] = find_row(name);
    return operations.count++;
}

void metrics_rows_find(void)
{
    for (unsigned i = 1; i < operations.count; i++)
        operations.rows[i] = find_row(operations.names[i]);
}

void metrics_rows_forget(void)
{
    operations.count = 1;
}

/* ---- counting ------------------------------------------------------------------------------------- */

static void add(_Atomic uint64_t *number, uint64_t count)
{
    (void)atomic_fetch_add_explicit(number, count, memory_order_relaxed);
}

void metrics_add(enum metric metric, uint64_t count)
{
    add(&host_memory()->cells[metric].value, count);
}

void metrics_set(enum metric metric, uint64_t value)
{
    atomic_store_explicit(&host_memory()->cells[metric].value, value, memory_order_relaxed);
}

uint64_t metrics_swap(enum metric metric, uint64_t value)
{
    return atomic_exchange_explicit(&host_memory()->cells[metric].value, value, memory_order_relaxed);
}

uint64_t metrics_value(enum metric metric)
{
    return atomic_load_explicit(&host_memory()->cells[metric].value, memory_order_relaxed);
}

static void observe(struct metrics_histogram *histogram, int64_t microseconds)
{
    size_t bucket = 0;
    int64_t duration = microseconds < 0 ? 0 : microseconds;
    while (bucket < METRICS_BUCKETS && duration > metrics_bounds[bucket])
        bucket++;
    add(&histogram->buckets[bucket], 1);
    add(&histogram->sum, (uint64_t)duration);
}

void metrics_observe(enum metric_histogram histogram, int64_t microseconds)
{
    observe(&host_memory()->histograms[histogram].histogram, microseconds);
}

void metrics_request(unsigned operation, int status, int64_t microseconds)
{
    unsigned number = operation < operations.count ? operations.rows[operation] : 0;
    struct metrics_operation_row *row = &host_memory()->operations[number];
    size_t column = 0;
    while (column < METRICS_STATUSES - 1 && metrics_statuses[column] != status)
        column++;
    add(&row->statuses[column], 1);
    observe(&row->durations, microseconds);
}
