/* SPDX-License-Identifier: MIT */
/*
 * The hosts of [database] host: one server, or the nodes of a Galera cluster in the order in which they are used. They
 * are separated by commas: "db1, db2:3307, 192.0.2.3, [2001:db8::4]:3306".
 */
#ifndef GATEHOUSE_STORE_DATABASE_HOST_LIST_H
#define GATEHOUSE_STORE_DATABASE_HOST_LIST_H

#include <stddef.h>

#include "base/limits.h"

struct arena;
struct error;

struct host {
    const char *name; /* a host name or an address, without brackets */
    unsigned port;    /* 1 to 65535 */
};

struct host_list {
    struct host items[LIMIT_DATABASE_HOSTS];
    size_t count; /* at least 1 */
};

/*
 * Reads the list; an entry without a port gets `port`. INTERNAL, with a sentence for the operator that names every
 * entry that is wrong: no host name or address, no port between 1 and 65535, the same host twice, or more entries than
 * LIMIT_DATABASE_HOSTS.
 */
struct error *host_list_parse(struct arena *arena, const char *text, unsigned port, struct host_list *list_out);

#endif
