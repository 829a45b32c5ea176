/* SPDX-License-Identifier: MIT */
/* Provisions the provider that the configuration names: hands the two calls on to its functions. */
#include "identity/provider_provision.h"

#include <string.h>

#include "base/configuration.h"
#include "base/error.h"
#include "identity/provider_provision_int.h"
#include "identity/provision_common_int.h"

const char *provision_result_text(enum provision_result result)
{
    static const char *const words[] = {[PROVISION_MADE] = "made",
                                        [PROVISION_CHANGED] = "changed",
                                        [PROVISION_UNCHANGED] = "left",
                                        [PROVISION_WRONG] = "wrong"};
    return words[result];
}

static struct error *describe_embedded(struct arena *arena, const struct provider_provision *provision,
                                       const char **text_out)
{
    (void)arena;
    *text_out = provision->shell
                    ? "# The embedded provider needs no set-up: its keys are made when they are first used.\n"
                    : "{}\n";
    return NULL;
}

static struct error *apply_embedded(struct arena *arena, const struct provider_provision *provision,
                                    const char **settings_out)
{
    provision_tell(provision, arena, PROVISION_UNCHANGED,
                   "the embedded provider needs no set-up: its keys are made when they are first used");
    *settings_out = "";
    return NULL;
}

static const struct row {
    const char *name;
    struct error *(*describe)(struct arena *, const struct provider_provision *, const char **);
    struct error *(*apply)(struct arena *, const struct provider_provision *, const char **);
} rows[] = {{"embedded", describe_embedded, apply_embedded},
            {"cognito", cognito_provision_describe, cognito_provision_apply},
            {"keycloak", keycloak_provision_describe, keycloak_provision_apply}};

static const struct row *row_of(const struct provider_provision *provision)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, provision->configuration->identity.provider) == 0)
            return &rows[i];
    return NULL;
}

struct error *provider_provision_describe(struct arena *arena, const struct provider_provision *provision,
                                          const char **text_out)
{
    const struct row *row = row_of(provision);
    return row != NULL ? row->describe(arena, provision, text_out)
                       : error_new(arena, ERROR_INTERNAL, "there is no such provider");
}

struct error *provider_provision_apply(struct arena *arena, const struct provider_provision *provision,
                                       const char **settings_out)
{
    const struct row *row = row_of(provision);
    return row != NULL ? row->apply(arena, provision, settings_out)
                       : error_new(arena, ERROR_INTERNAL, "there is no such provider");
}
