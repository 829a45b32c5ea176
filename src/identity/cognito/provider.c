/* SPDX-License-Identifier: MIT */
/* The operations: accounts by the administrator's calls, tokens by the app client's. */
#include "identity/cognito/provider.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "identity/cognito/cognito_int.h"

/* The attribute that marks an account as made for a user of ours. */
#define OWNER_ATTRIBUTE "custom:svc_user_id"
#define PERMISSIONS_ATTRIBUTE "custom:permissions"

/* ---- accounts ------------------------------------------------------------------------------------- */

static void begin_user(struct cognito *cognito, struct arena *arena, const char *operation, const char *username,
                       struct cognito_call *call)
{
    cognito_admin_begin(cognito, arena, operation, call);
    cognito_call_add(call, "Username", username);
}

/* The attributes of a new account; with SignUp the app client may not be able to write ours, so they are set afterwards. */
static void add_attributes(struct arena *arena, struct cognito_call *call, const struct provider_account *account)
{
    buffer_add_text(&call->body, ",\"UserAttributes\":[");
    cognito_call_add_attribute(call, "email", account->email, true);
    if (account->phone != NULL)
        cognito_call_add_attribute(call, "phone_number", account->phone, false);
    cognito_call_add_attribute(call, OWNER_ATTRIBUTE, id_text(arena, account->user_id), false);
    if (*account->permissions != '\0')
        cognito_call_add_attribute(call, PERMISSIONS_ATTRIBUTE, account->permissions, false);
    buffer_add_char(&call->body, ']');
}

static enum provider_outcome outcome_of_creation(const struct cognito_call *call, bool *decided)
{
    *decided = true;
    if (cognito_is_password_refused(call))
        return PROVIDER_PASSWORD_REFUSED;
    switch (call->fault) {
    case COGNITO_OK:
        return PROVIDER_OK;
    case COGNITO_USERNAME_EXISTS:
    case COGNITO_ALIAS_EXISTS:
        return PROVIDER_EXISTS;
    default:
        *decided = false;
        return PROVIDER_STATE;
    }
}

static struct error *set_password(struct remote *remote, struct arena *arena, const char *subject,
                                  struct secret password, bool temporary, enum provider_outcome *outcome_out)
{
    struct cognito *cognito = cognito_of(remote);
    struct cognito_call call;
    begin_user(cognito, arena, "AdminSetUserPassword", subject, &call);
    call.sets_password = true;
    cognito_call_add(&call, "Password", secret_reveal(password));
    buffer_add_text(&call.body, temporary ? ",\"Permanent\":false" : ",\"Permanent\":true");
    TRY(cognito_call(cognito, arena, &call));
    switch (call.fault) {
    case COGNITO_OK:
        *outcome_out = PROVIDER_OK;
        return NULL;
    case COGNITO_USER_NOT_FOUND:
        *outcome_out = PROVIDER_ABSENT;
        return NULL;
    case COGNITO_INVALID_PASSWORD:
    case COGNITO_INVALID_PARAMETER:
        *outcome_out = PROVIDER_PASSWORD_REFUSED;
        return NULL;
    default:
        return cognito_unexpected(arena, &call);
    }
}

/* AdminCreateUser: a temporary password, and no mail of Cognito's. */
static struct error *invite(struct cognito *cognito, struct arena *arena, const struct provider_account *account,
                            const char **subject_out, enum provider_outcome *outcome_out)
{
    struct cognito_call call;
    bool decided;
    begin_user(cognito, arena, "AdminCreateUser", account->email, &call);
    call.once = true;
    cognito_call_add(&call, "TemporaryPassword", secret_reveal(account->password));
    cognito_call_add(&call, "MessageAction", "SUPPRESS");
    add_attributes(arena, &call, account);
    TRY(cognito_call(cognito, arena, &call));
    *outcome_out = outcome_of_creation(&call, &decided);
    if (!decided)
        return cognito_unexpected(arena, &call);
    if (*outcome_out != PROVIDER_OK)
        return NULL;
    *subject_out = document_text(document_member(document_member(call.answer, "User"), "Username"));
    return *subject_out != NULL ? NULL : cognito_unexpected(arena, &call);
}

static struct error *write_owner(struct cognito *cognito, struct arena *arena, const char *subject,
                                 const struct provider_account *account)
{
    struct cognito_call call;
    begin_user(cognito, arena, "AdminUpdateUserAttributes", subject, &call);
    buffer_add_text(&call.body, ",\"UserAttributes\":[");
    cognito_call_add_attribute(&call, OWNER_ATTRIBUTE, id_text(arena, account->user_id), true);
    cognito_call_add_attribute(&call, PERMISSIONS_ATTRIBUTE, account->permissions, false);
    buffer_add_char(&call.body, ']');
    TRY(cognito_call(cognito, arena, &call));
    return call.fault == COGNITO_OK ? NULL : cognito_unexpected(arena, &call);
}

static void delete_unmarked(struct cognito *cognito, struct arena *arena, const char *subject)
{
    struct cognito_call call;
    begin_user(cognito, arena, "AdminDeleteUser", subject, &call);
    struct error *error = cognito_call(cognito, arena, &call);
    if (error == NULL && call.fault != COGNITO_OK)
        error = cognito_unexpected(arena, &call);
    if (error != NULL)
        LOG(ERROR, IDENTITY, "cognito keeps an account that does not say whose it is; delete it there",
            LOG_TEXT("subject", subject), LOG_TEXT("detail", error->detail));
}

/*
 * SignUp: a password of the person's own, not confirmed. The mark comes in a second call, since whoever may write it at
 * SignUp may write it later as well; what a crash leaves in between is found as an account that is not ours. One that could
 * not be marked is taken back, or nobody could ever be made with that address.
 */
static struct error *sign_up(struct cognito *cognito, struct arena *arena, const struct provider_account *account,
                             const char **subject_out, enum provider_outcome *outcome_out)
{
    struct cognito_call call;
    bool decided;
    const char *hash = cognito_secret_hash(cognito, arena, account->email);
    cognito_client_begin(cognito, arena, "SignUp", &call);
    call.once = true;
    cognito_call_add(&call, "Username", account->email);
    cognito_call_add(&call, "Password", secret_reveal(account->password));
    if (hash != NULL)
        cognito_call_add(&call, "SecretHash", hash);
    buffer_add_text(&call.body, ",\"UserAttributes\":[");
    cognito_call_add_attribute(&call, "email", account->email, true);
    if (account->phone != NULL)
        cognito_call_add_attribute(&call, "phone_number", account->phone, false);
    buffer_add_char(&call.body, ']');
    TRY(cognito_call(cognito, arena, &call));
    *outcome_out = outcome_of_creation(&call, &decided);
    if (!decided)
        return cognito_unexpected(arena, &call);
    if (*outcome_out != PROVIDER_OK)
        return NULL;
    *subject_out = document_text(document_member(call.answer, "UserSub"));
    if (*subject_out == NULL)
        return cognito_unexpected(arena, &call);
    struct error *error = write_owner(cognito, arena, *subject_out, account);
    if (error != NULL)
        delete_unmarked(cognito, arena, *subject_out);
    return error;
}

static struct error *create(struct remote *remote, struct arena *arena, const struct provider_account *account,
                            const char **subject_out, enum provider_outcome *outcome_out)
{
    struct cognito *cognito = cognito_of(remote);
    if (account->kind == PROVIDER_AWAITING_CODE)
        return sign_up(cognito, arena, account, subject_out, outcome_out);
    TRY(invite(cognito, arena, account, subject_out, outcome_out));
    if (*outcome_out != PROVIDER_OK || account->kind == PROVIDER_INVITED)
        return NULL;
    return set_password(remote, arena, *subject_out, account->password, false, outcome_out);
}

static const char *attribute_of(const struct document *list, const char *name)
{
    for (const struct document *one = document_first(list); one != NULL; one = document_next(one)) {
        const char *found = document_text(document_member(one, "Name"));
        if (found != NULL && strcmp(found, name) == 0)
            return document_text(document_member(one, "Value"));
    }
    return NULL;
}

static struct error *find(struct remote *remote, struct arena *arena, struct id user, const char *email,
                          struct remote_account *found_out)
{
    struct cognito *cognito = cognito_of(remote);
    struct cognito_call call;
    *found_out = (struct remote_account){0};
    begin_user(cognito, arena, "AdminGetUser", email, &call);
    TRY(cognito_call(cognito, arena, &call));
    if (call.fault == COGNITO_USER_NOT_FOUND)
        return NULL;
    if (call.fault != COGNITO_OK)
        return cognito_unexpected(arena, &call);
    const struct document *attributes = document_member(call.answer, "UserAttributes");
    const char *status = document_text(document_member(call.answer, "UserStatus"));
    const char *marked = attribute_of(attributes, OWNER_ATTRIBUTE);
    const char *subject = attribute_of(attributes, "sub");
    *found_out = (struct remote_account){
        .subject = subject != NULL ? subject : document_text(document_member(call.answer, "Username")),
        .ours = marked != NULL && strcmp(marked, id_text(arena, user)) == 0,
        .used = status == NULL || (strcmp(status, "FORCE_CHANGE_PASSWORD") != 0 && strcmp(status, "UNCONFIRMED") != 0),
    };
    return NULL;
}

/* What came of a call about one account whose only outcomes are that it is done and that there is none. */
static struct error *outcome_of_call(struct arena *arena, const struct cognito_call *call,
                                     enum provider_outcome *outcome_out)
{
    if (call->fault != COGNITO_OK && call->fault != COGNITO_USER_NOT_FOUND)
        return cognito_unexpected(arena, call);
    *outcome_out = call->fault == COGNITO_OK ? PROVIDER_OK : PROVIDER_ABSENT;
    return NULL;
}

static struct error *plain(struct cognito *cognito, struct arena *arena, struct cognito_call *call,
                           enum provider_outcome *outcome_out)
{
    TRY(cognito_call(cognito, arena, call));
    return outcome_of_call(arena, call, outcome_out);
}

static struct error *remove_one(struct remote *remote, struct arena *arena, const char *subject)
{
    struct cognito_call call;
    enum provider_outcome outcome;
    begin_user(cognito_of(remote), arena, "AdminDeleteUser", subject, &call);
    return plain(cognito_of(remote), arena, &call, &outcome);
}

static struct error *set_enabled(struct remote *remote, struct arena *arena, const char *subject, bool enabled,
                                 enum provider_outcome *outcome_out)
{
    struct cognito_call call;
    begin_user(cognito_of(remote), arena, enabled ? "AdminEnableUser" : "AdminDisableUser", subject, &call);
    return plain(cognito_of(remote), arena, &call, outcome_out);
}

static struct error *sign_out(struct remote *remote, struct arena *arena, const char *subject)
{
    struct cognito_call call;
    enum provider_outcome outcome;
    begin_user(cognito_of(remote), arena, "AdminUserGlobalSignOut", subject, &call);
    return plain(cognito_of(remote), arena, &call, &outcome);
}

static struct error *confirm(struct remote *remote, struct arena *arena, const char *subject,
                             enum provider_outcome *outcome_out)
{
    struct cognito *cognito = cognito_of(remote);
    struct cognito_call call;
    begin_user(cognito, arena, "AdminConfirmSignUp", subject, &call);
    TRY(cognito_call(cognito, arena, &call));
    switch (call.fault) {
    case COGNITO_OK:
        *outcome_out = PROVIDER_OK;
        return NULL;
    case COGNITO_USER_NOT_FOUND:
        *outcome_out = PROVIDER_ABSENT;
        return NULL;
    case COGNITO_NOT_AUTHORIZED: /* "User cannot be confirmed. Current status is CONFIRMED" */
    case COGNITO_INVALID_PARAMETER:
        *outcome_out = PROVIDER_STATE;
        return NULL;
    default:
        return cognito_unexpected(arena, &call);
    }
}

/*
 * Sends attributes, with the address where `with_email`: Cognito takes a verified mark only along with what it marks, and an
 * address that is the account's already is not a change to it.
 */
static struct error *send_attributes(struct cognito *cognito, struct arena *arena, const char *subject,
                                     const struct provider_attributes *attributes, bool with_email,
                                     struct cognito_call *call)
{
    bool first = true;
    begin_user(cognito, arena, "AdminUpdateUserAttributes", subject, call);
    buffer_add_text(&call->body, ",\"UserAttributes\":[");
    if (with_email) {
        cognito_call_add_attribute(call, "email", attributes->email, first);
        first = false;
    }
    if (attributes->set_verified) {
        cognito_call_add_attribute(call, "email_verified", attributes->email_verified ? "true" : "false", first);
        first = false;
    }
    if (attributes->set_phone) {
        cognito_call_add_attribute(call, "phone_number", attributes->phone != NULL ? attributes->phone : "", first);
        first = false;
        if (attributes->set_verified && attributes->phone != NULL)
            cognito_call_add_attribute(call, "phone_number_verified", attributes->phone_verified ? "true" : "false",
                                       false);
    }
    if (attributes->set_permissions)
        cognito_call_add_attribute(call, PERMISSIONS_ATTRIBUTE, attributes->permissions, first);
    buffer_add_char(&call->body, ']');
    return cognito_call(cognito, arena, call);
}

static struct error *set_attributes(struct remote *remote, struct arena *arena, const char *subject,
                                    const struct provider_attributes *attributes, enum provider_outcome *outcome_out)
{
    struct cognito *cognito = cognito_of(remote);
    struct cognito_call call;
    bool with_email = attributes->set_verified && attributes->email != NULL;
    TRY(send_attributes(cognito, arena, subject, attributes, with_email, &call));
    if (with_email && call.fault == COGNITO_ALIAS_EXISTS)
        TRY(send_attributes(cognito, arena, subject, attributes, false, &call));
    return outcome_of_call(arena, &call, outcome_out);
}

/* ---- the wire ------------------------------------------------------------------------------------- */

static void rules(struct remote *remote, struct token_rules *rules_out)
{
    /* Emulators name no origin_jti; then each token is a session's name of its own. */
    static const char *const names[] = {"origin_jti", "jti", NULL};
    const struct cognito *cognito = cognito_of(remote);
    rules_out->issuer = cognito->options.issuer;
    rules_out->audience = cognito->options.client_id;
    rules_out->token_use = TOKEN_USE_ACCESS;
    rules_out->session_names = names;
}

static const char *keys_url(struct remote *remote)
{
    return cognito_of(remote)->options.keys_url;
}

static struct error *read_secrets(struct remote *remote, struct arena *arena)
{
    struct cognito *cognito = cognito_of(remote);
    const struct remote_secret secrets[] = {
        {cognito->options.client_secret_file, &cognito->client_secret},
        {cognito->options.secret_access_key_file, &cognito->access_key},
    };
    return remote_read_secrets(remote, arena, secrets, sizeof secrets / sizeof *secrets);
}

static void release(struct remote *remote)
{
    free(cognito_of(remote));
}

static const struct remote_driver driver = {
    .name = "cognito",
    .rules = rules,
    .keys_url = keys_url,
    .create = create,
    .find = find,
    .login = cognito_login,
    .answer = cognito_login_answer,
    .refresh = cognito_session_refresh,
    .revoke = cognito_session_revoke,
    .sign_out = sign_out,
    .change_password = cognito_password_change,
    .set_password = set_password,
    .confirm = confirm,
    .set_enabled = set_enabled,
    .set_attributes = set_attributes,
    .check = cognito_check,
    .send_code = cognito_code_send,
    .confirm_by_code = cognito_code_confirm,
    .reset_by_code = cognito_code_reset,
    .remove = remove_one,
    .read_secrets = read_secrets,
    .free = release,
};

struct error *cognito_new(struct arena *arena, const struct remote_options *remote,
                          const struct cognito_options *options, struct provider **provider_out)
{
    TRY(remote_check_address(arena, &driver, "endpoint", options->endpoint));
    TRY(remote_check_address(arena, &driver, "jwks_url", options->keys_url));
    struct cognito *cognito = calloc(1, sizeof *cognito);
    if (cognito == NULL)
        abort();
    struct error *error = remote_init(&cognito->remote, &driver, remote);
    struct arena *own = cognito->remote.arena;
    cognito->options = (struct cognito_options){
        .region = arena_text(own, options->region),
        .endpoint = arena_text(own, options->endpoint),
        .issuer = arena_text(own, options->issuer),
        .keys_url = arena_text(own, options->keys_url),
        .user_pool_id = arena_text(own, options->user_pool_id),
        .client_id = arena_text(own, options->client_id),
        .client_secret_file = arena_text(own, options->client_secret_file),
        .access_key_id = arena_text(own, options->access_key_id),
        .secret_access_key_file = arena_text(own, options->secret_access_key_file),
    };
    return remote_ready(&cognito->remote, arena, error, provider_out);
}
