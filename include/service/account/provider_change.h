/* SPDX-License-Identifier: MIT */
/*
 * Changes of an account that are on their way to a remote provider. Some know an account by its address alone: during
 * the change neither the old nor the new one may be right, and a right password is refused.
 */
#ifndef GATEHOUSE_SERVICE_ACCOUNT_PROVIDER_CHANGE_H
#define GATEHOUSE_SERVICE_ACCOUNT_PROVIDER_CHANGE_H

#include <stdbool.h>

#include "base/id.h"
#include "identity/provider.h"

struct arena;
struct error;
struct service;

/*
 * After `outcome`: whether the provider is to be asked once more, since it has refused the password of a user whose
 * address or another attribute was on its way to it. The change is finished first. Nobody's account (no id) is looked
 * up like a user's. False for a provider that changes in our transactions.
 */
struct error *provider_change_reconcile(struct service *service, struct arena *arena, struct id user,
                                        enum provider_outcome outcome, bool *ask_again_out);

#endif
