/* SPDX-License-Identifier: MIT */
/*
 * Setting a provider up as Gatehouse wants it: pool and app client of Cognito, realm and clients of Keycloak. What is right
 * already is left as it is, so that doing it again changes nothing. For `gatehousectl identity setup`, which is an operator's:
 * nothing here needs the database, and no worker calls it.
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
    PROVISION_UNCHANGED, /* it was right */
    PROVISION_WRONG      /* and not for us to mend; the sentence says what to do */
};

/* A stable word: "made". */
const char *provision_result_text(enum provision_result deed);

struct provider_provision {
    const struct configuration *configuration;
    const char *name;               /* of a pool and its client that the configuration does not name */
    const char *as;                 /* who may make pools or realms; NULL: the configured access key (Cognito) */
    const char *secret_file;        /* the secret of `as` */
    const char *session_token_file; /* of temporary keys of Amazon's; NULL: none */
    bool show_secrets;              /* whether texts may hold clients' secrets */
    bool shell;                     /* describe: commands for a shell, not JSON */
    /* Told of each thing while it is done; not told by provider_provision_describe(). */
    void (*tell)(void *context, enum provision_result deed, const char *sentence);
    void *context;
};

/* Writes down what is wanted, without calling anybody. INTERNAL when a setting or a secret that it needs is missing. */
struct error *provider_provision_describe(struct arena *arena, const struct provider_provision *provision,
                                          const char **text_out);

/*
 * Makes it so. Clients' secrets go into the files that the configuration names for them, mode 0600. On success
 * *settings_out holds the lines that belong into the configuration ("" for the embedded provider). Errors are INTERNAL (a
 * setting or file) and IDENTITY_UNAVAILABLE (the provider refused or did not answer); what was done until then stays, and
 * doing it again goes on.
 */
struct error *provider_provision_apply(struct arena *arena, const struct provider_provision *provision,
                                       const char **settings_out);

#endif
