/* SPDX-License-Identifier: MIT */
/* Handles the endpoints of accounts: sign-up of customers, login, refresh, logout, me. */
#include <stddef.h>
#include <string.h>

#include "api/handler/views_int.h"
#include "api/handlers_int.h"
#include "api/route.h"
#include "api/session_cookie_int.h"
#include "base/arena.h"
#include "base/limits.h"
#include "domain/account/organisation.h"
#include "domain/permission/principal.h"
#include "domain/session/known_device.h"
#include "http/schema.h"
#include "service/account/session_admin.h"
#include "service/account/sign_in.h"
#include "service/account/sign_up.h"
#include "service/runtime/service.h"

/* ---- signup -------------------------------------------------------------------------------------- */

struct signup_organisation {
    const char *name;
};

struct signup_body {
    const struct signup_organisation *organisation;
    const char *email;
    const char *first_name;
    const char *last_name;
    const char *phone;
    struct text_list services;
};

static const struct schema_field signup_organisation_fields[] = {
    {.name = "name",
     .type = SCHEMA_NAME,
     .flags = SCHEMA_REQUIRED,
     .minimum = 1,
     .maximum = LIMIT_ORGANISATION_NAME_CHARACTERS,
     .offset = offsetof(struct signup_organisation, name)},
};

static const struct schema signup_organisation_schema = {
    .name = "NewOrganisation", SCHEMA_FIELDS(signup_organisation_fields), .size = sizeof(struct signup_organisation)};

static const struct schema_field signup_fields[] = {
    {.name = "organisation",
     .type = SCHEMA_OBJECT,
     .flags = SCHEMA_REQUIRED,
     .schema = &signup_organisation_schema,
     .offset = offsetof(struct signup_body, organisation)},
    {.name = "email", .type = SCHEMA_EMAIL, .flags = SCHEMA_REQUIRED, .offset = offsetof(struct signup_body, email)},
    {.name = "firstName",
     .type = SCHEMA_NAME,
     .flags = SCHEMA_REQUIRED,
     .minimum = 1,
     .maximum = LIMIT_NAME_CHARACTERS,
     .offset = offsetof(struct signup_body, first_name)},
    {.name = "lastName",
     .type = SCHEMA_NAME,
     .flags = SCHEMA_REQUIRED,
     .minimum = 1,
     .maximum = LIMIT_NAME_CHARACTERS,
     .offset = offsetof(struct signup_body, last_name)},
    {.name = "phone", .type = SCHEMA_PHONE, .flags = SCHEMA_NULLABLE, .offset = offsetof(struct signup_body, phone)},
    {.name = "services",
     .type = SCHEMA_TEXTS,
     .flags = SCHEMA_UNIQUE,
     .minimum = 1,
     .maximum = ORGANISATION_SERVICES_MAX,
     .item_maximum = 20,
     .choices = ORGANISATION_SERVICES,
     .fallback = "inventory",
     .offset = offsetof(struct signup_body, services)},
};

const struct schema accounts_signup_schema = {
    .name = "SignupRequest", SCHEMA_FIELDS(signup_fields), .size = sizeof(struct signup_body)};

struct signup_reply {
    const struct organisation_view *organisation;
    const struct user_view *user;
};

static const struct schema_field signup_reply_fields[] = {
    {.name = "organisation",
     .type = SCHEMA_OBJECT,
     .schema = &organisation_view_schema,
     .offset = offsetof(struct signup_reply, organisation)},
    {.name = "user", .type = SCHEMA_OBJECT, .schema = &user_view_schema, .offset = offsetof(struct signup_reply, user)},
};

const struct schema accounts_signup_reply_schema = {
    .name = "SignupReply", SCHEMA_FIELDS(signup_reply_fields), .size = sizeof(struct signup_reply)};

struct error *accounts_signup(struct call *call)
{
    const struct signup_body *body = call->body;
    struct sign_up_customer customer = {
        .organisation_name = body->organisation->name,
        .email = body->email,
        .first_name = body->first_name,
        .last_name = body->last_name,
        .phone = body->phone,
        .services = body->services,
    };
    struct organisation organisation;
    struct user user;
    TRY(sign_up_customer(call->service, call->arena, &call->caller, &customer, &organisation, &user));
    struct signup_reply *reply = arena_alloc(call->arena, sizeof *reply);
    *reply = (struct signup_reply){organisation_view(call->arena, &organisation), user_view(call->arena, &user)};
    call->result = reply;
    return NULL;
}

/* ---- tokens -------------------------------------------------------------------------------------- */

struct tokens_view {
    const char *access_token;
    const char *id_token;
    const char *refresh_token;
    const char *token_type;
    int64_t expires_in;
};

static const struct schema_field tokens_fields[] = {
    {.name = "accessToken", .type = SCHEMA_TEXT, .offset = offsetof(struct tokens_view, access_token)},
    {.name = "idToken", .type = SCHEMA_TEXT, .offset = offsetof(struct tokens_view, id_token)},
    {.name = "refreshToken",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_OPTIONAL,
     .offset = offsetof(struct tokens_view, refresh_token),
     .description = "Absent where it was asked for in a cookie."},
    {.name = "tokenType",
     .type = SCHEMA_CHOICE,
     .choices = "Bearer",
     .offset = offsetof(struct tokens_view, token_type)},
    {.name = "expiresIn",
     .type = SCHEMA_INTEGER,
     .offset = offsetof(struct tokens_view, expires_in),
     .description = "Seconds that the access token is good for."},
};

static const struct schema tokens_schema = {
    .name = "Tokens", SCHEMA_FIELDS(tokens_fields), .size = sizeof(struct tokens_view)};

/* `session` not NULL: the refresh token goes into a cookie, and not into the body. */
static struct error *give_tokens(struct call *call, const struct provider_tokens *tokens, const char *session,
                                 const struct tokens_view **view_out)
{
    struct tokens_view *view = arena_alloc(call->arena, sizeof *view);
    struct session_record *record;
    *view_out = view;
    *view = (struct tokens_view){
        .access_token = tokens->access_token,
        .id_token = tokens->id_token,
        .refresh_token = tokens->refresh_token,
        .token_type = "Bearer",
        .expires_in = tokens->expires_in,
    };
    if (session == NULL)
        return NULL;
    TRY(session_find(call->service->database, call->arena, tokens->user_id, tokens->session_id, false, &record));
    if (record == NULL)
        return error_plain(call->arena, ERROR_TOKEN_REVOKED);
    session_cookie_set(call, tokens->refresh_token, record->seconds_left);
    view->refresh_token = NULL;
    return NULL;
}

/* ---- the cookie of a browser --------------------------------------------------------------------- */

#define SESSION_DESCRIPTION                                                                                            \
    "With cookie the refresh token comes and goes in a cookie that no script can read, __Secure-gatehouse-refresh. "   \
    "The "                                                                                                             \
    "request must come from a page of this service: Sec-Fetch-Site same-origin, or the Origin of base_url or web_url."

/* Checks where a request comes from that asks for the cookie, whatever else is wrong with it. */
static struct error *check_session(const struct call *call, const char *session)
{
    bool cookie = session != NULL && strcmp(session, SESSION_COOKIE_CHOICE) == 0;
    return cookie ? session_cookie_check_origin(call) : NULL;
}

/* ---- login --------------------------------------------------------------------------------------- */

static const struct schema_field login_fields[] = {
    {.name = "username",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_REQUIRED,
     .minimum = 1,
     .maximum = LIMIT_EMAIL_BYTES,
     .offset = offsetof(struct sign_in_request, username),
     .description = "The e-mail address in any spelling, or the user id."},
    {.name = "password",
     .type = SCHEMA_SECRET,
     .flags = SCHEMA_REQUIRED,
     .minimum = 1,
     .maximum = LIMIT_PASSWORD_INPUT_CHARACTERS,
     .offset = offsetof(struct sign_in_request, password),
     .description = "The current or the temporary password."},
    {.name = "newPassword",
     .type = SCHEMA_SECRET,
     .minimum = 1,
     .maximum = LIMIT_PASSWORD_INPUT_CHARACTERS,
     .offset = offsetof(struct sign_in_request, new_password),
     .description = "With a temporary password: the one to set."},
    {.name = "session",
     .type = SCHEMA_CHOICE,
     .choices = SESSION_COOKIE_CHOICE,
     .offset = offsetof(struct sign_in_request, session),
     .description = SESSION_DESCRIPTION},
    {.name = "deviceMark",
     .type = SCHEMA_TEXT,
     .maximum = KNOWN_DEVICE_MARK_BYTES,
     .offset = offsetof(struct sign_in_request, device_mark),
     .description =
         "The mark from this client's last login of the user, so that the wrong passwords of strangers do not "
         "hold it up; empty asks for a first one. With session the mark comes and goes in a cookie, "
         "__Secure-gatehouse-device, and the text is not looked at."},
};

const struct schema accounts_login_schema = {
    .name = "LoginRequest", SCHEMA_FIELDS(login_fields), .size = sizeof(struct sign_in_request)};

struct login_reply {
    const struct tokens_view *tokens;
    const struct user_view *user;
    const char *device_mark;
};

static const struct schema_field login_reply_fields[] = {
    {.name = "tokens", .type = SCHEMA_OBJECT, .schema = &tokens_schema, .offset = offsetof(struct login_reply, tokens)},
    {.name = "user", .type = SCHEMA_OBJECT, .schema = &user_view_schema, .offset = offsetof(struct login_reply, user)},
    {.name = "deviceMark",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_OPTIONAL,
     .offset = offsetof(struct login_reply, device_mark),
     .description = "To keep and to send with the next login; only where deviceMark was sent without session."},
};

const struct schema accounts_login_reply_schema = {
    .name = "LoginReply", SCHEMA_FIELDS(login_reply_fields), .size = sizeof(struct login_reply)};

struct error *accounts_validate_login(struct call *call, struct validation *validation)
{
    (void)validation;
    return check_session(call, ((const struct sign_in_request *)call->body)->session);
}

struct error *accounts_login(struct call *call)
{
    struct sign_in_request login = *(const struct sign_in_request *)call->body;
    bool in_cookie = login.session != NULL && login.device_mark != NULL;
    struct provider_tokens tokens;
    struct user *user;
    const char *mark = NULL;
    if (in_cookie)
        login.device_mark = session_cookie_device(call);
    TRY(sign_in_with_password(call->service, call->arena, &call->caller, &login, &tokens, &user, &mark));
    struct login_reply *reply = arena_alloc(call->arena, sizeof *reply);
    TRY(give_tokens(call, &tokens, login.session, &reply->tokens));
    if (in_cookie)
        session_cookie_set_device(call, mark);
    reply->user = user_view(call->arena, user);
    reply->device_mark = in_cookie ? NULL : mark;
    call->result = reply;
    return NULL;
}

/* ---- refresh ------------------------------------------------------------------------------------- */

struct refresh_body {
    const char *refresh_token;
    const char *session;
};

static const struct schema_field refresh_fields[] = {
    {.name = "refreshToken",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_REQUIRED,
     .instead = "session",
     .minimum = 1,
     .maximum = LIMIT_TOKEN_BYTES,
     .offset = offsetof(struct refresh_body, refresh_token)},
    {.name = "session",
     .type = SCHEMA_CHOICE,
     .choices = SESSION_COOKIE_CHOICE,
     .offset = offsetof(struct refresh_body, session),
     .description = SESSION_DESCRIPTION},
};

const struct schema accounts_refresh_schema = {
    .name = "RefreshRequest", SCHEMA_FIELDS(refresh_fields), .size = sizeof(struct refresh_body)};

struct refresh_reply {
    const struct tokens_view *tokens;
};

static const struct schema_field refresh_reply_fields[] = {
    {.name = "tokens",
     .type = SCHEMA_OBJECT,
     .schema = &tokens_schema,
     .offset = offsetof(struct refresh_reply, tokens)},
};

const struct schema accounts_refresh_reply_schema = {
    .name = "RefreshReply", SCHEMA_FIELDS(refresh_reply_fields), .size = sizeof(struct refresh_reply)};

struct error *accounts_check_refresh(struct call *call)
{
    return session_cookie_check_type(call);
}

struct error *accounts_validate_refresh(struct call *call, struct validation *validation)
{
    (void)validation;
    return check_session(call, ((const struct refresh_body *)call->body)->session);
}

struct error *accounts_refresh(struct call *call)
{
    const struct refresh_body *body = call->body;
    const char *token = body->refresh_token;
    struct provider_tokens tokens;
    if (body->session != NULL)
        TRY(session_cookie_read(call, &token));
    TRY(sign_in_refresh(call->service, call->arena, &call->caller, token, body->session != NULL, &tokens));
    struct refresh_reply *reply = arena_alloc(call->arena, sizeof *reply);
    TRY(give_tokens(call, &tokens, body->session, &reply->tokens));
    call->result = reply;
    return NULL;
}

/* ---- logout -------------------------------------------------------------------------------------- */

struct logout_body {
    bool everywhere;
    bool others;
};

static const struct schema_field logout_fields[] = {
    {.name = "everywhere",
     .type = SCHEMA_BOOLEAN,
     .fallback = "false",
     .offset = offsetof(struct logout_body, everywhere),
     .description = "End all sessions of the user, not only this one."},
    {.name = "others",
     .type = SCHEMA_BOOLEAN,
     .fallback = "false",
     .unless = "everywhere",
     .offset = offsetof(struct logout_body, others),
     .description = "End all sessions of the user but this one."},
};

const struct schema accounts_logout_schema = {
    .name = "LogoutRequest", SCHEMA_FIELDS(logout_fields), .size = sizeof(struct logout_body)};

struct error *accounts_validate_logout(struct call *call, struct validation *validation)
{
    const struct logout_body *body = call->body;
    if (body->everywhere && body->others)
        validation_add(validation, "unexpected", "must not be there beside everywhere", "%s", "others");
    return NULL;
}

static struct error *log_out_others(struct call *call)
{
    TRY(session_admin_end_others(call->service, call->arena, &call->caller));
    call->success = "All your other sessions have ended.";
    return NULL;
}

struct error *accounts_logout(struct call *call)
{
    const struct logout_body *body = call->body;
    struct session_record *current;
    if (body->others)
        return log_out_others(call);
    TRY(session_admin_current(call->service, call->arena, &call->caller, &current));
    TRY(sign_in_log_out(call->service, call->arena, &call->caller, body->everywhere));
    if (current != NULL && current->in_cookie)
        session_cookie_clear(call);
    call->success = body->everywhere ? "You are signed out everywhere." : "You are signed out.";
    return NULL;
}

/* ---- me ------------------------------------------------------------------------------------------ */

struct me_reply {
    const struct user_view *user;
    const struct organisation_view *organisation;
    struct text_list permissions;
};

static const struct schema_field me_fields[] = {
    {.name = "user", .type = SCHEMA_OBJECT, .schema = &user_view_schema, .offset = offsetof(struct me_reply, user)},
    {.name = "organisation",
     .type = SCHEMA_OBJECT,
     .schema = &organisation_view_schema,
     .offset = offsetof(struct me_reply, organisation)},
    {.name = "permissions",
     .type = SCHEMA_TEXTS,
     .offset = offsetof(struct me_reply, permissions),
     .description = "Effective: the user's own and those of the roles, as of this request."},
};

const struct schema accounts_me_schema = {.name = "Me", SCHEMA_FIELDS(me_fields), .size = sizeof(struct me_reply)};

struct error *accounts_me(struct call *call)
{
    const struct principal *principal = call->caller.principal;
    struct me_reply *reply = arena_alloc(call->arena, sizeof *reply);
    struct user *user;
    struct organisation *organisation;
    TRY(principal_details(call->service->database, call->arena, principal, &user, &organisation));
    *reply = (struct me_reply){
        .user = user_view(call->arena, user),
        .organisation = organisation_view(call->arena, organisation),
        .permissions = principal_permissions(call->arena, principal),
    };
    call->result = reply;
    return NULL;
}
