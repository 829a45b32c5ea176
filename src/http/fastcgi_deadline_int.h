/* SPDX-License-Identifier: MIT */
/*
 * A deadline for what libfcgi does with a connection.
 *
 * libfcgi reads until it has what it needs: a whole head, a block of the body, the end of a connection. A time-out of
 * the socket counts from the last byte, so a peer that sends a byte now and then could occupy the worker without end.
 * Here a timer runs from the first byte on. When it ends, its signal (SIGALRM) shuts down the connection or one
 * direction of it. libfcgi then reads the end of the stream, or fails to write, and gives up.
 *
 * There is one timer a process, which serves one connection at a time.
 */
#ifndef GATEHOUSE_HTTP_FASTCGI_DEADLINE_INT_H
#define GATEHOUSE_HTTP_FASTCGI_DEADLINE_INT_H

#include <stdbool.h>
#include <stdint.h>

/* Installs the signal handler; once, before the first connection. */
void fastcgi_deadline_open(void);

/*
 * Gives `fd` so much time from now on, in place of an earlier deadline, until fastcgi_deadline_end(). Then shutdown(fd,
 * how): SHUT_RD where a reply must still be sent. Start and end are two system calls together.
 */
void fastcgi_deadline_start(int fd, int how, int64_t microseconds);

/*
 * Ends the deadline. True when it was reached: then the connection is shut down. Without a deadline it does nothing and
 * returns false.
 */
bool fastcgi_deadline_end(void);

#endif
