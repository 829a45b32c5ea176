/* SPDX-License-Identifier: MIT */
/*
 * The bound of the bodies under way at a time, with one access token and from one address. nginx keeps it itself
 * (limit_conn). Apache has nothing of the kind, so the worker that Apache asks about a body notes it, and the worker
 * that receives the body takes the note away.
 */
#ifndef GATEHOUSE_SERVICE_FILE_UPLOAD_BOUND_H
#define GATEHOUSE_SERVICE_FILE_UPLOAD_BOUND_H

struct arena;
struct error;
struct request;
struct service;

/*
 * Notes the body that `question` is about, for as long as the web server gives it to come: some seconds and the length
 * at the slowest rate, upload_seconds at most. RATE_LIMITED, with Retry-After, when token or address has as many as it
 * may.
 */
struct error *upload_bound_begin(struct service *service, struct arena *arena, const struct request *question);

/*
 * The body has come. Nothing happens where it was not noted. Before the token is judged, since it may have expired
 * meanwhile.
 */
void upload_bound_end(struct service *service, const struct request *request);

#endif
