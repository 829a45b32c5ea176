/* SPDX-License-Identifier: MIT */
/*
 * Keeping what a process remembers in line with the change log (domain/change_log.h).
 *
 * A process keeps parsed keys, verified tokens and secrets between requests. Each request learns the version of the last
 * change before it uses any of that: one with a token from the one statement that loads its caller, a public one from
 * change_follower_catch_up(); it then follows the log up to that version. So once the transaction of a change has been committed, no
 * request that begins afterwards, on any worker of any host, is answered from what was kept before. The token itself is
 * judged before its caller can be loaded, hence judged again where following changed the keys (service/access/caller.c).
 */
#ifndef GATEHOUSE_SERVICE_RUNTIME_CHANGE_FOLLOWER_H
#define GATEHOUSE_SERVICE_RUNTIME_CHANGE_FOLLOWER_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct error;
struct service;

/*
 * Applies every change after the last one that this process has followed, up to `version`; no statement is run when there
 * is none. Whatever a process kept before it heard of a first version, and everything where the log does not tell all, is
 * read anew. The host's cache file is brought to the version with it, by whoever of the host comes first. An error leaves the process where it was, so that the next request tries again; this one
 * must fail, since what it would use may be stale.
 */
struct error *change_follower_follow(struct service *service, struct arena *arena, int64_t version);

/*
 * Follows the newest version that any process of this host has followed, without a question to the database where that is
 * this process's own: for requests that may not need the database at all. What cannot be followed now is left for a later
 * request, after a pause, since an unreachable database must not hold up those that do without it; a try takes a second at
 * the most. Without `again` nothing is tried after a failure until some other request has had an answer: for those that tell
 * whether the worker lives, which one wait must not turn into a row of them.
 */
void change_follower_follow_host(struct service *service, struct arena *arena, bool again);

/*
 * As change_follower_catch_up(), for requests that are answered all the same when the database cannot be asked: with the bound and the pause
 * of change_follower_follow_host().
 */
void change_follower_try_catch_up(struct service *service, struct arena *arena);

/* Asks for the newest version, in one round trip, and follows it. */
struct error *change_follower_catch_up(struct service *service, struct arena *arena);

#endif
