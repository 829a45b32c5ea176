/* SPDX-License-Identifier: MIT */
/* What the set-ups of the providers share; for *_setup*.c. */
#ifndef GATEHOUSE_IDENTITY_PROVIDER_PROVISION_INT_H
#define GATEHOUSE_IDENTITY_PROVIDER_PROVISION_INT_H

#include "base/secret.h"
#include "base/text.h"
#include "codec/document.h"
#include "identity/provider_provision.h"

#define WANTED_MAX 24

/* Members of a JSON object that are to be other than they are. The texts live as long as it does. */
struct wanted {
    const char *names[WANTED_MAX];
    const char *values[WANTED_MAX]; /* as JSON; NULL: the member is to go */
    size_t count;
};

void wanted_add(struct wanted *wanted, const char *name, const char *json);

/*
 * The object with what is wanted in it, as JSON: its own members (those named in `kept` only, unless that is NULL) but for
 * the wanted ones, then these. `object` may be NULL: it has none.
 */
const char *wanted_merge(struct arena *arena, const struct wanted *wanted, const struct document *object,
                         const char *const *kept);

/* The members' names, "a, b": for a sentence. */
const char *wanted_names(struct arena *arena, const struct wanted *wanted);

void setup_tell(const struct provider_setup *setup, struct arena *arena, enum provider_deed deed, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* INTERNAL with a sentence where the setting `what` ("[cognito] region") has no value. */
struct error *setup_need(struct arena *arena, const char *what, const char *value);

/* Reads the secret at `path`; *found_out is false where there is no such file or it is empty. */
struct error *setup_read_secret(struct arena *arena, const char *path, struct secret *secret_out, bool *found_out);

/*
 * Brings the client's secret into the file unless it holds that one, and tells so. The file is made anew beside it and
 * takes its place whole.
 */
struct error *setup_keep_secret(const struct provider_setup *setup, struct arena *arena, const char *client,
                                const char *path, const char *secret);

/* The text between single quotes for a shell. */
const char *setup_quote(struct arena *arena, const char *text);

/* JSON with a line for each member. The text must be JSON. */
const char *setup_pretty(struct arena *arena, const char *json);

/* "true" or "false". */
const char *setup_boolean(bool flag);

/* Whether the member is that very boolean. */
bool setup_is(const struct document *object, const char *name, bool flag);

/* Whether an array holds the text. */
bool setup_holds(const struct document *array, const char *text);

/* ---- the providers -------------------------------------------------------------------------------- */

struct error *cognito_setup_describe(struct arena *arena, const struct provider_setup *setup, const char **text_out);
struct error *cognito_setup_apply(struct arena *arena, const struct provider_setup *setup, const char **settings_out);
struct error *keycloak_setup_describe(struct arena *arena, const struct provider_setup *setup, const char **text_out);
struct error *keycloak_setup_apply(struct arena *arena, const struct provider_setup *setup, const char **settings_out);

#endif
