/* SPDX-License-Identifier: MIT */
/*
 * A user pool of Amazon Cognito as the identity provider, called by its JSON 1.1 interface
 * (AWSCognitoIdentityProviderService). Calls for people (login, change of a password) are unsigned and carry the app
 * client's SECRET_HASH. Calls of the administrator are signed (Signature Version 4). docs/identity-providers.md says
 * what the pool must be like.
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
 * Makes the provider; provider_free() releases it. The secrets are read now, and again by provider_forget(). The
 * provider is called only when it is needed. INTERNAL with a sentence for the operator when an address is not usable or
 * a secret cannot be read.
 */
struct error *cognito_new(struct arena *arena, const struct remote_options *remote,
                          const struct cognito_options *options, struct provider **provider_out);

#endif
