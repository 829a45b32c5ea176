/* SPDX-License-Identifier: MIT */
/* Counts the processes of the service that live on this host, by role and by pool of workers. */
#ifndef GATEHOUSE_BASE_HOST_CENSUS_H
#define GATEHOUSE_BASE_HOST_CENSUS_H

#include <stddef.h>
#include <stdint.h>

#define HOST_CENSUS_POOLS 16

struct host_census_pool {
    char name[20];
    unsigned workers;
    unsigned busy;
};

struct host_census {
    struct host_census_pool pools[HOST_CENSUS_POOLS]; /* the last one takes the workers of all further pools */
    size_t pool_count;
    unsigned workers; /* of all pools */
    unsigned busy;
    unsigned job_runners;
    int64_t oldest; /* start of the worker that has lived longest, milliseconds since 1970; 0 without a worker */
};

/* Counts the living processes. Slots of dead ones are freed, and their deaths counted. */
void host_census_take(struct host_census *census_out);

#endif
