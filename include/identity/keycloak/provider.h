/* SPDX-License-Identifier: MIT */
/*
 * A realm of Keycloak 26 as the identity provider. Accounts are managed by its Admin REST interface, as the service
 * account of one client. Tokens come by OpenID Connect, through another client that may use the password grant.
 * docs/identity-providers.md says what the realm must be like.
 */
#ifndef GATEHOUSE_IDENTITY_KEYCLOAK_PROVIDER_H
#define GATEHOUSE_IDENTITY_KEYCLOAK_PROVIDER_H

struct arena;
struct error;
struct remote_options;
struct provider;

/* Texts are copied. */
struct keycloak_options {
    const char *url; /* of the server, without /realms */
    const char *realm;
    const char *issuer;    /* what tokens must say; {url}/realms/{realm} as a rule */
    const char *keys_url;  /* {url}/realms/{realm}/protocol/openid-connect/certs as a rule */
    const char *client_id; /* signs people in */
    const char *client_secret_file;
    const char *admin_client_id; /* manages users */
    const char *admin_client_secret_file;
};

/*
 * Makes the provider; provider_free() releases it. The secrets are read now, and again by provider_forget(). The
 * provider is called only when it is needed. INTERNAL with a sentence for the operator when an address is not usable or
 * a secret cannot be read.
 */
struct error *keycloak_new(struct arena *arena, const struct remote_options *remote,
                           const struct keycloak_options *options, struct provider **provider_out);

#endif
