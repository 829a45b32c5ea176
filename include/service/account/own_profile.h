/* SPDX-License-Identifier: MIT */
/* Changes what people may change of themselves without a permission: names, phone, language. */
#ifndef GATEHOUSE_SERVICE_ACCOUNT_OWN_PROFILE_H
#define GATEHOUSE_SERVICE_ACCOUNT_OWN_PROFILE_H

#include <stdbool.h>

struct arena;
struct caller;
struct error;
struct service;
struct user;

struct own_profile_patch {
    const char *first_name; /* NULL: keep */
    const char *last_name;  /* NULL: keep */
    bool has_phone;
    const char *phone; /* with has_phone; NULL: none */
    bool has_locale;
    const char *locale; /* with has_locale, in its usual spelling; NULL: unknown */
};

/*
 * Changes the caller's own row; *user_out is the row afterwards. Another phone number is not verified. The provider's
 * copy follows. TOKEN_REVOKED when the caller was shut out since the request began.
 */
struct error *own_profile_update(struct service *service, struct arena *arena, const struct caller *caller,
                                 const struct own_profile_patch *patch, struct user **user_out);

#endif
