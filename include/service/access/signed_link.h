/* SPDX-License-Identifier: MIT */
/*
 * Signed links: {base_url}/system/links/<token> opens one file without a token of the caller's, until a time that the
 * link itself names. The token is the canonical base64url of
 *
 *     key id (16 bytes) | file id (16) | maker's user id (16) | end, milliseconds since 1970, big-endian (7) |
 *     HMAC-SHA-256 of a label and these (32)
 *
 * Nothing is stored for a link. It holds while its time lasts, its file and the file's organisation are active, and its maker
 * may read the file: active, of an active organisation, with the permission that making the link took. It ends for good when
 * its key is deleted. Key, file and maker are read together, so every change of them holds from the next request on, on every
 * worker and host. Links of an earlier form (96 characters) name no maker and open nothing.
 *
 * Keys that were used once stay in memory, so that a forged link under a known key costs no round trip; a link that is good
 * costs one.
 */
#ifndef GATEHOUSE_SERVICE_ACCESS_SIGNED_LINK_H
#define GATEHOUSE_SERVICE_ACCESS_SIGNED_LINK_H

#include <stdbool.h>
#include <stdint.h>

#define SIGNED_LINK_PATH "/system/links/"
#define SIGNED_LINK_SECONDS_MIN 60
#define SIGNED_LINK_SECONDS_MAX 604800
#define SIGNED_LINK_TOKEN_CHARACTERS 116

struct arena;
struct caller;
struct error;
struct file_record;
struct service;

/*
 * A link to an active file, good for `seconds`: its address and the time it ends, both in the arena. Audited. The first
 * one ever makes a key. FILE_ARCHIVED.
 */
struct error *signed_link_make(struct service *service, struct arena *arena, const struct caller *caller,
                               const struct file_record *record, int64_t seconds, const char **url_out,
                               const char **ends_at_out);

/* The file that a link's token opens now; follows changes (service/runtime/change_follower.h) on the way. LINK_INVALID, whatever the reason; the detail for the log has it. */
struct error *signed_link_open(struct service *service, struct arena *arena, const char *token,
                               struct file_record **record_out);

/* Whether the newest key opens with the service's secret, if there is one. INTERNAL where it does not. */
struct error *signed_link_keys_open(struct service *service, struct arena *arena);

/* Makes a new key and deletes the others: every link made so far ends. For `gatehousectl rotate-keys`. */
struct error *signed_link_keys_rotate(struct service *service, struct arena *arena);

#endif
