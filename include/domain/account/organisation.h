/* SPDX-License-Identifier: MIT */
/*
 * Organisations: the tenants. Every statement on a tenant's rows binds its organisation's id
 * (docs/permissions.md, "How a request is decided").
 */
#ifndef GATEHOUSE_DOMAIN_ACCOUNT_ORGANISATION_H
#define GATEHOUSE_DOMAIN_ACCOUNT_ORGANISATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "base/text.h"

struct arena;
struct database;
struct error;

/* The services that a customer pays for, with | between them, as schemas take choices. */
#define ORGANISATION_SERVICES "inventory|logistics"
#define ORGANISATION_SERVICES_MAX 2

/* An unknown word in the row reads as DISABLED, which denies. */
enum organisation_status { ORGANISATION_PROVISIONING, ORGANISATION_ACTIVE, ORGANISATION_DISABLED };

struct organisation {
    struct id id;
    const char *name;
    struct text_list services; /* those of ORGANISATION_SERVICES that the customer pays for, in that order */
    enum organisation_status status;
    int64_t quota_bytes; /* ORGANISATION_NO_QUOTA: none */
    int64_t quota_files;
    const char *created_at; /* RFC 3339; not read by insert */
    const char *updated_at;
    int64_t used_bytes; /* as the quotas count them; these three are only where the function says so */
    int64_t used_files;
    int64_t user_count; /* without those whom nobody sees */
};

#define ORGANISATION_NO_QUOTA INT64_C(-1)

const char *organisation_status_text(enum organisation_status status);

/* The organisation of internal staff, "Internal". Its id is fixed, so that creating it twice creates one. */
struct id organisation_internal_id(void);

/* Adds the row; id, name, services and status are read, quotas too. A repeated id is INTERNAL. */
struct error *organisation_insert(struct database *database, struct arena *arena,
                                  const struct organisation *organisation);

/* Creates the organisation of internal staff unless it exists, and activates it. Idempotent, safe in parallel. */
struct error *organisation_ensure_internal(struct database *database, struct arena *arena);

/* *organisation_out is NULL when there is none with that id; the status does not matter. */
struct error *organisation_find(struct database *database, struct arena *arena, struct id id,
                                struct organisation **organisation_out);

/* The same with what the organisation uses. One in provisioning is not found: nobody sees it. */
struct error *organisation_find_whole(struct database *database, struct arena *arena, struct id id,
                                      struct organisation **organisation_out);

/*
 * Locks the organisation's row until the transaction ends. Part of a transaction; lock users' rows first.
 * *organisation_out (may be NULL) is the row, NULL when there is none.
 */
struct error *organisation_admin_lock(struct database *database, struct arena *arena, struct id id,
                                      struct organisation **organisation_out);

/* provisioning -> active. *changed_out (may be NULL) is false when it was not provisioning. */
struct error *organisation_activate(struct database *database, struct arena *arena, struct id id, bool *changed_out);

struct organisation_page {
    struct organisation *items;
    size_t count;
    bool more; /* whether a next page exists; its `after` is the last item's id */
};

/* Which organisations to list. */
struct organisation_filter {
    bool any_status;
    enum organisation_status status; /* where any_status is false */
    const char *search;              /* part of the name, in any case; % and _ have no special meaning; NULL: all */
    struct id after;                 /* the cursor: the last id of the page before; none: from the start */
    unsigned limit;                  /* 1 to LIMIT_PAGE_MAX */
};

/* Oldest first, by id, with what each uses; without those in provisioning. Only for callers who hold `a`. */
struct error *organisation_list(struct database *database, struct arena *arena,
                                const struct organisation_filter *filter, struct organisation_page *page_out);

/* Every organisation behind `after` (none: from the start) by id, `limit` of them at most. For the operator. */
struct error *organisation_admin_each(struct database *database, struct arena *arena, struct id after, unsigned limit,
                                      struct organisation_page *page_out);

/* The people of the organisation who have the role, at most `limit` behind `after`, by id. */
struct error *organisation_admin_holders(struct database *database, struct arena *arena, struct id organisation,
                                         const char *role, struct id after, unsigned limit, struct id **users_out,
                                         size_t *count_out);

/* A change; a NULL keeps what is there. */
struct organisation_admin_change {
    const char *name;
    const struct text_list *services;
    const int64_t *quota_bytes; /* ORGANISATION_NO_QUOTA: none from now on */
    const int64_t *quota_files;
    const enum organisation_status *status; /* ACTIVE or DISABLED, from either of them */
};

/*
 * *changed_out is false when there is no such organisation, or when its status should change while it is in
 * provisioning. With the status DISABLED, tokens that remote providers have issued until now open nothing any more,
 * unless their session stands.
 */
struct error *organisation_admin_change(struct database *database, struct arena *arena, struct id id,
                                        const struct organisation_admin_change *change, bool *changed_out);

#endif
