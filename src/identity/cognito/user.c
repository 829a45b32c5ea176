/* SPDX-License-Identifier: MIT */
/* Accounts at Cognito: created, found, confirmed, enabled and disabled, described, removed. */
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "codec/address.h"
#include "identity/cognito/cognito_int.h"
#include "identity/json_int.h"

/* Attributes of ours: the user that the account was made for, and a copy of the user's permissions. */
#define OWNER_ATTRIBUTE "custom:svc_user_id"
#define PERMISSIONS_ATTRIBUTE "custom:permissions"

/* The attributes of an invited account, ours among them. */
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

static struct error *outcome_of_creation(struct arena *arena, const struct cognito_call *call,
                                         enum provider_outcome *outcome_out)
{
    static const struct cognito_meaning meanings[] = {
        {COGNITO_USERNAME_EXISTS, PROVIDER_EXISTS},
        {COGNITO_ALIAS_EXISTS, PROVIDER_EXISTS},
    };
    *outcome_out = PROVIDER_PASSWORD_REFUSED;
    if (cognito_is_password_refused(call))
        return NULL;
    return cognito_outcome(arena, call, meanings, sizeof meanings / sizeof *meanings, outcome_out);
}

/* AdminCreateUser: sets a temporary password, and Cognito sends no mail. */
static struct error *invite(struct cognito *cognito, struct arena *arena, const struct provider_account *account,
                            const char **subject_out, enum provider_outcome *outcome_out)
{
    struct cognito_call call;
    cognito_user_begin(cognito, arena, "AdminCreateUser", account->email, &call);
    call.once = true;
    cognito_call_add(&call, "TemporaryPassword", secret_reveal(account->password));
    cognito_call_add(&call, "MessageAction", "SUPPRESS");
    add_attributes(arena, &call, account);
    TRY(cognito_call(cognito, arena, &call));
    TRY(outcome_of_creation(arena, &call, outcome_out));
    if (*outcome_out != PROVIDER_OK)
        return NULL;
    *subject_out = document_text(document_member(document_member(call.answer, "User"), "Username"));
    return *subject_out != NULL ? NULL : cognito_unexpected(arena, &call);
}

static struct error *write_owner(struct cognito *cognito, struct arena *arena, const char *subject,
                                 const struct provider_account *account)
{
    struct cognito_call call;
    cognito_user_begin(cognito, arena, "AdminUpdateUserAttributes", subject, &call);
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
    cognito_user_begin(cognito, arena, "AdminDeleteUser", subject, &call);
    struct error *error = cognito_call(cognito, arena, &call);
    if (error == NULL && call.fault != COGNITO_OK)
        error = cognito_unexpected(arena, &call);
    if (error != NULL)
        LOG(ERROR, IDENTITY, "cognito keeps an account that does not say whose it is; delete it there",
            LOG_TEXT("subject", subject), LOG_TEXT("detail", error->detail));
}

/*
 * SignUp: sets a permanent password; the account is not confirmed. Our attributes follow in a second call: an app
 * client that could write them at SignUp could write them later as well. After a crash between the two calls the
 * account is one that is not ours. Where the second call fails the account is deleted, or nobody could ever be made
 * with that address.
 */
static struct error *sign_up(struct cognito *cognito, struct arena *arena, const struct provider_account *account,
                             const char **subject_out, enum provider_outcome *outcome_out)
{
    struct cognito_call call;
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
    TRY(outcome_of_creation(arena, &call, outcome_out));
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

struct error *cognito_user_create(struct remote *remote, struct arena *arena, const struct provider_account *account,
                                  const char **subject_out, enum provider_outcome *outcome_out)
{
    struct cognito *cognito = cognito_of(remote);
    if (account->kind == PROVIDER_AWAITING_CODE)
        return sign_up(cognito, arena, account, subject_out, outcome_out);
    TRY(invite(cognito, arena, account, subject_out, outcome_out));
    if (*outcome_out != PROVIDER_OK || account->kind == PROVIDER_INVITED)
        return NULL;
    return cognito_password_set(remote, arena, *subject_out, account->password, false, outcome_out);
}

static const char *attribute_of(const struct document *list, const char *name)
{
    return document_text(document_member(json_find(list, "Name", name), "Value"));
}

struct error *cognito_user_find(struct remote *remote, struct arena *arena, struct id user, const char *email,
                                struct remote_account *found_out)
{
    struct cognito *cognito = cognito_of(remote);
    struct cognito_call call;
    *found_out = (struct remote_account){0};
    cognito_user_begin(cognito, arena, "AdminGetUser", email, &call);
    TRY(cognito_call(cognito, arena, &call));
    if (call.fault == COGNITO_USER_NOT_FOUND)
        return NULL;
    if (call.fault != COGNITO_OK)
        return cognito_unexpected(arena, &call);
    const struct document *attributes = document_member(call.answer, "UserAttributes");
    const char *status = document_text(document_member(call.answer, "UserStatus"));
    const char *marked = attribute_of(attributes, OWNER_ATTRIBUTE);
    const char *subject = attribute_of(attributes, "sub");
    if (subject == NULL)
        subject = document_text(document_member(call.answer, "Username"));
    if (subject == NULL)
        return cognito_unexpected(arena, &call);
    *found_out = (struct remote_account){
        .subject = subject,
        .ours = marked != NULL && strcmp(marked, id_text(arena, user)) == 0,
        .used = status == NULL || (strcmp(status, "FORCE_CHANGE_PASSWORD") != 0 && strcmp(status, "UNCONFIRMED") != 0),
    };
    return NULL;
}

struct error *cognito_user_remove(struct remote *remote, struct arena *arena, const char *subject)
{
    struct cognito_call call;
    enum provider_outcome outcome;
    cognito_user_begin(cognito_of(remote), arena, "AdminDeleteUser", subject, &call);
    return cognito_call_plain(cognito_of(remote), arena, &call, &outcome);
}

struct error *cognito_user_set_enabled(struct remote *remote, struct arena *arena, const char *subject, bool enabled,
                                       enum provider_outcome *outcome_out)
{
    struct cognito_call call;
    cognito_user_begin(cognito_of(remote), arena, enabled ? "AdminEnableUser" : "AdminDisableUser", subject, &call);
    return cognito_call_plain(cognito_of(remote), arena, &call, outcome_out);
}

struct error *cognito_user_confirm(struct remote *remote, struct arena *arena, const char *subject,
                                   enum provider_outcome *outcome_out)
{
    static const struct cognito_meaning meanings[] = {
        {COGNITO_USER_NOT_FOUND, PROVIDER_ABSENT},
        {COGNITO_NOT_AUTHORIZED, PROVIDER_STATE}, /* "User cannot be confirmed. Current status is CONFIRMED" */
        {COGNITO_INVALID_PARAMETER, PROVIDER_STATE},
    };
    struct cognito_call call;
    cognito_user_begin(cognito_of(remote), arena, "AdminConfirmSignUp", subject, &call);
    TRY(cognito_call(cognito_of(remote), arena, &call));
    return cognito_outcome(arena, &call, meanings, sizeof meanings / sizeof *meanings, outcome_out);
}

/*
 * Sends attributes; with `with_email` the address as well. Cognito takes email_verified only along with the address,
 * and an address that the account has already is no change.
 */
static struct error *send_attributes(struct cognito *cognito, struct arena *arena, const char *subject,
                                     const struct provider_attributes *attributes, bool with_email,
                                     struct cognito_call *call)
{
    bool first = true;
    cognito_user_begin(cognito, arena, "AdminUpdateUserAttributes", subject, call);
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

/* Whether the account has that address already: some pools then say that an account has it. */
static struct error *has_address(struct cognito *cognito, struct arena *arena, const char *subject, const char *email,
                                 bool *has_out)
{
    struct cognito_call call;
    cognito_user_begin(cognito, arena, "AdminGetUser", subject, &call);
    TRY(cognito_call(cognito, arena, &call));
    const struct document *attributes = document_member(call.answer, "UserAttributes");
    *has_out = call.fault == COGNITO_OK && address_same(arena, attribute_of(attributes, "email"), email);
    return NULL;
}

struct error *cognito_user_set_attributes(struct remote *remote, struct arena *arena, const char *subject,
                                          const struct provider_attributes *attributes,
                                          enum provider_outcome *outcome_out)
{
    static const struct cognito_meaning meanings[] = {{COGNITO_USER_NOT_FOUND, PROVIDER_ABSENT}};
    struct cognito *cognito = cognito_of(remote);
    struct cognito_call call;
    bool with_email = attributes->set_verified && attributes->email != NULL;
    bool own = false;
    TRY(send_attributes(cognito, arena, subject, attributes, with_email, &call));
    if (with_email && call.fault == COGNITO_ALIAS_EXISTS) {
        TRY(has_address(cognito, arena, subject, attributes->email, &own));
        if (!own)
            return error_new(arena, ERROR_IDENTITY_UNAVAILABLE,
                             "cognito: another account has the address of %s; delete that one there", subject);
        TRY(send_attributes(cognito, arena, subject, attributes, false, &call));
    }
    return cognito_outcome(arena, &call, meanings, sizeof meanings / sizeof *meanings, outcome_out);
}
