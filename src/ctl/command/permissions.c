/* SPDX-License-Identifier: MIT */
/* gatehousectl permissions unused: lists what people hold and have not used. */
#include <inttypes.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "ctl/ctl_int.h"
#include "domain/account/user.h"
#include "domain/permission/permission.h"
#include "domain/permission/permission_use.h"
#include "domain/permission/role.h"
#include "service/access/grant.h"
#include "service/runtime/service.h"

#define DAY_BYTES 10 /* of a time in RFC 3339: the date */

/* Something that a person holds. */
struct holding {
    const struct user *user;
    const char *permission;
    struct text_list sources; /* "user" and "role:<id>" */
    int64_t last_day;
};

struct listing {
    bool as_json;
    int64_t days;
    struct role_list roles;
    struct ctl_json json;
};

/* Where a permission comes from: the user's own field, then the roles in their order. */
static struct text_list find_sources(struct arena *arena, const struct role_list *roles, const struct user *user,
                                     const char *permission)
{
    struct text_list sources = {arena_array(arena, user->roles.count + 1, sizeof *sources.items), 0};
    if (text_list_has(&user->permissions, permission))
        sources.items[sources.count++] = "user";
    for (size_t i = 0; i < user->roles.count; i++) {
        const struct role *role = role_find(roles, user->roles.items[i]);
        if (role != NULL && text_list_has(&role->permissions, permission))
            sources.items[sources.count++] = arena_format(arena, "role:%s", role->id);
    }
    return sources;
}

static void write_holding(struct listing *listing, struct arena *arena, const struct holding *holding)
{
    const char *day = permission_use_day_text(arena, holding->last_day);
    if (!listing->as_json) {
        (void)printf("%-36s  %-40s  %-24s  %-24s  %.*s\n", id_text(arena, holding->user->id), holding->user->email,
                     holding->permission, text_list_join(arena, &holding->sources, ","), DAY_BYTES,
                     day == NULL ? "never" : day);
        return;
    }
    struct ctl_json *json = &listing->json;
    ctl_json_open(json, NULL, '{');
    ctl_json_text(json, "userId", id_text(arena, holding->user->id));
    ctl_json_text(json, "organisationId", id_text(arena, holding->user->organisation_id));
    ctl_json_text(json, "email", holding->user->email);
    ctl_json_text(json, "status", user_status_text(holding->user->status));
    ctl_json_text(json, "permission", holding->permission);
    ctl_json_words(json, "sources", &holding->sources);
    ctl_json_text(json, "lastUsedAt", day);
    ctl_json_close(json);
}

static void list_user(struct listing *listing, struct arena *arena, const struct user *user,
                      const struct permission_uses *uses)
{
    struct text_list held =
        permission_words(arena, grant_mirror(arena, &listing->roles, &user->roles, &user->permissions));
    for (size_t i = 0; i < held.count; i++) {
        struct holding holding = {.user = user,
                                  .permission = held.items[i],
                                  .sources = find_sources(arena, &listing->roles, user, held.items[i]),
                                  .last_day = permission_use_last_day(uses, user->id, held.items[i])};
        if (holding.last_day < permission_use_first_day(listing->days))
            write_holding(listing, arena, &holding);
    }
}

/* Goes over everyone, a page at a time, so that memory does not grow with their number. */
static struct error *list_users(struct service *service, struct arena *arena, struct listing *listing)
{
    struct user_page page = {.more = true};
    struct id after = {{0}};
    while (page.more) {
        struct permission_uses uses;
        arena_reset(arena);
        TRY(role_list(service->database, arena, &listing->roles));
        TRY(user_each(service->database, arena, after, LIMIT_PAGE_MAX, &page));
        if (page.count == 0)
            break;
        struct id last = page.items[page.count - 1].id;
        TRY(permission_use_of_users(service->database, arena, after, last,
                                    permission_use_first_day(PERMISSION_USE_DAYS_MAX), &uses));
        for (size_t i = 0; i < page.count; i++)
            if (page.items[i].status != USER_PROVISIONING)
                list_user(listing, arena, &page.items[i], &uses);
        after = last;
    }
    return NULL;
}

static struct error *list(struct service *service, struct arena *arena, void *context)
{
    struct listing *listing = context;
    int64_t began;
    TRY(permission_use_began(service->database, arena, &began));
    const char *since = permission_use_day_text(arena, began);
    if (listing->as_json) {
        listing->json.arena = arena;
        ctl_json_open(&listing->json, NULL, '{');
        ctl_json_integer(&listing->json, "days", listing->days);
        ctl_json_text(&listing->json, "countedSince", since);
        ctl_json_open(&listing->json, "items", '[');
    } else {
        if (began >= permission_use_first_day(listing->days))
            (void)fprintf(stderr, "gatehousectl: uses are counted since %.*s only\n", DAY_BYTES, since);
        (void)printf("%-36s  %-40s  %-24s  %-24s  %s\n", "id", "e-mail", "permission", "from", "last used");
    }
    TRY(list_users(service, arena, listing));
    if (listing->as_json) {
        ctl_json_close(&listing->json);
        ctl_json_close(&listing->json);
    }
    return NULL;
}

static int run_unused(struct run *run)
{
    struct listing listing = {.as_json = run->json, .days = PERMISSION_USE_DAYS};
    if (!ctl_number(run, "days", 1, PERMISSION_USE_DAYS_MAX, &listing.days))
        return EXIT_USAGE;
    return ctl_with_service(run, list, &listing);
}

static const struct ctl_option options[] = {
    {"days", "N", "not used in the last N days, today included (90; at most 365)", false},
    {0},
};

const struct ctl_command ctl_permissions_unused = {.name = "permissions unused",
                                                   .summary = "list what people hold and have not used",
                                                   .options = options,
                                                   .json = true,
                                                   .run = run_unused};
