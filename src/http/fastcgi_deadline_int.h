/* SPDX-License-Identifier: MIT */
/*
 * A deadline for what libfcgi does with a connection.
 *
 * libfcgi reads until it has what it wants: a whole head, a block of the body, the end of a peer that is to close. A time-out
 * of the socket counts from the last byte, so a peer that sends a byte now and then would hold the worker for as long as it
 * likes. Here a timer runs from the first byte on. When it ends, its signal (SIGALRM) shuts the connection down, or one
 * direction of it: libfcgi then reads the end of the stream, or fails to write, and gives up.
 *
 * One timer for the process, which serves one connection at a time.
 */
#ifndef GATEHOUSE_HTTP_FASTCGI_DEADLINE_INT_H
#define GATEHOUSE_HTTP_FASTCGI_DEADLINE_INT_H

#include <stdbool.h>
#include <stdint.h>

/* Takes the signal; once, before the first connection. */
void fastcgi_deadline_open(void);

/*
 * From now on `fd` has so long, in place of the deadline before, until fastcgi_deadline_end(). Then shutdown(fd, how):
 * SHUT_RD where a reply is still to go out. Start and end are two system calls together.
 */
void fastcgi_deadline_start(int fd, int how, int64_t microseconds);

/*
 * The connection has all the time again. True when the deadline was reached: then it is shut down. Without a deadline it
 * does nothing, and is false.
 */
bool fastcgi_deadline_end(void);

#endif
