/* SPDX-License-Identifier: MIT */
/*
 * Inspects what the service needs outside the database: files, folders, the mail server, the clock, the environment.
 * The functions change nothing. `gatehousectl check` calls all of them, /system/health/ready those that a worker can
 * call at any time.
 *
 * Each returns NULL when all is well. Else the message of the error is a sentence for the operator that names the file
 * or the setting, and each further finding is an entry. Such a message never leaves in a reply.
 */
#ifndef GATEHOUSE_SERVICE_SYSTEM_INSPECT_H
#define GATEHOUSE_SERVICE_SYSTEM_INSPECT_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct configuration;
struct error;
struct service;

/* How far clocks may differ before `check` warns. Tokens are verified with more leeway than that. */
#define INSPECT_CLOCK_WARN_MILLISECONDS 5000

/*
 * Environment variables that look like settings but are none: those that resemble a setting, or (`resembling` false)
 * the others.
 */
struct error *inspect_environment(struct arena *arena, bool resembling);

/* base_url and web_url: plain http to another machine sends passwords unencrypted. */
struct error *inspect_addresses(struct arena *arena, const struct configuration *configuration);

/* The accent of [branding]: links in e-mails have it. Few can read them where its contrast on white is below 4.5:1. */
struct error *inspect_accent(struct arena *arena, const struct configuration *configuration);

/* Settings of the section testing that differ from their defaults. */
struct error *inspect_testing(struct arena *arena, const struct configuration *configuration);

/* The sandbox is switched on, and this kernel offers all of it. */
struct error *inspect_sandbox(struct arena *arena, const struct configuration *configuration);

/* The users that [service] web_server_user names exist. */
struct error *inspect_users(struct arena *arena, const struct configuration *configuration);

/* Files with secrets can be read here, and by nobody but the service's user, its group and root. */
struct error *inspect_secret_files(struct arena *arena, const struct configuration *configuration);

/*
 * [service] security_txt is a file as RFC 9116 has it, and does not expire within 30 days. *absent_out tells whether
 * there is none; then the error says that.
 */
struct error *inspect_security_txt(struct arena *arena, const struct configuration *configuration, bool *absent_out);

/* This process can write the log's file. */
struct error *inspect_log(struct arena *arena, const struct configuration *configuration);

/* The folder of [cache] file exists, takes the file, and is on a disk of this machine. */
struct error *inspect_cache(struct arena *arena, const struct configuration *configuration);

/* The same for [metrics] file. */
struct error *inspect_metrics(struct arena *arena, const struct configuration *configuration);

/*
 * [files] directory and the folders in it belong to the user who writes there, and take files. Run as root, who that is
 * is not known: then the folders must belong to one user.
 */
struct error *inspect_files_owner(struct arena *arena, const struct configuration *configuration);

/* Neither a group nor everybody may write in [files] directory. */
struct error *inspect_files_mode(struct arena *arena, const struct configuration *configuration);

/* [files] body_directory exists and can be searched. */
struct error *inspect_bodies(struct arena *arena, const struct configuration *configuration);

/* The sender of mail is an address. */
struct error *inspect_mail_sender(struct arena *arena, const struct configuration *configuration);

/* Mail can be handed to the mail server or its folder within `seconds`. No mail is sent. */
struct error *inspect_mail_way(struct arena *arena, const struct configuration *configuration, unsigned seconds);

/* The values that the provider has sealed, and the newest key of links, open with the secret file. */
struct error *inspect_sealed(struct service *service, struct arena *arena);

/* *ahead_out is how many milliseconds this machine's clock is ahead of the database's. */
struct error *inspect_clock(struct service *service, struct arena *arena, int64_t *ahead_out);

#endif
