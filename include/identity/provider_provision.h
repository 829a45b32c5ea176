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

enum provider_deed {
    PROVIDER_DEED_MADE,
    PROVIDER_DEED_CHANGED,
    PROVIDER_DEED_LEFT, /* it was right */
    PROVIDER_DEED_WRONG /* and not for us to mend; the sentence says what to do */
};

/* A stable word: "made". */
const char *provider_deed_text(enum provider_deed deed);

struct provider_setup {
    const struct configuration *configuration;
    const char *name;               /* of a pool and its client that the configuration does not name */
    const char *as;                 /* who may make pools or realms; NULL: the configured access key (Cognito) */
    const char *secret_file;        /* the secret of `as` */
    const char *session_token_file; /* of temporary keys of Amazon's; NULL: none */
    bool show_secrets;              /* whether texts may hold clients' secrets */
    bool shell;                     /* describe: commands for a shell, not JSON */
    /* Told of each thing while it is done; not told by provider_setup_describe(). */
    void (*tell)(void *context, enum provider_deed deed, const char *sentence);
    void *context;
};

/* Writes down what is wanted, without calling anybody. INTERNAL when a setting or a secret that it needs is missing. */
struct error *provider_setup_describe(struct arena *arena, const struct provider_setup *setup, const char **text_out);

/*
 * Makes it so. Clients' secrets go into the files that the configuration names for them, mode 0600. On success
 * *settings_out holds the lines that belong into the configuration ("" for the embedded provider). Errors are INTERNAL (a
 * setting or file) and IDENTITY_UNAVAILABLE (the provider refused or did not answer); what was done until then stays, and
 * doing it again goes on.
 */
struct error *provider_setup_apply(struct arena *arena, const struct provider_setup *setup, const char **settings_out);

#endif
