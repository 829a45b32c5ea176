/* SPDX-License-Identifier: MIT */
/*
 * Provisions a provider: makes the pool and app client of Cognito, or the realm and clients of Keycloak, as Gatehouse
 * needs them. What is right already stays as it is, so running it again changes nothing. For the operator's
 * `gatehousectl identity setup`: nothing here needs the database, and no worker calls it.
 */
#ifndef GATEHOUSE_IDENTITY_PROVIDER_PROVISION_H
#define GATEHOUSE_IDENTITY_PROVIDER_PROVISION_H

#include <stdbool.h>

struct arena;
struct configuration;
struct error;

enum provision_result {
    PROVISION_MADE,
    PROVISION_CHANGED,
    PROVISION_UNCHANGED, /* it was right before */
    PROVISION_WRONG      /* and it must be corrected by hand; the sentence says how */
};

/* A stable word: "made". */
const char *provision_result_text(enum provision_result result);

struct provider_provision {
    const struct configuration *configuration;
    const char *name;               /* of a pool and its client, where the configuration names none */
    const char *as;                 /* who may make pools or realms; NULL: the configured access key (Cognito) */
    const char *secret_file;        /* the secret of `as` */
    const char *session_token_file; /* of temporary keys of Amazon's; NULL: none */
    bool show_secrets;              /* whether texts may hold clients' secrets */
    bool shell;                     /* describe: commands for a shell, not JSON */
    /* provider_provision_apply() calls it after each thing that it has looked at or changed. */
    void (*tell)(void *context, enum provision_result deed, const char *sentence);
    void *context;
};

/*
 * Describes what is wanted as a text in the arena, without calling the provider. INTERNAL when a setting or a secret is
 * missing.
 */
struct error *provider_provision_describe(struct arena *arena, const struct provider_provision *provision,
                                          const char **text_out);

/*
 * Makes it so. The clients' secrets go into the files that the configuration names for them, mode 0600. *settings_out
 * holds the lines that belong into the configuration ("" for the embedded provider). Errors are INTERNAL (a setting or
 * file) and IDENTITY_UNAVAILABLE (the provider refused or did not answer). What was done before an error stays, and
 * running it again goes on from there.
 */
struct error *provider_provision_apply(struct arena *arena, const struct provider_provision *provision,
                                       const char **settings_out);

#endif
