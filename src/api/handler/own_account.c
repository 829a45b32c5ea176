/* SPDX-License-Identifier: MIT */
/* Handles what people change of their own accounts: names, phone, language, and the e-mail address. */
#include <stddef.h>

#include "api/handlers_int.h"
#include "api/route.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/secret.h"
#include "http/schema.h"
#include "service/account/email_cancel.h"
#include "service/account/email_change.h"
#include "service/account/own_profile.h"
#include "service/runtime/service.h"

/* ---- names, phone, language ---------------------------------------------------------------------- */

struct patch_body {
    const char *first_name;
    const char *last_name;
    const char *phone;
    const char *locale;
};

static const struct schema_field patch_fields[] = {
    {.name = "firstName",
     .type = SCHEMA_NAME,
     .minimum = 1,
     .maximum = LIMIT_NAME_CHARACTERS,
     .offset = offsetof(struct patch_body, first_name)},
    {.name = "lastName",
     .type = SCHEMA_NAME,
     .minimum = 1,
     .maximum = LIMIT_NAME_CHARACTERS,
     .offset = offsetof(struct patch_body, last_name)},
    {.name = "phone",
     .type = SCHEMA_PHONE,
     .flags = SCHEMA_NULLABLE,
     .offset = offsetof(struct patch_body, phone),
     .description = "null clears it. Another number is not verified."},
    {.name = "locale",
     .type = SCHEMA_LANGUAGE,
     .flags = SCHEMA_NULLABLE,
     .offset = offsetof(struct patch_body, locale),
     .description = "A language tag (BCP 47) without private use, such as de-CH; null clears it."},
};

const struct schema own_account_patch_schema = {.name = "MePatch",
                                                .description = "At least one member.",
                                                .not_empty = true,
                                                SCHEMA_FIELDS(patch_fields),
                                                .size = sizeof(struct patch_body)};

struct error *own_account_validate_patch(struct call *call, struct validation *validation)
{
    if (call->body_present == 0 && validation->error == NULL)
        validation_add(validation, "required", "there is nothing to change", "%s", "");
    return NULL;
}

struct error *own_account_patch(struct call *call)
{
    const struct patch_body *body = call->body;
    const struct own_profile_patch patch = {
        .first_name = body->first_name,
        .last_name = body->last_name,
        .has_phone = schema_has(&own_account_patch_schema, call->body_present, "phone"),
        .phone = body->phone,
        .has_locale = schema_has(&own_account_patch_schema, call->body_present, "locale"),
        .locale = body->locale,
    };
    struct user *user;
    TRY(own_profile_update(call->service, call->arena, &call->caller, &patch, &user));
    return members_reply_user(call, user);
}

/* ---- the e-mail address -------------------------------------------------------------------------- */

struct change_email_body {
    const char *email;
    struct secret password;
};

static const struct schema_field change_email_fields[] = {
    {.name = "newEmail",
     .type = SCHEMA_EMAIL,
     .flags = SCHEMA_REQUIRED,
     .offset = offsetof(struct change_email_body, email)},
    {.name = "password",
     .type = SCHEMA_SECRET,
     .flags = SCHEMA_REQUIRED,
     .minimum = 1,
     .maximum = LIMIT_PASSWORD_INPUT_CHARACTERS,
     .offset = offsetof(struct change_email_body, password),
     .description = "The current one."},
};

const struct schema own_account_change_email_schema = {
    .name = "ChangeEmailRequest", SCHEMA_FIELDS(change_email_fields), .size = sizeof(struct change_email_body)};

struct error *own_account_change_email(struct call *call)
{
    const struct change_email_body *body = call->body;
    TRY(email_change_ask(call->service, call->arena, &call->caller, body->email, body->password));
    call->success = "If the address can be used, an e-mail with a code is on its way to it.";
    return NULL;
}

struct confirm_email_body {
    const char *code;
};

static const struct schema_field confirm_email_fields[] = {
    {.name = "confirmationCode",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_REQUIRED,
     .minimum = 1,
     .maximum = 32,
     .offset = offsetof(struct confirm_email_body, code),
     .description = "The one that was mailed to the new address."},
};

const struct schema own_account_confirm_email_schema = {
    .name = "ConfirmEmailRequest", SCHEMA_FIELDS(confirm_email_fields), .size = sizeof(struct confirm_email_body)};

struct error *own_account_confirm_email(struct call *call)
{
    const struct confirm_email_body *body = call->body;
    struct user *user = NULL;
    TRY(email_change_confirm(call->service, call->arena, &call->caller, body->code, &user));
    return members_reply_user(call, user);
}

struct error *own_account_cancel_email(struct call *call)
{
    const struct confirm_body *body = call->body;
    TRY(email_cancel(call->service, call->arena, &call->caller, body->username, body->code));
    call->success = "The account has its former address, and all sessions have ended.";
    return NULL;
}
