/* SPDX-License-Identifier: MIT */
/*
 * Role groups: a fixed built-in list (specification, part 2), seeded by sql/, edited by no endpoint, but
 * read from the database every time, so that an operator's change holds from the next request on.
 */
#ifndef GATEHOUSE_DOMAIN_PERMISSION_ROLE_H
#define GATEHOUSE_DOMAIN_PERMISSION_ROLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

struct arena;
struct database;
struct error;

struct role {
    const char *id;
    const char *description;
    struct text_list permissions; /* as stored, sorted; malformed ones grant nothing */
};

struct role_list {
    struct role *items;
    size_t count;
};

/* All roles with their permissions, by id, in one round trip. */
struct error *role_list(struct database *database, struct arena *arena, struct role_list *roles_out);

/* The role of that id, NULL when there is none. */
const struct role *role_find(const struct role_list *roles, const char *id);

/* The role of whoever owns an organisation. */
#define ROLE_OWNER "owner"

/* The role of internal staff, who alone may have it. */
#define ROLE_ADMINISTRATOR "admin"
bool role_is_internal(const char *id);

/*
 * Whether whoever holds the patterns `held` may grant `role`: all its permissions are covered, and a
 * reserved role is granted by holders of `*:*:a` only.
 */
bool role_grantable(const struct role *role, const struct text_list *held);

/* The roles of a new customer's owner: `owner`, then those that go with the services paid for. */
struct text_list role_of_owner(struct arena *arena, const struct text_list *services);

#endif
