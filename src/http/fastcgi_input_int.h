/* SPDX-License-Identifier: MIT */
/*
 * What libfcgi reads of a connection: it comes through a guard (fastcgi_guard_int.h). libfcgi reads by a function of its
 * own, OS_Read(), through its table of symbols, where that of this program comes first. For http/fastcgi.c.
 */
#ifndef GATEHOUSE_HTTP_FASTCGI_INPUT_INT_H
#define GATEHOUSE_HTTP_FASTCGI_INPUT_INT_H

#include <stdbool.h>

/* A new connection. */
void fastcgi_input_start(int fd);

/* The next request of the connection, which was kept. */
void fastcgi_input_next(void);

/*
 * Whether the head of the request that libfcgi has just read came through the guard. False: this libfcgi reads in
 * another way, and nothing that it says may be used.
 */
bool fastcgi_input_was_guarded(void);

#endif
