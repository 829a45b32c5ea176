/* SPDX-License-Identifier: MIT */
/*
 * What libfcgi reads of a connection: it comes through a guard (fastcgi_guard_int.h). libfcgi reads by a function of
 * its own, OS_Read(), through its table of symbols, where that of this program comes first. For http/fastcgi.c.
 */
#ifndef GATEHOUSE_HTTP_FASTCGI_INPUT_INT_H
#define GATEHOUSE_HTTP_FASTCGI_INPUT_INT_H

/* A new connection. */
void fastcgi_input_start(int fd);

/* The next request of the connection, which was kept. */
void fastcgi_input_next(void);

/* What has come of the request that libfcgi says it has. */
enum fastcgi_head {
    FASTCGI_HEAD_WHOLE,
    FASTCGI_HEAD_CUT,   /* it ends within its parameters, which libfcgi takes for all of them */
    FASTCGI_HEAD_UNSEEN /* it came past the guard: this libfcgi reads in another way, and nothing of it may be used */
};

enum fastcgi_head fastcgi_input_head(void);

#endif
