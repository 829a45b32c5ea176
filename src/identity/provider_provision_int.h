/* SPDX-License-Identifier: MIT */
/* The providers that can be provisioned; what each function does says identity/provider_provision.h. */
#ifndef GATEHOUSE_IDENTITY_PROVIDER_PROVISION_INT_H
#define GATEHOUSE_IDENTITY_PROVIDER_PROVISION_INT_H

#include "identity/provider_provision.h"

struct error *cognito_provision_describe(struct arena *arena, const struct provider_provision *provision,
                                         const char **text_out);
struct error *cognito_provision_apply(struct arena *arena, const struct provider_provision *provision,
                                      const char **settings_out);
struct error *keycloak_provision_describe(struct arena *arena, const struct provider_provision *provision,
                                          const char **text_out);
struct error *keycloak_provision_apply(struct arena *arena, const struct provider_provision *provision,
                                       const char **settings_out);

#endif
