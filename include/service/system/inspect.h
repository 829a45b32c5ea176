/* SPDX-License-Identifier: MIT */
/*
 * Looks at what the service stands on outside the database: files, folders, the mail server, the clock, the environment. They
 * change nothing. `gatehousectl check` asks all of them, /system/health/ready those that a worker can ask at any time.
 *
 * Each returns NULL when all is well, else an error whose message is a sentence for the operator that names the file or the
 * setting, with an entry for each further finding. Such a message never leaves in a reply.
 */
#ifndef GATEHOUSE_SERVICE_SYSTEM_INSPECT_H
#define GATEHOUSE_SERVICE_SYSTEM_INSPECT_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct configuration;
struct error;
struct service;

/* What clocks may differ by: tokens are judged with so much leeway, and above the first people should look. */
#define INSPECT_CLOCK_WARN_MILLISECONDS 5000

/* Variables that look like settings, and are none: those that resemble one, or (`resembling` false) the others. */
struct error *inspect_environment(struct arena *arena, bool resembling);

/* base_url and web_url: plain http to another machine carries passwords in the clear. */
struct error *inspect_addresses(struct arena *arena, const struct configuration *configuration);

/* The names in [service] web_server_user. */
struct error *inspect_users(struct arena *arena, const struct configuration *configuration);

/* Files with secrets: readable here, and to nobody but the service's user, its group and root. */
struct error *inspect_secret_files(struct arena *arena, const struct configuration *configuration);

/* The log's file takes lines of this process. */
struct error *inspect_log(struct arena *arena, const struct configuration *configuration);

/* The folders of [cache] file and [metrics] file are there, take files, and are on a disk of this machine. */
struct error *inspect_cache(struct arena *arena, const struct configuration *configuration);
struct error *inspect_metrics(struct arena *arena, const struct configuration *configuration);

/* [files] body_directory is there and can be read. */
struct error *inspect_bodies(struct arena *arena, const struct configuration *configuration);

/* The sender is an address, and the way that mail takes is open, within `seconds`. No mail is sent. */
struct error *inspect_mail_sender(struct arena *arena, const struct configuration *configuration);
struct error *inspect_mail_way(struct arena *arena, const struct configuration *configuration, unsigned seconds);

/* What is sealed under the service's secret opens with it: the provider's own, and the newest key of links. */
struct error *inspect_sealed(struct service *service, struct arena *arena);

/* How far this machine's clock is ahead of the database's, in milliseconds. */
struct error *inspect_clock(struct service *service, struct arena *arena, int64_t *ahead_out);

#endif
