/* SPDX-License-Identifier: MIT */
/*
 * Notes when sessions are used, outside of the requests that use them (domain/session/session_list.h). A request only
 * leaves a mark in the memory of its worker. The worker writes it after the reply, unless this worker knows that the
 * session's note is younger than a minute. The row has the time of the last note, so all workers and hosts together
 * write at most one note a minute and session.
 */
#ifndef GATEHOUSE_SERVICE_ACCESS_SESSION_USE_H
#define GATEHOUSE_SERVICE_ACCESS_SESSION_USE_H

#include "base/id.h"
#include "domain/session/session_list.h"

struct arena;
struct caller;
struct service;
struct session_use;

/*
 * What this process knows of the notes, in `arena`, which lives as long as the process. Only workers have one
 * (service->session_use); without it nothing is noted.
 */
struct session_use *session_use_new(struct arena *arena);

/* The client of a request as a session shows it: what can be seen of its texts, cut to the columns' widths. */
struct session_client session_use_client(struct arena *arena, const struct caller *caller);

/* The request uses this session, by any of its ids. What is to be written lies in `arena`, which is the request's. */
void session_use_note(struct service *service, struct arena *arena, const struct caller *caller, struct id session);

/* Writes the note of the request that was served, if one is due. Call it after the reply. A failure is only logged. */
void session_use_write(struct service *service, struct arena *arena);

#endif
