/* SPDX-License-Identifier: MIT */
/* What the set-ups of the providers share; for *_setup*.c. */
#ifndef GATEHOUSE_IDENTITY_PROVIDER_PROVISION_INT_H
#define GATEHOUSE_IDENTITY_PROVIDER_PROVISION_INT_H

#include "base/secret.h"
#include "base/text.h"
#include "codec/document.h"
#include "identity/provider_provision.h"

#define MERGE_PATCH_MEMBERS 24

/* Members of a JSON object that are to be other than they are. The texts live as long as it does. */
struct merge_patch {
    const char *names[MERGE_PATCH_MEMBERS];
    const char *values[MERGE_PATCH_MEMBERS]; /* as JSON; NULL: the member is to go */
    size_t count;
};

void merge_patch_add(struct merge_patch *merge_patch, const char *name, const char *json);

/*
 * The object with what is wanted in it, as JSON: its own members (those named in `kept` only, unless that is NULL) but for
 * the wanted ones, then these. `object` may be NULL: it has none.
 */
const char *merge_patch_apply(struct arena *arena, const struct merge_patch *merge_patch, const struct document *object,
                              const char *const *kept);

/* The members' names, "a, b": for a sentence. */
const char *merge_patch_names(struct arena *arena, const struct merge_patch *merge_patch);

void provision_tell(const struct provider_provision *provision, struct arena *arena, enum provision_result deed,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* INTERNAL with a sentence where the setting `what` ("[cognito] region") has no value. */
struct error *provision_need(struct arena *arena, const char *what, const char *value);

/* Reads the secret at `path`; *found_out is false where there is no such file or it is empty. */
struct error *provision_read_secret(struct arena *arena, const char *path, struct secret *secret_out, bool *found_out);

/*
 * Brings the client's secret into the file unless it holds that one, and tells so. The file is made anew beside it and
 * takes its place whole.
 */
struct error *provision_store_secret(const struct provider_provision *provision, struct arena *arena,
                                     const char *client, const char *path, const char *secret);

/* The text between single quotes for a shell. */
const char *shell_quote(struct arena *arena, const char *text);

/* JSON with a line for each member. The text must be JSON. */
const char *json_pretty(struct arena *arena, const char *json);

/* "true" or "false". */
const char *json_boolean(bool flag);

/* Whether the member is that very boolean. */
bool json_is(const struct document *object, const char *name, bool flag);

/* Whether an array holds the text. */
bool json_array_has(const struct document *array, const char *text);

/* ---- the providers -------------------------------------------------------------------------------- */

struct error *cognito_provision_describe(struct arena *arena, const struct provider_provision *provision,
                                         const char **text_out);
struct error *cognito_provision_apply(struct arena *arena, const struct provider_provision *provision,
                                      const char **settings_out);
struct error *keycloak_provision_describe(struct arena *arena, const struct provider_provision *provision,
                                          const char **text_out);
struct error *keycloak_provision_apply(struct arena *arena, const struct provider_provision *provision,
                                       const char **settings_out);

#endif
