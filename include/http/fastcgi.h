/* SPDX-License-Identifier: MIT */
/*
 * FastCGI: the only module that uses libfcgi. It serves one request at a time on the listening socket at descriptor 0
 * (opened by spawn-fcgi or mod_fcgid). It avoids the pitfalls of libfcgi: it has an accept() of its own with deadlines
 * and a check of who connects, accepts only the roles RESPONDER and AUTHORIZER, reads exactly CONTENT_LENGTH bytes of
 * body, and never reuses a connection whose body was not read to its end (src/http/fastcgi.c explains request forgery).
 * A request in the role AUTHORIZER is a question (REQUEST_AUTHORISER); it has no body, and its connection is never
 * kept.
 */
#ifndef GATEHOUSE_HTTP_FASTCGI_H
#define GATEHOUSE_HTTP_FASTCGI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "http/request.h"

struct reply;

#define FASTCGI_PEERS_MAX 16

struct fastcgi_options {
    /* users that may connect, beside root and this process's user: the web server's */
    uid_t peers[FASTCGI_PEERS_MAX];
    size_t peer_count;
    const char *body_directory;  /* where the web server stores bodies that it hands over as files; NULL: it does not */
    void (*idle)(void *context); /* called every second while no request comes; NULL: nothing is */
    void *idle_context;
    int64_t io_timeout_seconds; /* how long the peer may be silent while a body is read or a reply written */
    bool own_socket;            /* no other process accepts connections at the listening socket */
};

/* Prepares the listening socket at descriptor 0. False (with a sentence in *problem_out) when there is none. */
bool fastcgi_open(const struct fastcgi_options *options, const char **problem_out);

/*
 * Waits for the next request. False when the process was asked to end (SIGTERM, SIGUSR1, SIGQUIT) or the socket is
 * gone. A request in another role than RESPONDER or AUTHORIZER is answered by libfcgi's end record and skipped.
 * *source_out is valid until fastcgi_finish().
 */
bool fastcgi_accept(struct request_source *source_out);

/*
 * Refuses new connections from now on: the process is about to leave. fastcgi_accept() then gives the requests of those
 * that have connected already, and false when none is left. False where others serve the same socket: they take over
 * what waits there.
 */
bool fastcgi_refuse_more(void);

/* Sends the reply. False when the peer is gone. */
bool fastcgi_send(const struct reply *reply);

/* Ends the request; `body_left` bytes of its body were not read. */
void fastcgi_finish(int64_t body_left);

#endif
