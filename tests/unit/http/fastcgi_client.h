/* SPDX-License-Identifier: MIT */
/* What a web server says to a worker, and hears of it. */
#ifndef GATEHOUSE_TESTS_HTTP_FASTCGI_CLIENT_H
#define GATEHOUSE_TESTS_HTTP_FASTCGI_CLIENT_H

#include <stdbool.h>

struct arena;

/*
 * Sends a request with parameters of the form "name=value name=value". `keep`: the connection is to stay. Without a
 * body (NULL) there is not even the end of one.
 */
void fastcgi_client_put(int fd, int role, bool keep, const char *parameters, const char *body);

/* All that is answered until the request ends; NULL when the connection ends first. */
const char *fastcgi_client_take(struct arena *arena, int fd);

#endif
