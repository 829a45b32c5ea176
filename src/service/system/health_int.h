/* SPDX-License-Identifier: MIT */
/* The parts of health that wait for a disk or another machine without a deadline of their own, asked in a process apart. */
#ifndef GATEHOUSE_SERVICE_SYSTEM_HEALTH_INT_H
#define GATEHOUSE_SERVICE_SYSTEM_HEALTH_INT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "service/system/health.h"

/* What stands in an answer's detail, for the log. */
#define HEALTH_DETAIL_BYTES 400

struct health_question {
    enum health_part part;
    struct error *(*check)(struct service *service, struct arena *arena);
};

/* One look under way. */
struct health_look {
    pid_t pid; /* 0: none was begun, since the one before has not come back */
    int fd;
};

/* Begins to ask, in the order of the questions. */
void health_apart_begin(struct service *service, const struct health_question *questions, size_t count,
                        struct health_look *look_out);

/*
 * Waits for the answers until `until` (clock_monotonic()) and leaves behind what has not answered then. errors_out[i] belongs to
 * questions[i], NULL where all is well; the number of questions that were answered, those of the beginning.
 */
size_t health_apart_end(struct arena *arena, struct health_look *look, size_t count, int64_t until,
                        struct error **errors_out);

#endif
