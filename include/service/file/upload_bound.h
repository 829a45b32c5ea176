/* SPDX-License-Identifier: MIT */
/*
 * Bounds how many bodies come at a time with one access token and from one address. nginx does this itself
 * (limit_conn), Apache cannot. So the worker that Apache asks about a body notes it, and the worker that receives the
 * body removes the note.
 */
#ifndef GATEHOUSE_SERVICE_FILE_UPLOAD_BOUND_H
#define GATEHOUSE_SERVICE_FILE_UPLOAD_BOUND_H

struct arena;
struct error;
struct request;
struct service;

/*
 * Notes the body that `question` is about, for as long as the web server gives it to come: some seconds and its length
 * at the slowest rate, upload_seconds at most. RATE_LIMITED, with Retry-After, when token or address has as many bodies
 * as it may.
 */
struct error *upload_bound_begin(struct service *service, struct arena *arena, const struct request *question);

/*
 * Removes the note: the body has come. Does nothing where there is none. Call it before the token is verified, which
 * may have expired meanwhile.
 */
void upload_bound_end(struct service *service, const struct request *request);

#endif
