/* SPDX-License-Identifier: MIT */
/* One request's way: route, token, permission, input, handler, reply. */
#ifndef GATEHOUSE_API_DISPATCH_H
#define GATEHOUSE_API_DISPATCH_H

/* The interface's version (specification, part 9): in every reply, and in the description of the service. */
#define API_VERSION "1.0.0"

struct reply;
struct request;
struct service;

/* Names every operation to the metrics; once, at the start, after host_process_open(). */
void dispatch_open(void);

/*
 * Serves a request into *reply (made here, in the request's arena). Never fails: every failure is a reply. Leaves one
 * log line at level info, and is counted.
 */
void dispatch(struct service *service, struct request *request, struct reply *reply);

#endif
