/* SPDX-License-Identifier: MIT */
/* Provisioning of a realm: the calls, and what is wanted. */
#ifndef GATEHOUSE_IDENTITY_KEYCLOAK_PROVISION_INT_H
#define GATEHOUSE_IDENTITY_KEYCLOAK_PROVISION_INT_H

#include "identity/keycloak/keycloak_int.h"
#include "identity/provision_common_int.h"

/* One run of provisioning. */
struct keycloak_provision {
    const struct provider_provision *provision;
    const struct configuration *configuration;
    struct keycloak *keycloak;
    const char *token; /* the administrator's access token */
    const char *realm;
    const char *base; /* {url}/admin/realms/{realm} */
};

/* A client as it is wanted. */
struct keycloak_client {
    const char *id;
    const char *secret_file; /* NULL: its secret is not stored */
    bool manages;            /* true: its service account manages users; false: it signs people in */
};

/* Names where the configuration names nothing. */
#define KEYCLOAK_DEFAULT_REALM "gatehouse"
#define KEYCLOAK_DEFAULT_CLIENT "gatehouse"
#define KEYCLOAK_DEFAULT_ADMIN "gatehouse-admin"

/* The client whose roles are rights in the realm, and that of its roles which the service account needs. */
#define KEYCLOAK_MANAGEMENT "realm-management"
#define KEYCLOAK_ROLE "manage-users"

const char *keycloak_wanted_realm_name(const struct configuration *configuration);
void keycloak_wanted_clients(const struct configuration *configuration, struct keycloak_client clients_out[2]);

/* ---- provision_wanted.c: the wanted state, as JSON ------------------------------------------------- */

/* Adds to the patch what must change in a realm; `old` NULL: the realm is to be made. */
void keycloak_wanted_realm(struct arena *arena, const struct configuration *configuration, const struct document *old,
                           struct merge_patch *patch);

/*
 * The user profile that is wanted, over the one that the realm has (`old` NULL: Keycloak's default). NULL: nothing must
 * change.
 */
const char *keycloak_wanted_profile(struct arena *arena, const struct document *old);

/* Adds to the patch what must change in a client; `old` NULL: the client is to be made. */
void keycloak_wanted_client(const struct keycloak_client *client, const struct document *old,
                            struct merge_patch *patch);

/* ---- provision_call.c ------------------------------------------------------------------------------ */

/* Signs in as the administrator; task->token is set. */
struct error *keycloak_provision_sign_in(struct keycloak_provision *task, struct arena *arena);

/* The same as keycloak_provision_call(), at any address. */
struct error *keycloak_provision_call_at(struct keycloak_provision *task, struct arena *arena, const char *method,
                                         const char *url, const char *json, const struct document **answer_out);

/*
 * Makes a call as the administrator; `path` follows the realm's address, `json` NULL is no body. *answer_out (may be
 * NULL) is NULL where the answer has no body. 404 is an error only where answer_out is NULL; else *answer_out is NULL
 * then.
 */
struct error *keycloak_provision_call(struct keycloak_provision *task, struct arena *arena, const char *method,
                                      const char *path, const char *json, const struct document **answer_out);

/* ---- provision_client.c ---------------------------------------------------------------------------- */

/* Makes or corrects a client, stores its secret, and gives its service account the roles. */
struct error *keycloak_provision_client(struct keycloak_provision *task, struct arena *arena,
                                        const struct keycloak_client *client);

#endif
