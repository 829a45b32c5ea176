/* SPDX-License-Identifier: MIT */
/* Whether everything that requests need is there, part by part. */
#ifndef GATEHOUSE_SERVICE_SYSTEM_HEALTH_H
#define GATEHOUSE_SERVICE_SYSTEM_HEALTH_H

struct arena;
struct error;
struct service;

enum health_part {
    HEALTH_DATABASE,   /* answers */
    HEALTH_MIGRATIONS, /* every migration that was there when the process started is applied */
    HEALTH_STORAGE,    /* takes files, and has [health] free_bytes_min left */
    HEALTH_PROVIDER,   /* the keys that verify tokens are known */
    HEALTH_SECRETS,    /* what is sealed under the service's secret opens */
    HEALTH_OUTBOX,     /* no job has been due for longer than [health] outbox_lag_seconds */
    HEALTH_CONFIGURATION, /* secret files, sender and environment are as they should be; a warning at most, as the next three */
    HEALTH_LOG,        /* its file takes lines */
    HEALTH_CACHE,      /* the service cache's folder is there and takes the file */
    HEALTH_MAIL,       /* the mail server answers; looked at once a minute */
    HEALTH_SCRUB,      /* no file is damaged, and every byte was read within [scrub] overdue_days; a warning at most */
    HEALTH_PART_COUNT
};

/* UNKNOWN: it cannot be told because another part is down. WARNING: requests are answered all the same. */
enum health_state { HEALTH_UNKNOWN, HEALTH_OK, HEALTH_WARNING, HEALTH_DOWN };

struct health {
    enum health_state states[HEALTH_PART_COUNT];
    /*
     * NULL when all is well. Else of the code of the first part that is down, with an entry for each of them and, as
     * members, that part's name ("part") and the state of every part.
     */
    struct error *error;
};

/*
 * Looks at every part. All of it together ends after [health] deadline_seconds, whatever hangs: database, provider, disk, mail
 * server. What files and the mail server answer is asked in a process of its own meanwhile, which may be left behind.
 * The log tells of warnings when they come and go.
 */
void health_check(struct service *service, struct arena *arena, struct health *health_out);

/* "ok", "warning", "down", "unknown" */
const char *health_state_text(enum health_state state);

#endif
