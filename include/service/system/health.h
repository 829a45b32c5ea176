/* SPDX-License-Identifier: MIT */
/* Checks, part by part, whether everything that requests need is there and works. */
#ifndef GATEHOUSE_SERVICE_SYSTEM_HEALTH_H
#define GATEHOUSE_SERVICE_SYSTEM_HEALTH_H

struct arena;
struct error;
struct service;

enum health_part {
    HEALTH_DATABASE,      /* it answers */
    HEALTH_MIGRATIONS,    /* every migration that existed when the process started is applied */
    HEALTH_STORAGE,       /* it takes files, and [health] free_bytes_min are free */
    HEALTH_PROVIDER,      /* the keys that verify tokens are known */
    HEALTH_SECRETS,       /* what is sealed in the database opens with the secret file */
    HEALTH_OUTBOX,        /* no job has been due for longer than [health] outbox_lag_seconds */
    HEALTH_CONFIGURATION, /* secret files, sender, environment are right; this part and the next four only warn */
    HEALTH_LOG,           /* its file can be written */
    HEALTH_CACHE,         /* the folder of the cache file exists and takes the file */
    HEALTH_MAIL,          /* the mail server answers; asked once a minute */
    HEALTH_SCRUB,         /* no file is damaged, and every byte was read within [scrub] overdue_days */
    HEALTH_PART_COUNT
};

/* UNKNOWN: another part is down, so this one could not be checked. WARNING: requests are answered all the same. */
enum health_state { HEALTH_UNKNOWN, HEALTH_OK, HEALTH_WARNING, HEALTH_DOWN };

struct health {
    enum health_state states[HEALTH_PART_COUNT];
    /*
     * NULL when no part is down. Else it has the code of the first part that is down, an entry for each part that is
     * down, and as members the name of the first one ("part") and the state of every part.
     */
    struct error *error;
};

/*
 * Checks every part. All checks together end after [health] deadline_seconds, even when database, provider, disk or
 * mail server hang. Only the first check of an installation may take longer: it makes the signing key of the built-in
 * provider, however long that takes, and has three seconds to store it. Files and the mail server are asked by a child
 * process meanwhile, which may be left behind. The log gets a line when a warning comes and when it goes.
 */
void health_check(struct service *service, struct arena *arena, struct health *health_out);

/* "ok", "warning", "down", "unknown" */
const char *health_state_text(enum health_state state);

#endif
