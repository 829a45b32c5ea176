/* SPDX-License-Identifier: MIT */
/* Whether everything that requests need is there, part by part. */
#ifndef GATEHOUSE_SERVICE_HEALTH_H
#define GATEHOUSE_SERVICE_HEALTH_H

struct arena;
struct error;
struct service;

enum health_part {
    HEALTH_DATABASE,   /* answers */
    HEALTH_MIGRATIONS, /* every migration that was there when the process started is applied */
    HEALTH_STORAGE,    /* takes files, and has [health] free_bytes_min left */
    HEALTH_PROVIDER,   /* the keys that verify tokens are known */
    HEALTH_OUTBOX,     /* no job has been due for longer than [health] outbox_lag_seconds */
    HEALTH_PART_COUNT
};

/* UNKNOWN: it cannot be told because another part is down. */
enum health_state { HEALTH_UNKNOWN, HEALTH_OK, HEALTH_DOWN };

struct health {
    enum health_state states[HEALTH_PART_COUNT];
    /*
     * NULL when all is well. Else of the code of the first part that is down, with an entry for each of them and, as
     * members, that part's name ("part") and the state of every part.
     */
    struct error *error;
};

/* Looks at every part. All waiting for the database together ends after [health] deadline_seconds. */
void health_check(struct service *service, struct arena *arena, struct health *health_out);

/* "database", "migrations", "storage", "identityProvider", "outbox" */
const char *health_part_text(enum health_part part);

/* "ok", "down", "unknown" */
const char *health_state_text(enum health_state state);

#endif
