/* SPDX-License-Identifier: MIT */
/* Addresses of the Internet Protocol and ranges of them, for lists of who may see what. */
#ifndef GATEHOUSE_BASE_NETWORK_H
#define GATEHOUSE_BASE_NETWORK_H

#include <stdbool.h>

#include "base/text.h"

/* Whether `text` is an IPv4 or IPv6 address, or one with a prefix length behind a slash (RFC 4632, RFC 4291). */
bool network_is_range(const char *text);

/*
 * Whether `address` lies in one of the ranges; words that are none hold nothing, and neither does a text that is no
 * address. An IPv4 address is the same thing as its IPv4-mapped IPv6 form (::ffff:192.0.2.1).
 */
bool network_list_has(const struct text_list *ranges, const char *address);

/*
 * Whether `host` is this machine beyond doubt: the name localhost, or an address of 127.0.0.0/8 or ::1 in full, the
 * latter with or without brackets. A name that begins like such an address, as 127.evil.example does, is another
 * machine's.
 */
bool network_is_loopback(const char *host);

#endif
