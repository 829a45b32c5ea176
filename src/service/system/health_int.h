/* SPDX-License-Identifier: MIT */
/* Asks a child process about parts of health that may hang: disks, and machines that answer late. */
#ifndef GATEHOUSE_SERVICE_SYSTEM_HEALTH_INT_H
#define GATEHOUSE_SERVICE_SYSTEM_HEALTH_INT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "service/system/health.h"

/* The most bytes of the detail in an answer, for the log. */
#define HEALTH_DETAIL_BYTES 400

struct health_question {
    enum health_part part;
    struct error *(*check)(struct service *service, struct arena *arena);
};

/* A child at work. */
struct health_look {
    pid_t pid; /* 0: no child was started, since the one before has not ended */
    int fd;
    int64_t until;
};

/* Starts a child that answers the questions in their order, and is killed at `until` (clock_monotonic()). */
void health_apart_begin(struct service *service, const struct health_question *questions, size_t count, int64_t until,
                        struct health_look *look_out);

/*
 * Waits for the answers until the look is over, and leaves behind a child that has not ended then.
 * errors_out[i] belongs to questions[i]; NULL: all is well. Returns how many of the questions, from the first on, were
 * answered.
 */
size_t health_apart_end(struct arena *arena, struct health_look *look, size_t count, struct error **errors_out);

#endif
