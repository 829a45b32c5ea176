/* SPDX-License-Identifier: MIT */
/* Serves one request: route, token, permission, input, handler, reply. */
#ifndef GATEHOUSE_API_DISPATCH_H
#define GATEHOUSE_API_DISPATCH_H

/* The version of the interface: in every reply, and in the OpenAPI document. */
#define API_VERSION "1.0.0"

struct reply;
struct request;
struct service;

/* Gives the names of all operations to the metrics. Call it once, at the start, after metrics are opened. */
void dispatch_open(void);

/*
 * Serves a request and makes *reply, in the request's arena. It never fails: every failure is a reply. Writes one log
 * line at level info, and counts the request.
 */
void dispatch(struct service *service, struct request *request, struct reply *reply);

#endif
