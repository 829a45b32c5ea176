/* SPDX-License-Identifier: MIT */
/*
 * Accounts at Keycloak: created, found, read, changed and removed. PUT replaces the whole account, so a change reads it
 * first, under a lock.
 */
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "codec/address.h"
#include "codec/encoding.h"
#include "identity/keycloak/keycloak_int.h"

/*
 * Attributes of ours: the user that the account was made for, and copies of the user's permissions and telephone
 * number.
 */
#define OWNER_ATTRIBUTE "svcUserId"
#define PERMISSIONS_ATTRIBUTE "permissions"
#define PHONE "phoneNumber"
#define PHONE_VERIFIED "phoneNumberVerified"

#define CHANGES_MAX 3

/* ---- reading -------------------------------------------------------------------------------------- */

static void read_user(struct arena *arena, const struct document *document, struct keycloak_user *user_out)
{
    const struct document *actions = document_member(document, "requiredActions");
    *user_out = (struct keycloak_user){
        .id = document_text(document_member(document, "id")),
        .username = document_text(document_member(document, "username")),
        .email = document_text(document_member(document, "email")),
        .first_name = document_text(document_member(document, "firstName")),
        .last_name = document_text(document_member(document, "lastName")),
        .attributes = document_member(document, "attributes"),
    };
    (void)document_boolean(document_member(document, "enabled"), &user_out->enabled);
    (void)document_boolean(document_member(document, "emailVerified"), &user_out->email_verified);
    user_out->actions.items = arena_array(arena, document_count(actions) + 1, sizeof *user_out->actions.items);
    for (const struct document *one = document_first(actions); one != NULL; one = document_next(one))
        if (document_text(one) != NULL)
            user_out->actions.items[user_out->actions.count++] = document_text(one);
}

struct error *keycloak_user_get(struct keycloak *keycloak, struct arena *arena, const char *subject,
                                struct keycloak_user *user_out)
{
    struct keycloak_call call;
    *user_out = (struct keycloak_user){0};
    keycloak_admin_begin(keycloak, arena, "GET", keycloak_user_path(arena, subject, ""), &call);
    TRY(keycloak_admin_call(keycloak, arena, &call));
    if (keycloak_is_absent(&call))
        return NULL;
    if (call.status != 200)
        return keycloak_unexpected(arena, &call);
    read_user(arena, call.answer, user_out);
    return user_out->id != NULL && user_out->username != NULL ? NULL : keycloak_unexpected(arena, &call);
}

const char *keycloak_user_attribute(const struct keycloak_user *user, const char *name)
{
    return document_text(document_first(document_member(user->attributes, name)));
}

bool keycloak_user_requires(const struct keycloak_user *user, const char *action)
{
    return text_list_has(&user->actions, action);
}

bool keycloak_user_is_temporary(const struct keycloak_user *user)
{
    return user->actions.count == 1 && keycloak_user_requires(user, KEYCLOAK_UPDATE_PASSWORD);
}

/* ---- one at a time -------------------------------------------------------------------------------- */

struct error *keycloak_user_locked(struct keycloak *keycloak, struct arena *arena, const char *subject,
                                   struct error *(*body)(struct keycloak *, struct arena *, const char *subject,
                                                         void *context),
                                   void *context)
{
    TRY(remote_lock(&keycloak->remote, arena, subject));
    struct error *error = body(keycloak, arena, subject, context);
    remote_unlock(&keycloak->remote, arena);
    return error;
}

/* ---- writing -------------------------------------------------------------------------------------- */

static void add_member(struct buffer *body, const char *name, const char *value)
{
    buffer_add_json_text(body, name);
    buffer_add_char(body, ':');
    buffer_add_json_text(body, value);
    buffer_add_char(body, ',');
}

static void add_list(struct buffer *body, const char *name, const struct text_list *list)
{
    buffer_add_json_text(body, name);
    buffer_add_text(body, ":[");
    for (size_t i = 0; i < list->count; i++) {
        if (i != 0)
            buffer_add_char(body, ',');
        buffer_add_json_text(body, list->items[i]);
    }
    buffer_add_char(body, ']');
}

static bool is_changed(const char *name, const struct keycloak_change *changes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(changes[i].name, name) == 0)
            return true;
    return false;
}

/* Adds "attributes":{…}: first those of the account that do not change, then the changed ones. */
static void add_attributes(struct buffer *body, const struct document *attributes,
                           const struct keycloak_change *changes, size_t count)
{
    const char *comma = "";
    buffer_add_text(body, "\"attributes\":{");
    for (const struct document *one = document_first(attributes); one != NULL; one = document_next(one)) {
        struct text_list values = {arena_array(body->arena, document_count(one) + 1, sizeof *values.items), 0};
        if (is_changed(document_name(one), changes, count))
            continue;
        for (const struct document *value = document_first(one); value != NULL; value = document_next(value))
            if (document_text(value) != NULL)
                values.items[values.count++] = document_text(value);
        buffer_add_text(body, comma);
        add_list(body, document_name(one), &values);
        comma = ",";
    }
    for (size_t i = 0; i < count; i++) {
        const char *value = changes[i].value;
        if (value == NULL || *value == '\0')
            continue;
        buffer_add_text(body, comma);
        add_list(body, changes[i].name, &(struct text_list){&value, 1});
        comma = ",";
    }
    buffer_add_char(body, '}');
}

static void add_flag(struct buffer *body, const char *name, bool flag)
{
    buffer_add_format(body, "\"%s\":%s,", name, flag ? "true" : "false");
}

struct error *keycloak_user_put(struct keycloak *keycloak, struct arena *arena, const struct keycloak_user *user,
                                const struct keycloak_change *changes, size_t count, enum provider_outcome *outcome_out)
{
    struct keycloak_call call;
    keycloak_admin_begin(keycloak, arena, "PUT", keycloak_user_path(arena, user->id, ""), &call);
    buffer_add_char(&call.body, '{');
    add_member(&call.body, "username", user->username);
    if (user->email != NULL)
        add_member(&call.body, "email", user->email);
    if (user->first_name != NULL)
        add_member(&call.body, "firstName", user->first_name);
    if (user->last_name != NULL)
        add_member(&call.body, "lastName", user->last_name);
    add_flag(&call.body, "enabled", user->enabled);
    add_flag(&call.body, "emailVerified", user->email_verified);
    add_list(&call.body, "requiredActions", &user->actions);
    buffer_add_char(&call.body, ',');
    add_attributes(&call.body, user->attributes, changes, count);
    buffer_add_char(&call.body, '}');
    TRY(keycloak_admin_call(keycloak, arena, &call));
    if (call.status != 204 && !keycloak_is_absent(&call))
        return keycloak_unexpected(arena, &call);
    *outcome_out = call.status == 204 ? PROVIDER_OK : PROVIDER_ABSENT;
    return NULL;
}

/* ---- making --------------------------------------------------------------------------------------- */

static void add_account(struct arena *arena, struct buffer *body, const struct provider_account *account)
{
    const struct keycloak_change attributes[] = {{OWNER_ATTRIBUTE, id_text(arena, account->user_id)},
                                                 {PERMISSIONS_ATTRIBUTE, account->permissions},
                                                 {PHONE, account->phone}};
    bool invited = account->kind == PROVIDER_INVITED;
    const char *action = invited ? KEYCLOAK_UPDATE_PASSWORD : KEYCLOAK_VERIFY_EMAIL;
    struct text_list actions = {&action, account->kind == PROVIDER_CONFIRMED_ALREADY ? 0 : 1};
    buffer_add_char(body, '{');
    add_member(body, "username", account->email);
    add_member(body, "email", account->email);
    add_flag(body, "enabled", true);
    add_flag(body, "emailVerified", account->kind == PROVIDER_CONFIRMED_ALREADY);
    add_list(body, "requiredActions", &actions);
    buffer_add_text(body, ",\"credentials\":[{\"type\":\"password\",\"value\":");
    buffer_add_json_text(body, secret_reveal(account->password));
    buffer_add_text(body, invited ? ",\"temporary\":true}]," : ",\"temporary\":false}],");
    add_attributes(body, NULL, attributes, sizeof attributes / sizeof *attributes);
    buffer_add_char(body, '}');
}

static bool same(const char *a, const char *b)
{
    return strcmp(a != NULL ? a : "", b != NULL ? b : "") == 0;
}

/*
 * Reads our attributes back. A realm that does not declare an attribute drops it silently, and then nobody could tell
 * whose the account is.
 */
static struct error *check_attributes(struct keycloak *keycloak, struct arena *arena,
                                      const struct provider_account *account, const char *subject)
{
    struct keycloak_user user;
    TRY(keycloak_user_get(keycloak, arena, subject, &user));
    if (same(keycloak_user_attribute(&user, OWNER_ATTRIBUTE), id_text(arena, account->user_id)) &&
        same(keycloak_user_attribute(&user, PERMISSIONS_ATTRIBUTE), account->permissions) &&
        same(keycloak_user_attribute(&user, PHONE), account->phone))
        return NULL;
    struct keycloak_call call;
    keycloak_admin_begin(keycloak, arena, "DELETE", keycloak_user_path(arena, subject, ""), &call);
    TRY(keycloak_admin_call(keycloak, arena, &call));
    return error_new(arena, ERROR_IDENTITY_UNAVAILABLE,
                     "keycloak: the realm's user profile does not declare the attributes " OWNER_ATTRIBUTE
                     ", " PERMISSIONS_ATTRIBUTE ", " PHONE " and " PHONE_VERIFIED ": it dropped them");
}

struct error *keycloak_user_create(struct remote *remote, struct arena *arena, const struct provider_account *account,
                                   const char **subject_out, enum provider_outcome *outcome_out)
{
    struct keycloak *keycloak = keycloak_of(remote);
    struct keycloak_call call;
    keycloak_admin_begin(keycloak, arena, "POST", "", &call);
    call.once = true;
    add_account(arena, &call.body, account);
    TRY(keycloak_admin_call(keycloak, arena, &call));
    *outcome_out = call.status == 409 ? PROVIDER_EXISTS : PROVIDER_PASSWORD_REFUSED;
    if (call.status == 409 || keycloak_is_refused(&call))
        return NULL;
    const char *slash = call.location != NULL ? strrchr(call.location, '/') : NULL;
    if (call.status != 201 || slash == NULL || slash[1] == '\0')
        return keycloak_unexpected(arena, &call);
    TRY(check_attributes(keycloak, arena, account, slash + 1));
    *subject_out = arena_text(arena, slash + 1);
    *outcome_out = PROVIDER_OK;
    return NULL;
}

struct error *keycloak_user_find(struct remote *remote, struct arena *arena, struct id user, const char *email,
                                 struct remote_account *found_out)
{
    struct keycloak *keycloak = keycloak_of(remote);
    struct keycloak_call call;
    struct keycloak_user found;
    *found_out = (struct remote_account){0};
    const char *query = arena_format(arena, "?email=%s&exact=true", percent_encode(arena, email, strlen(email)));
    keycloak_admin_begin(keycloak, arena, "GET", query, &call);
    TRY(keycloak_admin_call(keycloak, arena, &call));
    if (call.status != 200 || document_kind(call.answer) != DOCUMENT_ARRAY)
        return keycloak_unexpected(arena, &call);
    if (document_count(call.answer) == 0)
        return NULL;
    read_user(arena, document_first(call.answer), &found);
    if (found.id == NULL)
        return keycloak_unexpected(arena, &call);
    *found_out = (struct remote_account){
        .subject = found.id,
        .ours = same(keycloak_user_attribute(&found, OWNER_ATTRIBUTE), id_text(arena, user)),
        .used = !keycloak_user_requires(&found, KEYCLOAK_UPDATE_PASSWORD) &&
                !keycloak_user_requires(&found, KEYCLOAK_VERIFY_EMAIL),
    };
    return NULL;
}

/* ---- changing ------------------------------------------------------------------------------------- */

struct edit {
    const struct provider_attributes *attributes;
    bool enabled;
    enum provider_outcome *outcome;
};

static struct error *confirm(struct keycloak *keycloak, struct arena *arena, const char *subject, void *context)
{
    struct edit *edit = context;
    struct keycloak_user user;
    size_t kept = 0;
    TRY(keycloak_user_get(keycloak, arena, subject, &user));
    *edit->outcome = user.id == NULL ? PROVIDER_ABSENT : PROVIDER_STATE;
    if (user.id == NULL || !keycloak_user_requires(&user, KEYCLOAK_VERIFY_EMAIL))
        return NULL;
    for (size_t i = 0; i < user.actions.count; i++)
        if (strcmp(user.actions.items[i], KEYCLOAK_VERIFY_EMAIL) != 0)
            user.actions.items[kept++] = user.actions.items[i];
    user.actions.count = kept;
    user.email_verified = true;
    return keycloak_user_put(keycloak, arena, &user, NULL, 0, edit->outcome);
}

struct error *keycloak_user_confirm(struct remote *remote, struct arena *arena, const char *subject,
                                    enum provider_outcome *outcome_out)
{
    struct edit edit = {.outcome = outcome_out};
    return keycloak_user_locked(keycloak_of(remote), arena, subject, confirm, &edit);
}

static struct error *enable(struct keycloak *keycloak, struct arena *arena, const char *subject, void *context)
{
    struct edit *edit = context;
    struct keycloak_user user;
    TRY(keycloak_user_get(keycloak, arena, subject, &user));
    *edit->outcome = PROVIDER_ABSENT;
    if (user.id == NULL)
        return NULL;
    user.enabled = edit->enabled;
    return keycloak_user_put(keycloak, arena, &user, NULL, 0, edit->outcome);
}

/* Also ends the sessions, which would go on once the account is enabled again. */
struct error *keycloak_user_set_enabled(struct remote *remote, struct arena *arena, const char *subject, bool enabled,
                                        enum provider_outcome *outcome_out)
{
    struct keycloak *keycloak = keycloak_of(remote);
    struct edit edit = {.outcome = outcome_out, .enabled = enabled};
    TRY(keycloak_user_locked(keycloak, arena, subject, enable, &edit));
    return *outcome_out == PROVIDER_OK && !enabled ? keycloak_session_end_all(keycloak, arena, subject) : NULL;
}

/*
 * Gives the account another address. Its user name follows where it was the address before: otherwise the old address
 * could not be given to anybody else.
 */
static void take_address(struct arena *arena, struct keycloak_user *user, const char *email)
{
    if (email == NULL)
        return;
    if (address_same(arena, user->username, user->email))
        user->username = email;
    user->email = email;
}

/* Not every realm lets user names change; there the account keeps the one that it has. */
static struct error *put_renamed(struct keycloak *keycloak, struct arena *arena, struct keycloak_user *user,
                                 const char *username, const struct keycloak_change *changes, size_t count,
                                 enum provider_outcome *outcome_out)
{
    struct error *error = keycloak_user_put(keycloak, arena, user, changes, count, outcome_out);
    if (error == NULL || strcmp(user->username, username) == 0)
        return error;
    user->username = username;
    return keycloak_user_put(keycloak, arena, user, changes, count, outcome_out);
}

static struct error *change_attributes(struct keycloak *keycloak, struct arena *arena, const char *subject,
                                       void *context)
{
    struct edit *edit = context;
    const struct provider_attributes *wanted = edit->attributes;
    struct keycloak_change changes[CHANGES_MAX];
    struct keycloak_user user;
    size_t count = 0;
    TRY(keycloak_user_get(keycloak, arena, subject, &user));
    *edit->outcome = PROVIDER_ABSENT;
    if (user.id == NULL)
        return NULL;
    const char *username = user.username;
    if (wanted->set_permissions)
        changes[count++] = (struct keycloak_change){PERMISSIONS_ATTRIBUTE, wanted->permissions};
    if (wanted->set_phone)
        changes[count++] = (struct keycloak_change){PHONE, wanted->phone};
    if (wanted->set_verified) {
        take_address(arena, &user, wanted->email);
        user.email_verified = wanted->email_verified;
        changes[count++] = (struct keycloak_change){PHONE_VERIFIED, wanted->phone_verified ? "true" : NULL};
    }
    TRY(put_renamed(keycloak, arena, &user, username, changes, count, edit->outcome));
    if (*edit->outcome != PROVIDER_OK)
        return NULL;
    TRY(keycloak_user_get(keycloak, arena, subject, &user));
    for (size_t i = 0; user.id != NULL && i < count; i++)
        if (!same(keycloak_user_attribute(&user, changes[i].name), changes[i].value))
            return error_new(arena, ERROR_IDENTITY_UNAVAILABLE,
                             "keycloak: the realm dropped the attribute %s, which its user profile must declare",
                             changes[i].name);
    return NULL;
}

struct error *keycloak_user_set_attributes(struct remote *remote, struct arena *arena, const char *subject,
                                           const struct provider_attributes *attributes,
                                           enum provider_outcome *outcome_out)
{
    struct edit edit = {.outcome = outcome_out, .attributes = attributes};
    return keycloak_user_locked(keycloak_of(remote), arena, subject, change_attributes, &edit);
}

struct error *keycloak_user_remove(struct remote *remote, struct arena *arena, const char *subject)
{
    struct keycloak *keycloak = keycloak_of(remote);
    struct keycloak_call call;
    keycloak_admin_begin(keycloak, arena, "DELETE", keycloak_user_path(arena, subject, ""), &call);
    TRY(keycloak_admin_call(keycloak, arena, &call));
    return call.status == 204 || keycloak_is_absent(&call) ? NULL : keycloak_unexpected(arena, &call);
}
