/* SPDX-License-Identifier: MIT */
/* gatehousectl organisation: lists, shows and changes organisations. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/name.h"
#include "codec/visible.h"
#include "ctl/ctl_int.h"
#include "domain/account/organisation.h"
#include "domain/file/file_admin.h"
#include "service/account/organisation_update.h"
#include "service/runtime/service.h"

#define PAGE 100

static const char *quota_text(struct arena *arena, int64_t quota)
{
    return quota == ORGANISATION_NO_QUOTA ? "none" : arena_format(arena, "%" PRId64, quota);
}

static void write_quota(struct ctl_json *json, const char *name, int64_t quota)
{
    if (quota == ORGANISATION_NO_QUOTA)
        ctl_json_text(json, name, NULL);
    else
        ctl_json_integer(json, name, quota);
}

static void write_head(const struct organisation *one, struct ctl_json *json)
{
    ctl_json_open(json, NULL, '{');
    ctl_json_text(json, "id", id_text(json->arena, one->id));
    ctl_json_text(json, "name", one->name);
    ctl_json_text(json, "status", organisation_status_text(one->status));
    write_quota(json, "quotaBytes", one->quota_bytes);
    write_quota(json, "quotaFiles", one->quota_files);
}

static void list_one(struct arena *arena, const struct organisation *one, struct ctl_json *json)
{
    if (json == NULL) {
        (void)printf("%-36s  %-12s  %16s  %12s  %s\n", id_text(arena, one->id), organisation_status_text(one->status),
                     quota_text(arena, one->quota_bytes), quota_text(arena, one->quota_files), one->name);
        return;
    }
    write_head(one, json);
    ctl_json_close(json);
}

/* Lists all organisations; `json` NULL: as a table. */
static struct error *list_all(struct service *service, struct arena *arena, struct ctl_json *json)
{
    struct organisation_page page = {.more = true};
    struct id after = {{0}};
    while (page.more) {
        arena_reset(arena);
        TRY(organisation_admin_each(service->database, arena, after, PAGE, &page));
        for (size_t i = 0; i < page.count; i++) {
            list_one(arena, &page.items[i], json);
            after = page.items[i].id;
        }
    }
    return NULL;
}

static struct error *list(struct service *service, struct arena *arena, void *context)
{
    const struct run *run = context;
    struct ctl_json json = {.arena = arena};
    if (!run->json) {
        (void)printf("%-36s  %-12s  %16s  %12s  %s\n", "id", "status", "quota bytes", "quota files", "name");
        return list_all(service, arena, NULL);
    }
    ctl_json_open(&json, NULL, '{');
    ctl_json_open(&json, "items", '[');
    TRY(list_all(service, arena, &json));
    ctl_json_close(&json);
    ctl_json_close(&json);
    return NULL;
}

static struct error *unknown(struct arena *arena, struct id id)
{
    return error_message(error_plain(arena, ERROR_INTERNAL), "There is no organisation with the id %s.",
                         id_text(arena, id));
}

static void print_whole(struct arena *arena, const struct organisation *found, const struct file_admin_sums *sums)
{
    (void)printf("id              %s\n", id_text(arena, found->id));
    (void)printf("name            %s\n", found->name);
    (void)printf("status          %s\n", organisation_status_text(found->status));
    (void)printf("services        %s\n", text_list_join(arena, &found->services, " "));
    (void)printf("quota bytes     %s\n", quota_text(arena, found->quota_bytes));
    (void)printf("quota files     %s\n", quota_text(arena, found->quota_files));
    (void)printf("active          %" PRId64 " files, %s\n", sums->active_files, ctl_bytes(arena, sums->active_bytes));
    (void)printf("archived        %" PRId64 " files, %s\n", sums->archived_files,
                 ctl_bytes(arena, sums->archived_bytes));
    (void)printf("created         %s\n", found->created_at);
    (void)printf("updated         %s\n", found->updated_at);
}

static void write_whole(struct arena *arena, const struct organisation *found, const struct file_admin_sums *sums)
{
    struct ctl_json json = {.arena = arena};
    write_head(found, &json);
    ctl_json_words(&json, "services", &found->services);
    ctl_json_integer(&json, "activeFiles", sums->active_files);
    ctl_json_integer(&json, "activeBytes", sums->active_bytes);
    ctl_json_integer(&json, "archivedFiles", sums->archived_files);
    ctl_json_integer(&json, "archivedBytes", sums->archived_bytes);
    ctl_json_text(&json, "createdAt", found->created_at);
    ctl_json_text(&json, "updatedAt", found->updated_at);
    ctl_json_close(&json);
}

static struct error *show(struct service *service, struct arena *arena, struct id id, bool as_json)
{
    struct organisation *found;
    struct file_admin_sums sums;
    TRY(organisation_find(service->database, arena, id, &found));
    if (found == NULL)
        return unknown(arena, id);
    TRY(file_admin_sums(service->database, arena, id, &sums));
    (as_json ? write_whole : print_whole)(arena, found, &sums);
    return NULL;
}

/* ---- set ----------------------------------------------------------------------------------------- */

struct setting {
    struct id id;
    int64_t quota_bytes;
    int64_t quota_files;
    enum organisation_status status;
    struct text_list services;
    struct organisation_admin_change change;
    bool as_json;
};

/* Reads a quota. False: the value is wrong, and the operator was told. */
static bool read_quota(const struct run *run, const char *name, int64_t *quota, const int64_t **change_out)
{
    const char *text = ctl_value(run, name);
    if (text == NULL)
        return true;
    *quota = ORGANISATION_NO_QUOTA;
    *change_out = quota;
    if (strcmp(text, "none") == 0 || text_to_integer(text, 0, INT64_MAX, quota))
        return true;
    (void)ctl_usage(run, "--%s takes a whole number or none, not \"%s\"", name, text);
    return false;
}

static bool read_status(const struct run *run, struct setting *setting)
{
    const char *text = ctl_value(run, "status");
    if (text == NULL)
        return true;
    setting->status = strcmp(text, "active") == 0 ? ORGANISATION_ACTIVE : ORGANISATION_DISABLED;
    setting->change.status = &setting->status;
    if (strcmp(text, organisation_status_text(setting->status)) == 0)
        return true;
    (void)ctl_usage(run, "--status takes active or disabled, not \"%s\"", text);
    return false;
}

static bool read_name(const struct run *run, struct setting *setting)
{
    const char *text = ctl_value(run, "name");
    if (text == NULL)
        return true;
    setting->change.name = text;
    if (utf8_valid(text, strlen(text)) && utf8_count(text) <= LIMIT_ORGANISATION_NAME_CHARACTERS &&
        name_is_good(text) && visible_text(text))
        return true;
    (void)ctl_usage(run,
                    "--name has 1 to " LIMIT_TEXT(LIMIT_ORGANISATION_NAME_CHARACTERS) " characters, at least one that"
                                                                                      " can be seen, and " NAME_FORMAT);
    return false;
}

static bool read_services(const struct run *run, struct setting *setting)
{
    const char *text = ctl_value(run, "services");
    if (text == NULL)
        return true;
    setting->services = text_words(run->arena, text);
    setting->change.services = &setting->services;
    for (size_t i = 0; i < setting->services.count; i++)
        if (strcmp(setting->services.items[i], "inventory") != 0 &&
            strcmp(setting->services.items[i], "logistics") != 0)
            setting->services.count = 0;
    if (setting->services.count > 0)
        return true;
    (void)ctl_usage(run, "--services takes inventory, logistics or \"inventory logistics\", not \"%s\"", text);
    return false;
}

static bool read_setting(const struct run *run, struct setting *setting)
{
    if (!ctl_id(run, 0, &setting->id) || !read_name(run, setting) || !read_services(run, setting) ||
        !read_quota(run, "quota-bytes", &setting->quota_bytes, &setting->change.quota_bytes) ||
        !read_quota(run, "quota-files", &setting->quota_files, &setting->change.quota_files) ||
        !read_status(run, setting))
        return false;
    if (run->given_count > 0)
        return true;
    (void)ctl_usage(run, "there is nothing to set");
    return false;
}

static struct error *set(struct service *service, struct arena *arena, void *context)
{
    struct setting *setting = context;
    struct organisation *organisation = NULL;
    struct error *error = organisation_update(service, arena, NULL, NULL, setting->id, &setting->change, &organisation);
    if (error != NULL && error->code == ERROR_ORGANISATION_UNKNOWN)
        return unknown(arena, setting->id);
    TRY(error);
    return show(service, arena, setting->id, setting->as_json);
}

/* ---- the commands -------------------------------------------------------------------------------- */

static int run_list(struct run *run)
{
    return ctl_with_service(run, list, run);
}

static struct error *do_show(struct service *service, struct arena *arena, void *context)
{
    const struct setting *setting = context;
    return show(service, arena, setting->id, setting->as_json);
}

static int run_show(struct run *run)
{
    struct setting setting = {.as_json = run->json};
    return ctl_id(run, 0, &setting.id) ? ctl_with_service(run, do_show, &setting) : EXIT_USAGE;
}

static int run_set(struct run *run)
{
    struct setting setting = {.as_json = run->json};
    return read_setting(run, &setting) ? ctl_with_service(run, set, &setting) : EXIT_USAGE;
}

static const struct ctl_option set_options[] = {
    {"name", "NAME", "its name", false},
    {"services", "SERVICES", "what it pays for: inventory, logistics or both in one argument", false},
    {"quota-bytes", "N|none", "the most bytes that its files may have, archived ones included", false},
    {"quota-files", "N|none", "how many files it may have, archived ones included", false},
    {"status", "active|disabled", "whether its people may sign in", false},
    {0},
};

const struct ctl_command ctl_organisation_list = {
    .name = "organisation list", .summary = "list all organisations", .json = true, .run = run_list};

const struct ctl_command ctl_organisation_show = {.name = "organisation show",
                                                  .operands = "ID",
                                                  .summary = "show one, with the sums of its files",
                                                  .json = true,
                                                  .run = run_show};

const struct ctl_command ctl_organisation_set = {.name = "organisation set",
                                                 .operands = "ID",
                                                 .summary = "change name, services, quotas and status of one",
                                                 .options = set_options,
                                                 .json = true,
                                                 .run = run_set};
