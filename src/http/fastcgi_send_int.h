/* SPDX-License-Identifier: MIT */
/* Sends a reply over a FastCGI connection, with a bound on every wait. For http/fastcgi.c. */
#ifndef GATEHOUSE_HTTP_FASTCGI_SEND_INT_H
#define GATEHOUSE_HTTP_FASTCGI_SEND_INT_H

#include <fcgiapp.h>
#include <stdbool.h>
#include <stdint.h>

struct reply;

/*
 * Sends head and body. The peer may be silent for `io_timeout_seconds`, and has to take a long body at a least rate
 * after that. False when the peer is gone or too slow, or when the body could not be made; the connection is cut then
 * where the peer might take a part for the whole.
 */
bool fastcgi_send_reply(FCGX_Request *request, int64_t io_timeout_seconds, const struct reply *reply);

#endif
