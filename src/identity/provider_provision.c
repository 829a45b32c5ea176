/* SPDX-License-Identifier: MIT */
/* Sets up the provider that the configuration names: the choice among them. */
#include "identity/provider_provision.h"

#include <string.h>

#include "base/configuration.h"
#include "base/error.h"
#include "identity/provider_provision_int.h"

const char *provider_deed_text(enum provider_deed deed)
{
    static const char *const words[] = {[PROVIDER_DEED_MADE] = "made",
                                        [PROVIDER_DEED_CHANGED] = "changed",
                                        [PROVIDER_DEED_LEFT] = "left",
                                        [PROVIDER_DEED_WRONG] = "wrong"};
    return words[deed];
}

static struct error *describe_embedded(struct arena *arena, const struct provider_setup *setup, const char **text_out)
{
    (void)arena;
    *text_out = setup->shell ? "# The embedded provider needs no set-up: its keys are made when they are first used.\n" : "{}\n";
    return NULL;
}

static struct error *apply_embedded(struct arena *arena, const struct provider_setup *setup, const char **settings_out)
{
    setup_tell(setup, arena, PROVIDER_DEED_LEFT,
               "the embedded provider needs no set-up: its keys are made when they are first used");
    *settings_out = "";
    return NULL;
}

static const struct row {
    const char *name;
    struct error *(*describe)(struct arena *, const struct provider_setup *, const char **);
    struct error *(*apply)(struct arena *, const struct provider_setup *, const char **);
} rows[] = {{"embedded", describe_embedded, apply_embedded},
            {"cognito", cognito_setup_describe, cognito_setup_apply},
            {"keycloak", keycloak_setup_describe, keycloak_setup_apply}};

static const struct row *row_of(const struct provider_setup *setup)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, setup->configuration->identity.provider) == 0)
            return &rows[i];
    return NULL;
}

struct error *provider_setup_describe(struct arena *arena, const struct provider_setup *setup, const char **text_out)
{
    const struct row *row = row_of(setup);
    return row != NULL ? row->describe(arena, setup, text_out)
                       : error_new(arena, ERROR_INTERNAL, "there is no such provider");
}

struct error *provider_setup_apply(struct arena *arena, const struct provider_setup *setup, const char **settings_out)
{
    const struct row *row = row_of(setup);
    return row != NULL ? row->apply(arena, setup, settings_out)
                       : error_new(arena, ERROR_INTERNAL, "there is no such provider");
}
