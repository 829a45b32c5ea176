/* SPDX-License-Identifier: MIT */
/* Shows and changes organisations: the own one, and for internal staff and the operator every one. */
#ifndef GATEHOUSE_SERVICE_ACCOUNT_ORGANISATION_UPDATE_H
#define GATEHOUSE_SERVICE_ACCOUNT_ORGANISATION_UPDATE_H

#include "domain/account/organisation.h"

struct arena;
struct caller;
struct error;
struct service;

/*
 * Reads an organisation with what it uses. Another than the caller's is for internal staff, whose right the caller of
 * this function has checked; it is audited as a crossing. ORGANISATION_UNKNOWN.
 */
struct error *organisation_show(struct service *service, struct arena *arena, const struct caller *caller, struct id id,
                                struct organisation **organisation_out);

/* Lists organisations of all customers for internal staff; audited as a crossing. */
struct error *organisation_browse(struct service *service, struct arena *arena, const struct caller *caller,
                                  const struct organisation_filter *filter, struct organisation_page *page_out);

/*
 * Changes an organisation; in `change` a NULL keeps what is there. All of it is one transaction, in which the caller's
 * right is checked again: PERMISSION, TOKEN_REVOKED.
 *
 * - services: at least one of `inventory` and `logistics`. One that is added or taken adds or takes its role at every
 *   owner; the provider's copies follow by jobs. ROLE_NOT_GRANTABLE when the caller does not hold what an added role
 *   grants. REQUEST_INVALID, path services, when an owner would hold more than the provider takes.
 * - status: DISABLED ends every session of the organisation's people, and they do not come back when it is enabled.
 *   ORGANISATION_INTERNAL for the organisation of internal staff.
 *
 * `caller` NULL is the operator. `required` names the permission. ORGANISATION_UNKNOWN. *organisation_out is the row
 * afterwards, with what it uses.
 */
struct error *organisation_update(struct service *service, struct arena *arena, const struct caller *caller,
                                  const char *required, struct id id, const struct organisation_admin_change *change,
                                  struct organisation **organisation_out);

#endif
