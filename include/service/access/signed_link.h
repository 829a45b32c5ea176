/* SPDX-License-Identifier: MIT */
/*
 * Makes and opens signed links: {base_url}/system/links/<token> opens one file without an access token, until a time
 * that the link itself names. The token is the canonical base64url of
 *
 *     key id (16 bytes) | link id (16) | end, milliseconds since 1970, big-endian (8) |
 *     HMAC-SHA-256 of a label and these (32)
 *
 * The link id names a row (domain/file/file_link.h) with the file and the maker. The link opens until its end, while
 * that row exists, its file and the file's organisation are active and its maker may read the file: the maker and the
 * maker's organisation are active, and the maker holds the permission that making the link took. Deleting the row
 * revokes one link; all links of a key end when the key is deleted. Key, row, file and maker are read together, so on
 * every worker and host a change of them holds from the next request on.
 *
 * A process keeps the keys that it has used (service/runtime/link_key_cache.h). So a forged link under a known key
 * costs no round trip, and a good link costs one. Its use is counted after the reply was sent.
 */
#ifndef GATEHOUSE_SERVICE_ACCESS_SIGNED_LINK_H
#define GATEHOUSE_SERVICE_ACCESS_SIGNED_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/id.h"

#define SIGNED_LINK_PATH "/system/links/"
#define SIGNED_LINK_SECONDS_MIN 60
#define SIGNED_LINK_SECONDS_MAX 604800
#define SIGNED_LINK_SECONDS_DEFAULT 3600
#define SIGNED_LINK_TOKEN_CHARACTERS 96

struct arena;
struct caller;
struct error;
struct file_link_page;
struct file_record;
struct service;

/*
 * Makes a link to an active file that opens for `seconds`. *url_out is its address and *ends_at_out its end, both in
 * the arena. Audited. The first link of an installation makes a key. FILE_ARCHIVED.
 */
struct error *signed_link_make(struct service *service, struct arena *arena, const struct caller *caller,
                               const struct file_record *record, int64_t seconds, const char **url_out,
                               const char **ends_at_out);

/*
 * Finds the file that a link's token opens now, and follows the changes that are read with it
 * (service/runtime/change_follower.h). *link_out is the link's row, *maker_out who made it.
 * LINK_INVALID whatever the reason; its detail, for the log, tells which.
 */
struct error *signed_link_open(struct service *service, struct arena *arena, const char *token,
                               struct file_record **record_out, struct id *link_out, struct id *maker_out);

/*
 * Counts a use of the link when the arena is reset, which is after the reply was sent: nobody waits for it. A database
 * that fails then costs the count, and a line of the log says so.
 */
void signed_link_count(struct service *service, struct arena *arena, struct id link);

/*
 * Revokes a link of the file: it opens nothing from the next request on, on every worker and host. Audited.
 * LINK_UNKNOWN when the file has no such link, or its time is over.
 */
struct error *signed_link_revoke(struct service *service, struct arena *arena, const struct caller *caller,
                                 const struct file_record *record, struct id link);

/* Checks that the newest key, if there is one, can be opened with the service's secret. INTERNAL when it cannot. */
struct error *signed_link_keys_open(struct service *service, struct arena *arena);

/* Makes a new key and deletes the others: every link made so far ends. */
struct error *signed_link_keys_rotate(struct service *service, struct arena *arena);

#endif
