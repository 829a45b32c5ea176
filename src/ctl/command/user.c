/* SPDX-License-Identifier: MIT */
/* gatehousectl user: lists and shows people, enables and disables them, and sets their roles. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "ctl/ctl_int.h"
#include "domain/account/user.h"
#include "domain/permission/permission.h"
#include "domain/permission/role.h"
#include "service/access/grant.h"
#include "service/account/member.h"
#include "service/runtime/service.h"

/* ---- list ---------------------------------------------------------------------------------------- */

struct listing {
    bool as_json;
    struct user_filter filter; /* without an organisation: of all */
};

static void write_head(const struct user *user, struct ctl_json *json)
{
    ctl_json_open(json, NULL, '{');
    ctl_json_text(json, "id", id_text(json->arena, user->id));
    ctl_json_text(json, "organisationId", id_text(json->arena, user->organisation_id));
    ctl_json_text(json, "email", user->email);
    ctl_json_text(json, "firstName", user->first_name);
    ctl_json_text(json, "lastName", user->last_name);
    ctl_json_text(json, "status", user_status_text(user->status));
    ctl_json_words(json, "roles", &user->roles);
    ctl_json_words(json, "permissions", &user->permissions);
}

static void list_one(struct arena *arena, const struct user *user, struct ctl_json *json)
{
    if (json == NULL) {
        (void)printf("%-36s  %-36s  %-21s  %-40s  %s\n", id_text(arena, user->id),
                     id_text(arena, user->organisation_id), user_status_text(user->status), user->email,
                     text_list_join(arena, &user->roles, ","));
        return;
    }
    write_head(user, json);
    ctl_json_close(json);
}

static struct error *read_page(struct service *service, struct arena *arena, const struct user_filter *filter,
                               struct user_page *page_out)
{
    if (id_is_none(filter->organisation_id))
        return user_each(service->database, arena, filter->after, filter->limit, page_out);
    return user_list(service->database, arena, filter, page_out);
}

/* Lists all people; `json` NULL: as a table. */
static struct error *list_all(struct service *service, struct arena *arena, struct user_filter *filter,
                              struct ctl_json *json)
{
    struct user_page page = {.more = true};
    while (page.more) {
        arena_reset(arena);
        TRY(read_page(service, arena, filter, &page));
        for (size_t i = 0; i < page.count; i++) {
            if (filter->any_status || page.items[i].status == filter->status)
                list_one(arena, &page.items[i], json);
            filter->after = page.items[i].id;
        }
    }
    return NULL;
}

static struct error *list(struct service *service, struct arena *arena, void *context)
{
    struct listing *listing = context;
    struct ctl_json json = {.arena = arena};
    if (!listing->as_json) {
        (void)printf("%-36s  %-36s  %-21s  %-40s  %s\n", "id", "organisation", "status", "e-mail", "roles");
        return list_all(service, arena, &listing->filter, NULL);
    }
    ctl_json_open(&json, NULL, '{');
    ctl_json_open(&json, "items", '[');
    TRY(list_all(service, arena, &listing->filter, &json));
    ctl_json_close(&json);
    ctl_json_close(&json);
    return NULL;
}

static int run_list(struct run *run)
{
    const char *organisation = ctl_value(run, "organisation");
    const char *status = ctl_value(run, "status");
    struct listing listing = {.as_json = run->json, .filter = {.any_status = status == NULL, .limit = LIMIT_PAGE_MAX}};
    if (organisation != NULL && !id_parse_given(organisation, &listing.filter.organisation_id))
        return ctl_usage(run, "--organisation takes an id, not \"%s\"", organisation);
    if (status != NULL && !user_status_parse(status, &listing.filter.status))
        return ctl_usage(
            run, "--status takes awaiting-first-login, awaiting-confirmation, active or disabled, not \"%s\"", status);
    return ctl_with_service(run, list, &listing);
}

static const struct ctl_option list_options[] = {
    {"organisation", "ID", "those of this organisation", false},
    {"status", "awaiting-first-login|awaiting-confirmation|active|disabled", "those in this status", false},
    {0},
};

const struct ctl_command ctl_user_list = {
    .name = "user list", .summary = "list people", .options = list_options, .json = true, .run = run_list};

/* ---- show ---------------------------------------------------------------------------------------- */

static const char *or_none(const char *text)
{
    return text == NULL || *text == '\0' ? "none" : text;
}

static void print_whole(struct arena *arena, const struct user *user, const char *effective)
{
    (void)printf("id              %s\n", id_text(arena, user->id));
    (void)printf("organisation    %s\n", id_text(arena, user->organisation_id));
    (void)printf("e-mail          %s%s\n", user->email, user->email_verified ? "" : " (not verified)");
    (void)printf("name            %s %s\n", user->first_name, user->last_name);
    (void)printf("phone           %s\n", or_none(user->phone));
    (void)printf("status          %s\n", user_status_text(user->status));
    (void)printf("roles           %s\n", or_none(text_list_join(arena, &user->roles, " ")));
    (void)printf("permissions     %s\n", or_none(text_list_join(arena, &user->permissions, " ")));
    (void)printf("effective       %s\n", or_none(effective));
    (void)printf("created         %s\n", user->created_at);
    (void)printf("updated         %s\n", user->updated_at);
    (void)printf("language        %s\n", or_none(user->locale));
    (void)printf("last login      %s\n", or_none(user->last_login_at));
    (void)printf("invited until   %s\n", or_none(user->invitation_expires_at));
    (void)printf("waits until     %s\n", or_none(user->locked_until));
}

static void write_whole(struct arena *arena, const struct user *user, const char *effective)
{
    struct ctl_json json = {.arena = arena};
    struct text_list words = permission_words(arena, effective);
    write_head(user, &json);
    ctl_json_words(&json, "effectivePermissions", &words);
    ctl_json_text(&json, "phone", user->phone);
    ctl_json_boolean(&json, "emailVerified", user->email_verified);
    ctl_json_boolean(&json, "phoneVerified", user->phone_verified);
    ctl_json_text(&json, "createdAt", user->created_at);
    ctl_json_text(&json, "updatedAt", user->updated_at);
    ctl_json_text(&json, "locale", user->locale);
    ctl_json_text(&json, "lastLoginAt", user->last_login_at);
    ctl_json_text(&json, "invitationExpiresAt", user->invitation_expires_at);
    ctl_json_text(&json, "lockedUntil", user->locked_until);
    ctl_json_close(&json);
}

static struct error *unknown(struct arena *arena, const char *username)
{
    return error_message(error_plain(arena, ERROR_USER_UNKNOWN), "There is no account %s.", username);
}

static struct error *print_user(struct service *service, struct arena *arena, struct id id, bool as_json)
{
    struct role_list roles;
    struct user *user = NULL;
    TRY(user_find_any(service->database, arena, id, &user));
    if (user == NULL)
        return unknown(arena, id_text(arena, id));
    TRY(role_list(service->database, arena, &roles));
    const char *effective = grant_mirror(arena, &roles, &user->roles, &user->permissions);
    (as_json ? write_whole : print_whole)(arena, user, effective);
    return NULL;
}

static struct error *show(struct service *service, struct arena *arena, void *context)
{
    const struct run *run = context;
    struct user *user = NULL;
    TRY(user_find_by_username(service->database, arena, run->operands[0], &user));
    if (user == NULL)
        return unknown(arena, run->operands[0]);
    return print_user(service, arena, user->id, run->json);
}

static int run_show(struct run *run)
{
    return ctl_with_service(run, show, run);
}

const struct ctl_command ctl_user_show = {.name = "user show",
                                          .operands = "USERNAME",
                                          .summary = "show one person, with what they may do",
                                          .json = true,
                                          .run = run_show};

/* ---- change -------------------------------------------------------------------------------------- */

struct alteration {
    const struct run *run;
    struct member_patch patch;
};

static struct error *alter(struct service *service, struct arena *arena, void *context)
{
    const struct alteration *alteration = context;
    const struct run *run = alteration->run;
    struct user *user = NULL;
    struct error *error = member_update_as_operator(service, arena, run->operands[0], &alteration->patch, &user);
    if (error != NULL && error->code == ERROR_USER_UNKNOWN)
        return unknown(arena, run->operands[0]);
    if (error != NULL && (error->code == ERROR_REQUEST_INVALID || error->code == ERROR_ROLE_NOT_GRANTABLE))
        return error_message(error, "These roles cannot be set.");
    return error != NULL ? error : print_user(service, arena, user->id, run->json);
}

static int set_status(struct run *run, enum user_status status)
{
    struct alteration alteration = {.run = run, .patch = {.has_status = true, .status = status}};
    return ctl_with_service(run, alter, &alteration);
}

static int run_enable(struct run *run)
{
    return set_status(run, USER_ACTIVE);
}

static int run_disable(struct run *run)
{
    return set_status(run, USER_DISABLED);
}

/* Reads role ids with commas between them, or "none". */
static struct text_list read_roles(struct arena *arena, const char *text)
{
    struct text_list roles = {NULL, 0};
    if (strcmp(text, "none") == 0)
        return roles;
    roles.items = arena_array(arena, strlen(text) + 1, sizeof *roles.items);
    for (size_t length; true; text += length + 1) {
        length = strcspn(text, ",");
        roles.items[roles.count++] = arena_copy(arena, text, length);
        if (text[length] == '\0')
            return roles;
    }
}

static int run_set_roles(struct run *run)
{
    struct text_list roles = read_roles(run->arena, run->operands[1]);
    struct alteration alteration = {.run = run, .patch = {.roles = &roles}};
    if (roles.count > LIMIT_USER_ROLES)
        return ctl_usage(run, "a person has at most %d roles", LIMIT_USER_ROLES);
    return ctl_with_service(run, alter, &alteration);
}

const struct ctl_command ctl_user_enable = {.name = "user enable",
                                            .operands = "USERNAME",
                                            .summary = "let a disabled person sign in again",
                                            .json = true,
                                            .run = run_enable};

const struct ctl_command ctl_user_disable = {.name = "user disable",
                                             .operands = "USERNAME",
                                             .summary = "shut a person out, and end their sessions at once",
                                             .json = true,
                                             .run = run_disable};

const struct ctl_command ctl_user_set_roles = {.name = "user set-roles",
                                               .operands = "USERNAME ROLES",
                                               .summary =
                                                   "give a person these roles (ROLE,ROLE or none), and no others",
                                               .json = true,
                                               .run = run_set_roles};
