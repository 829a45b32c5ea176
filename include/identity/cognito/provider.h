/* SPDX-License-Identifier: MIT */
/*
 * Amazon Cognito user pools as the identity provider, over their JSON 1.1 interface (AWSCognitoIdentityProviderService).
 * Calls for people (login, change of a password) are unsigned and carry the app client's SECRET_HASH; calls of the
 * administrator are signed (Signature Version 4). What is asked of the pool is in docs/identity-providers.md; `gatehousectl
 * identity setup` prints it.
 */
#ifndef GATEHOUSE_IDENTITY_COGNITO_PROVIDER_H
#define GATEHOUSE_IDENTITY_COGNITO_PROVIDER_H

struct arena;
struct error;
struct remote_options;
struct provider;

/* Texts are copied. */
struct cognito_options {
    const char *region;
    const char *endpoint; /* https://cognito-idp.{region}.amazonaws.com, or an emulator's */
    const char *issuer;   /* what tokens must say; {endpoint}/{pool} at Amazon */
    const char *keys_url; /* {issuer}/.well-known/jwks.json at Amazon */
    const char *user_pool_id;
    const char *client_id;
    const char *client_secret_file; /* NULL: the app client has no secret */
    const char *access_key_id;
    const char *secret_access_key_file;
};

/*
 * Makes the provider; released with provider_free(). The secrets are read now and again with provider_forget(); nothing
 * is called before it is needed. INTERNAL with a sentence for the operator when an address is not usable or a secret cannot
 * be read.
 */
struct error *cognito_new(struct arena *arena, const struct remote_options *remote,
                          const struct cognito_options *options, struct provider **provider_out);

#endif
