/* SPDX-License-Identifier: MIT */
/* Setting up a realm: what is wanted, and the calls; for keycloak_provision*.c. */
#ifndef GATEHOUSE_IDENTITY_KEYCLOAK_PROVISION_INT_H
#define GATEHOUSE_IDENTITY_KEYCLOAK_PROVISION_INT_H

#include "identity/keycloak/keycloak_int.h"
#include "identity/provider_provision_int.h"

/* One set-up on its way. */
struct keycloak_provision {
    const struct provider_provision *provision;
    const struct configuration *configuration;
    struct keycloak *keycloak;
    const char *token; /* of the administrator who sets up */
    const char *realm;
    const char *base; /* {url}/admin/realms/{realm} */
};

/* A client as it is to be. */
struct keycloak_client {
    const char *id;
    const char *secret_file; /* NULL: its secret is kept nowhere */
    bool manages;            /* users, by its service account; else signs people in */
};

/* Names of what the configuration does not name. */
#define KEYCLOAK_DEFAULT_REALM "gatehouse"
#define KEYCLOAK_DEFAULT_CLIENT "gatehouse"
#define KEYCLOAK_DEFAULT_ADMIN "gatehouse-admin"

/* The client whose roles are rights in the realm, and the roles that the service account needs. */
#define KEYCLOAK_MANAGEMENT "realm-management"
extern const char *const keycloak_wanted_roles[]; /* NULL at the end */

const char *keycloak_wanted_realm_name(const struct configuration *configuration);
void keycloak_wanted_clients(const struct configuration *configuration, struct keycloak_client clients_out[2]);

/* ---- keycloak_setup_text.c: what is wanted, as JSON ------------------------------------------------ */

/* Adds what is to be other of a realm; `old` NULL: it is to be made. */
void keycloak_wanted_realm(struct arena *arena, const struct configuration *configuration, const struct document *old,
                           struct merge_patch *merge_patch);

/* The user profile over the one that the realm has (NULL: Keycloak's own of the start); NULL: it is right. */
const char *keycloak_wanted_profile(struct arena *arena, const struct document *old);

/* Adds what is to be other of a client; `old` NULL: it is to be made. */
void keycloak_wanted_client(const struct keycloak_client *client, const struct document *old,
                            struct merge_patch *merge_patch);

/* A text as JSON. */
const char *json_text(struct arena *arena, const char *text);

/* ---- provision_call.c ------------------------------------------------------------------------------ */

/* Signs in as the administrator; task->token is set. */
struct error *keycloak_provision_sign_in(struct keycloak_provision *task, struct arena *arena);

/* As keycloak_provision_call(), at any address. */
struct error *keycloak_provision_call_at(struct keycloak_provision *task, struct arena *arena, const char *method,
                                         const char *url, const char *json, const struct document **answer_out);

/*
 * Makes a call below the realm's address as the administrator; `json` may be NULL. 404 is no error: *answer_out is NULL then,
 * and where there was no body.
 */
struct error *keycloak_provision_call(struct keycloak_provision *task, struct arena *arena, const char *method,
                                      const char *path, const char *json, const struct document **answer_out);

/* ---- keycloak_provision_client.c ----------------------------------------------------------------------- */

/* Makes or mends a client, keeps its secret, and gives its service account the roles. */
struct error *keycloak_provision_client(struct keycloak_provision *task, struct arena *arena,
                                        const struct keycloak_client *client);

#endif
