/* SPDX-License-Identifier: MIT */
/*
 * What the flows need of the process: its configuration and the long-lived handles to database, provider, blob store
 * and content sniffer. Opened once at start, in the order in which a failure is best explained.
 */
#ifndef GATEHOUSE_SERVICE_RUNTIME_SERVICE_H
#define GATEHOUSE_SERVICE_RUNTIME_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/secret.h"

struct arena;
struct blob_store;
struct cache;
struct configuration;
struct database;
struct error;
struct link_key_cache;
struct password_policy;
struct provider;
struct scanner;
struct sniffer;
struct token_memo;

/* How far this process has followed the change log (service/runtime/change_follower.h). */
struct followed_changes {
    bool known;       /* whether `version` says anything */
    int64_t version;  /* of the last change that was followed */
    int64_t
        retry_at; /* clock_monotonic() before which change_follower_follow_host() does not try again what failed; 0: nothing did */
    unsigned keys;    /* how often the provider's keys were dropped since the start */
    unsigned secrets; /* how often the secrets were to be read again since the start */
};

/* Room for what tells one state of the settings' rows from another. */
#define SETTINGS_STATE_BYTES 128

/* The settings that this process has applied last (service/runtime/settings_apply.h). */
struct settings_applied {
    int64_t version;
    int64_t damaged; /* the newest version, where it is damaged; else 0 */
    char announced[SETTINGS_STATE_BYTES]; /* the payload of the last change to them that was followed; "": not known */
};

struct service {
    struct arena *arena; /* the process's own */
    const struct configuration *configuration;
    struct secret master; /* the secret file's bytes: everything sealed is sealed under it */
    struct database *database;
    struct cache *cache; /* the host's service cache */
    struct provider *provider;
    struct blob_store *blobs;
    unsigned char *block; /* LIMIT_BLOB_BLOCK_BYTES in which uploads are received */
    struct sniffer *sniffer;
    struct scanner *scanner; /* NULL: files are not checked for viruses */
    const struct password_policy *passwords;
    struct token_memo *memo;
    unsigned migrations; /* how many there were at the start, 0 where they could not be looked at */
    struct followed_changes changes;
    struct link_key_cache *link_keys;
    struct settings_applied settings;
};

/*
 * Opens everything but connections (the database is connected to when first used). `arena` lives as long as the
 * process. INTERNAL with a sentence for the operator in the message.
 */
struct error *service_open(struct arena *arena, const struct configuration *configuration, struct service *service_out);

/* The same with the database account of [database] admin_user: for the operator's commands alone. */
struct error *service_open_administrator(struct arena *arena, const struct configuration *configuration,
                                         struct service *service_out);

/* Closes connections and forgets keys; for programs that end in good order. */
void service_close(struct service *service);

#endif
