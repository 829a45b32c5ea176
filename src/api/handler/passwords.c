/* SPDX-License-Identifier: MIT */
/* Handles the endpoints of passwords: change, forgotten, reset, and setting by an administrator. */
#include <stddef.h>

#include "api/handlers_int.h"
#include "api/route.h"
#include "base/limits.h"
#include "http/schema.h"
#include "service/account/password.h"
#include "service/account/recovery.h"
#include "service/runtime/service.h"

struct change_body {
    struct secret password;
    struct secret new_password;
};

static const struct schema_field change_fields[] = {
    {.name = "password",
     .type = SCHEMA_SECRET,
     .flags = SCHEMA_REQUIRED,
     .minimum = 1,
     .maximum = LIMIT_PASSWORD_INPUT_CHARACTERS,
     .offset = offsetof(struct change_body, password),
     .description = "The current one."},
    {.name = "newPassword",
     .type = SCHEMA_SECRET,
     .flags = SCHEMA_REQUIRED,
     .minimum = 1,
     .maximum = LIMIT_PASSWORD_INPUT_CHARACTERS,
     .offset = offsetof(struct change_body, new_password)},
};

const struct schema passwords_change_schema = {
    .name = "ChangePasswordRequest", SCHEMA_FIELDS(change_fields), .size = sizeof(struct change_body)};

struct error *passwords_change(struct call *call)
{
    const struct change_body *body = call->body;
    TRY(password_change(call->service, call->arena, &call->caller, body->password, body->new_password));
    call->success = "The password is changed. All other sessions have ended.";
    return NULL;
}

struct error *passwords_forgotten(struct call *call)
{
    const struct username_body *body = call->body;
    TRY(recovery_ask(call->service, call->arena, &call->caller, RECOVERY_FORGOTTEN, body->username));
    call->success = "If there is such an account, an e-mail with a code is on its way.";
    return NULL;
}

struct reset_body {
    const char *username;
    const char *code;
    struct secret new_password;
};

static const struct schema_field reset_fields[] = {
    {.name = "username",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_REQUIRED,
     .minimum = 1,
     .maximum = LIMIT_EMAIL_BYTES,
     .offset = offsetof(struct reset_body, username),
     .description = "The e-mail address in any spelling, or the user id."},
    {.name = "confirmationCode",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_REQUIRED,
     .minimum = 1,
     .maximum = 32,
     .offset = offsetof(struct reset_body, code)},
    {.name = "newPassword",
     .type = SCHEMA_SECRET,
     .flags = SCHEMA_REQUIRED,
     .minimum = 1,
     .maximum = LIMIT_PASSWORD_INPUT_CHARACTERS,
     .offset = offsetof(struct reset_body, new_password)},
};

const struct schema passwords_reset_schema = {
    .name = "ResetPasswordRequest", SCHEMA_FIELDS(reset_fields), .size = sizeof(struct reset_body)};

struct error *passwords_reset(struct call *call)
{
    const struct reset_body *body = call->body;
    TRY(password_reset(call->service, call->arena, &call->caller, body->username, body->code, body->new_password));
    call->success = "The password is set. Sign in with it.";
    return NULL;
}

struct admin_set_body {
    const char *username;
    struct secret password;
    bool permanent;
};

static const struct schema_field admin_set_fields[] = {
    {.name = "username",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_REQUIRED,
     .minimum = 1,
     .maximum = LIMIT_EMAIL_BYTES,
     .offset = offsetof(struct admin_set_body, username),
     .description = "The e-mail address in any spelling, or the user id."},
    {.name = "password",
     .type = SCHEMA_SECRET,
     .flags = SCHEMA_REQUIRED,
     .minimum = 1,
     .maximum = LIMIT_PASSWORD_INPUT_CHARACTERS,
     .offset = offsetof(struct admin_set_body, password)},
    {.name = "permanent",
     .type = SCHEMA_BOOLEAN,
     .fallback = "false",
     .offset = offsetof(struct admin_set_body, permanent),
     .description = "Otherwise the user must choose another password at the next login."},
};

const struct schema passwords_admin_set_schema = {
    .name = "AdminSetPasswordRequest", SCHEMA_FIELDS(admin_set_fields), .size = sizeof(struct admin_set_body)};

struct error *passwords_admin_set(struct call *call)
{
    const struct admin_set_body *body = call->body;
    TRY(password_set(call->service, call->arena, &call->caller, body->username, body->password, body->permanent));
    call->success =
        body->permanent ? "The password is set." : "The password is set; it must be changed at the next login.";
    return NULL;
}
