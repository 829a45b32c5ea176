/* SPDX-License-Identifier: MIT */
/*
 * What the files of the metrics share: the meaning of the numbers in the host's memory, and the rows of the operations.
 */
#ifndef GATEHOUSE_BASE_METRICS_INT_H
#define GATEHOUSE_BASE_METRICS_INT_H

#include "base/host_memory_int.h"

/* Upper bounds of the buckets, in microseconds. */
extern const int64_t metrics_bounds[METRICS_BUCKETS];

/* HTTP statuses that have a column of their own. */
extern const int metrics_statuses[METRICS_STATUSES - 1];

/*
 * A digest of everything that the meaning of a number depends on: names, labels and units of all metrics in their
 * order, bounds and statuses. Two programs whose digests differ do not share a file.
 */
uint64_t metrics_layout(void);

/* Finds (or makes) the rows of all named operations in the memory that is in use now. */
void metrics_rows_find(void);

/* Forgets all names of operations. */
void metrics_rows_forget(void);

#endif
