/* SPDX-License-Identifier: MIT */
/*
 * A process between a client and the server that fails in a chosen way when a chosen text passes by. It
 * listens on a unix socket and serves one connection after the other; the fault happens once, what comes
 * after passes through.
 */
#ifndef GATEHOUSE_TESTS_STORE_PROXY_H
#define GATEHOUSE_TESTS_STORE_PROXY_H

struct arena;

enum proxy_fault {
    PROXY_LOSE_ANSWER,  /* the server gets the request; its answer is thrown away and the connection cut */
    PROXY_LOSE_REQUEST, /* the connection is cut instead of passing the request on */
    PROXY_DRIP,         /* from now on the server's bytes pass one by one, ten a second */
    PROXY_SWALLOW       /* the request is taken, and nothing answers it, then or later */
};

/*
 * Starts it between a new socket in `directory` and the server at `target`; it ends with the arena. The path
 * to connect to. `trigger` is a text in the client's bytes; "" is the first thing the client or the server
 * sends.
 */
const char *proxy_start(struct arena *arena, const char *directory, const char *target, const char *trigger,
                        enum proxy_fault fault);

#endif
