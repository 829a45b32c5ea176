/* SPDX-License-Identifier: MIT */
/* What the files of the job runner share. */
#ifndef GATEHOUSE_CTL_COMMAND_JOBS_INT_H
#define GATEHOUSE_CTL_COMMAND_JOBS_INT_H

struct arena;
struct error;
struct service;

/*
 * Runs every step of tidying, whatever the one before has answered, and again while it still finds full portions. The
 * first error.
 */
struct error *jobs_tidy(struct service *service, struct arena *arena);

#endif
