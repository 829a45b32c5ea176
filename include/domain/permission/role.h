/* SPDX-License-Identifier: MIT */
/*
 * Role groups: a fixed list, seeded by sql/ and changed by no endpoint. It is read from the database every time, so
 * that an operator's change holds from the next request on.
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

/* The role of an organisation's owner. */
#define ROLE_OWNER "owner"

/* The role of internal staff, and of nobody else. */
#define ROLE_ADMINISTRATOR "admin"
bool role_is_internal(const char *id);

/*
 * Whether a holder of the patterns `held` may grant `role`: they must cover all its permissions, and only holders of
 * `*:*:a` may grant a reserved role.
 */
bool role_grantable(const struct role *role, const struct text_list *held);

/* The roles of a new customer's owner: `owner`, then those that go with the services paid for. */
struct text_list role_of_owner(struct arena *arena, const struct text_list *services);

#endif
