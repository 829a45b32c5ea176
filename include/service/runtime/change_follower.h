/* SPDX-License-Identifier: MIT */
/*
 * Keeps what a process remembers in line with the change log (domain/change_log.h).
 *
 * A process keeps parsed keys, verified tokens and secrets between requests. Each request learns the version of the
 * last change before it uses any of that: a request with a token from the statement that loads its caller, a public one
 * from change_follower_catch_up(). Then the process follows the log up to that version. So once the transaction of a
 * change is committed, no request that begins afterwards, on any worker of any host, is answered from what was kept
 * before. The token itself is verified before its caller can be loaded; where following changed the keys, it is
 * verified again (service/access/caller.c).
 *
 *     change_follower_follow()           follows up to a version that the request has read
 *     change_follower_catch_up()         asks the database for the newest version, and follows it
 *     change_follower_try_catch_up()     the same, for requests that are answered without the database as well
 *     change_follower_follow_host()      follows what other processes of this host have followed
 */
#ifndef GATEHOUSE_SERVICE_RUNTIME_CHANGE_FOLLOWER_H
#define GATEHOUSE_SERVICE_RUNTIME_CHANGE_FOLLOWER_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct error;
struct service;

/*
 * Applies every change after the last one that this process has followed, up to `version`. Runs no statement when there
 * is none. A process that has followed nothing yet reads everything that it keeps anew, and so does one for which the
 * log is not whole. The first process of the host also brings the cache file to the version. After an error the process
 * stays where it was, and the next request tries again; this request must fail, since what it would use may be out of
 * date.
 */
struct error *change_follower_follow(struct service *service, struct arena *arena, int64_t version);

/*
 * Follows the newest version that any process of this host has followed. Where this process has followed it already,
 * the database is not asked. For requests that may not need the database at all: what cannot be followed within a
 * second is left for a later request, after a pause, so that an unreachable database does not delay requests that do
 * without it. Without `again` nothing is tried after a failure until another request was answered by the database: for
 * requests that ask whether the worker lives, so that they wait once and not one after the other.
 */
void change_follower_follow_host(struct service *service, struct arena *arena, bool again);

/*
 * As change_follower_catch_up(), within a second and with the pause of change_follower_follow_host(). For requests that
 * are answered as well when the database cannot be asked.
 */
void change_follower_try_catch_up(struct service *service, struct arena *arena);

/* Asks the database for the newest version, in one round trip, and follows it. */
struct error *change_follower_catch_up(struct service *service, struct arena *arena);

#endif
