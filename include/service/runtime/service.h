/* SPDX-License-Identifier: MIT */
/*
 * What the flows need of the process: its configuration, and handles to database, cache, provider, blob store and
 * content sniffer. Each process opens them once, at its start, in the order in which a failure is explained best.
 */
#ifndef GATEHOUSE_SERVICE_RUNTIME_SERVICE_H
#define GATEHOUSE_SERVICE_RUNTIME_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/secret.h"
#include "base/text.h"

struct arena;
struct blob_store;
struct cache;
struct configuration;
struct database;
struct download_memo;
struct error;
struct link_key_cache;
struct password_policy;
struct provider;
struct scanner;
struct session_use;
struct sniff_process;
struct token_memo;
struct use_log;

/* How far this process has followed the change log (service/runtime/change_follower.h). */
struct followed_changes {
    bool known;       /* a version was followed */
    int64_t version;  /* of the last change that was followed */
    int64_t retry_at; /* clock_monotonic() of the next try after a failure; 0: nothing failed */
    unsigned keys;    /* how often the provider's keys were dropped since the start */
    unsigned secrets; /* how often the secrets were to be read again since the start */
};

/* The most bytes, with the NUL, of a text that tells two states of the settings' rows apart. */
#define SETTINGS_STATE_BYTES 128

/* The settings that this process applied last (service/runtime/settings_apply.h). */
struct settings_applied {
    int64_t version;
    int64_t damaged;                      /* the newest version where that one is damaged, else 0 */
    char announced[SETTINGS_STATE_BYTES]; /* the payload of the last change of settings that was followed; "": none */
};

struct service {
    struct arena *arena; /* lives as long as the process */
    const struct configuration *configuration;
    struct secret master; /* the bytes of the secret file; whatever is sealed is sealed with them */
    struct database *database;
    struct cache *cache; /* the host's service cache */
    struct provider *provider;
    struct blob_store *blobs;
    unsigned char *block;          /* LIMIT_BLOB_BLOCK_BYTES, into which uploads are received */
    struct sniff_process *sniffer; /* set by workers, NULL elsewhere: nobody else examines files */
    struct scanner *scanner;       /* NULL: files are not checked for viruses */
    const struct password_policy *passwords;
    struct token_memo *memo;
    unsigned migrations; /* how many there were at the start; 0: they could not be read */
    struct followed_changes changes;
    struct link_key_cache *link_keys;
    struct download_memo *downloads; /* which files are being fetched in pieces */
    struct use_log *uses;            /* which permissions let people in, and what of it is still to be written */
    struct settings_applied settings;
    struct text_list languages; /* of mails and pages; the installation's own comes first */
    const char *reader;         /* the language that the current request asks for, one of these; NULL: none of them */
    struct session_use *session_use; /* which uses of sessions are noted; set by workers, NULL elsewhere */
};

/*
 * Opens everything but connections; the database is connected to when it is first used. `arena` must live as long as
 * the process. INTERNAL, with a sentence for the operator in the message.
 */
struct error *service_open(struct arena *arena, const struct configuration *configuration, struct service *service_out);

/* As service_open(), with the database account of [database] admin_user. For the operator's commands only. */
struct error *service_open_administrator(struct arena *arena, const struct configuration *configuration,
                                         struct service *service_out);

/* Closes connections and forgets keys; for programs that end in good order. */
void service_close(struct service *service);

#endif
