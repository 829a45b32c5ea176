/* SPDX-License-Identifier: MIT */
/* What provisioning of all providers shares: what the operator is told, settings, secrets in files. */
#ifndef GATEHOUSE_IDENTITY_PROVISION_COMMON_INT_H
#define GATEHOUSE_IDENTITY_PROVISION_COMMON_INT_H

#include "base/secret.h"
#include "identity/json_int.h"
#include "identity/provider_provision.h"

/* Tells the operator what became of one thing. */
void provision_tell(const struct provider_provision *provision, struct arena *arena, enum provision_result result,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* INTERNAL with a sentence where the setting `what` ("region in [cognito]") has no value. */
struct error *provision_need(struct arena *arena, const char *what, const char *value);

/* Reads the secret at `path`; *found_out is false where there is no such file. */
struct error *provision_read_secret(struct arena *arena, const char *path, struct secret *secret_out, bool *found_out);

/*
 * Writes the client's secret into the file unless the file holds it already, and tells the operator. The file is
 * written beside the old one, mode 0600, and takes its place as a whole.
 */
struct error *provision_store_secret(const struct provider_provision *provision, struct arena *arena,
                                     const char *client, const char *path, const char *secret);

/* The text in single quotes, for a shell. */
const char *shell_quote(struct arena *arena, const char *text);

#endif
