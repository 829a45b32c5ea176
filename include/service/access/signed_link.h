/* SPDX-License-Identifier: MIT */
/*
 * Makes and opens signed links: {base_url}/system/links/<token> opens one file without an access token, until a time
 * that the link itself names. The token is the canonical base64url of
 *
 *     key id (16 bytes) | file id (16) | maker's user id (16) | end, milliseconds since 1970, big-endian (7) |
 *     HMAC-SHA-256 of a label and these (32)
 *
 * Nothing is stored for a link. It opens until its end, while its file and the file's organisation are active and its
 * maker may read the file: the maker and the maker's organisation are active, and the maker holds the permission that
 * making the link took. All links of a key end when the key is deleted. Key, file and maker are read together, so on
 * every worker and host a change of them holds from the next request on. Links of an earlier form (96 characters) name
 * no maker and open nothing.
 *
 * A process keeps the keys that it has used (service/runtime/link_key_cache.h). So a forged link under a known key
 * costs no round trip, and a good link costs one.
 */
#ifndef GATEHOUSE_SERVICE_ACCESS_SIGNED_LINK_H
#define GATEHOUSE_SERVICE_ACCESS_SIGNED_LINK_H

#include <stdbool.h>
#include <stdint.h>

#define SIGNED_LINK_PATH "/system/links/"
#define SIGNED_LINK_SECONDS_MIN 60
#define SIGNED_LINK_SECONDS_MAX 604800
#define SIGNED_LINK_SECONDS_DEFAULT 3600
#define SIGNED_LINK_TOKEN_CHARACTERS 116

struct arena;
struct caller;
struct error;
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
 * (service/runtime/change_follower.h). LINK_INVALID whatever the reason; its detail, for the log, tells which.
 */
struct error *signed_link_open(struct service *service, struct arena *arena, const char *token,
                               struct file_record **record_out);

/* Checks that the newest key, if there is one, can be opened with the service's secret. INTERNAL when it cannot. */
struct error *signed_link_keys_open(struct service *service, struct arena *arena);

/* Makes a new key and deletes the others: every link made so far ends. */
struct error *signed_link_keys_rotate(struct service *service, struct arena *arena);

#endif
