/* SPDX-License-Identifier: MIT */
/* IP addresses and ranges of them, for lists of clients that may see something. */
#ifndef GATEHOUSE_BASE_NETWORK_H
#define GATEHOUSE_BASE_NETWORK_H

#include <stdbool.h>

#include "base/text.h"

/* Whether `text` is an IPv4 or IPv6 address, or one with a prefix length behind a slash (RFC 4632, RFC 4291). */
bool network_is_range(const char *text);

/*
 * Whether `address` lies in one of the ranges. A text that is no address lies in none, and a word that is no range
 * contains none. An IPv4 address equals its IPv4-mapped IPv6 form (::ffff:192.0.2.1).
 */
bool network_list_has(const struct text_list *ranges, const char *address);

/*
 * Whether `host` is certainly this machine: the name localhost, an address of 127.0.0.0/8, or ::1, the latter with or
 * without brackets. A name that only begins like such an address, as 127.evil.example does, is another machine's.
 */
bool network_is_loopback(const char *host);

#endif
