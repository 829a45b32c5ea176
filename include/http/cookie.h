/* SPDX-License-Identifier: MIT */
/* Reads cookies (RFC 6265, section 5.4). Pure functions. */
#ifndef GATEHOUSE_HTTP_COOKIE_H
#define GATEHOUSE_HTTP_COOKIE_H

struct arena;

enum cookie_result {
    COOKIE_NONE, /* no header, or no cookie of that name in it */
    COOKIE_ONE,
    COOKIE_MANY /* several of that name: nobody can tell which of them is meant, even where they are alike */
};

/*
 * Looks for the cookie `name` in the value of a Cookie header; NULL: there is none. Names are compared to the byte.
 * With COOKIE_ONE *value_out is the value in the arena, without the blanks and tabs round it and with whatever else it
 * has, quotes included. A pair without "=" has a value and no name, as browsers send it, so it is never found.
 */
enum cookie_result cookie_find(struct arena *arena, const char *header, const char *name, const char **value_out);

#endif
