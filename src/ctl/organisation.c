/* SPDX-License-Identifier: MIT */
/* gatehousectl organisation: list, show, and set quotas and status. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "ctl/ctl_int.h"
#include "domain/audit.h"
#include "domain/file_keep.h"
#include "domain/organisation.h"
#include "service/service.h"
#include "store/database.h"

#define PAGE 100
#define USAGE                                                                                                      \
    "organisation list | organisation show ID | organisation set ID [--quota-bytes N|none] [--quota-files N|none]" \
    " [--status active|disabled]"

static const char *quota_text(struct arena *arena, int64_t quota)
{
    return quota == ORGANISATION_NO_QUOTA ? "none" : arena_format(arena, "%" PRId64, quota);
}

static struct error *list(struct service *service, struct arena *arena)
{
    struct organisation_page page = {.more = true};
    struct id after = {{0}};
    (void)printf("%-36s  %-12s  %16s  %12s  %s\n", "id", "status", "quota bytes", "quota files", "name");
    while (page.more) {
        arena_reset(arena);
        TRY(organisation_each(service->database, arena, after, PAGE, &page));
        for (size_t i = 0; i < page.count; i++) {
            const struct organisation *one = &page.items[i];
            (void)printf("%-36s  %-12s  %16s  %12s  %s\n", id_text(arena, one->id), organisation_status_text(one->status),
                         quota_text(arena, one->quota_bytes), quota_text(arena, one->quota_files), one->name);
            after = one->id;
        }
    }
    return NULL;
}

static struct error *unknown(struct arena *arena)
{
    return error_message(error_plain(arena, ERROR_INTERNAL), "There is no organisation with this id.");
}

static struct error *show(struct service *service, struct arena *arena, struct id id)
{
    struct organisation *found;
    struct file_sums sums;
    TRY(organisation_find(service->database, arena, id, &found));
    if (found == NULL)
        return unknown(arena);
    TRY(file_sums(service->database, arena, id, &sums));
    (void)printf("id              %s\n", id_text(arena, id));
    (void)printf("name            %s\n", found->name);
    (void)printf("status          %s\n", organisation_status_text(found->status));
    (void)printf("services        %s\n", text_list_join(arena, &found->services, " "));
    (void)printf("quota bytes     %s\n", quota_text(arena, found->quota_bytes));
    (void)printf("quota files     %s\n", quota_text(arena, found->quota_files));
    (void)printf("active          %" PRId64 " files, %s\n", sums.active_files, ctl_bytes(arena, sums.active_bytes));
    (void)printf("archived        %" PRId64 " files, %s\n", sums.archived_files, ctl_bytes(arena, sums.archived_bytes));
    (void)printf("created         %s\n", found->created_at);
    (void)printf("updated         %s\n", found->updated_at);
    return NULL;
}

/* ---- set ----------------------------------------------------------------------------------------- */

struct setting {
    struct id id;
    int64_t quota_bytes;
    int64_t quota_files;
    enum organisation_status status;
    struct organisation_change change;
    bool changed;
};

static void add_quota(struct buffer *details, const char *name, const int64_t *quota)
{
    if (quota == NULL)
        return;
    buffer_add_format(details, "%s\"%s\":", details->length > 1 ? "," : "", name);
    if (*quota == ORGANISATION_NO_QUOTA)
        buffer_add_text(details, "null");
    else
        buffer_add_format(details, "%" PRId64, *quota);
}

static struct error *write_change(struct database *database, struct arena *arena, void *context)
{
    struct setting *setting = context;
    struct buffer details;
    TRY(organisation_change(database, arena, setting->id, &setting->change, &setting->changed));
    if (!setting->changed)
        return NULL;
    buffer_init(&details, arena);
    buffer_add_char(&details, '{');
    add_quota(&details, "quotaBytes", setting->change.quota_bytes);
    add_quota(&details, "quotaFiles", setting->change.quota_files);
    if (setting->change.status != NULL)
        buffer_add_format(&details, "%s\"status\":\"%s\"", details.length > 1 ? "," : "",
                          organisation_status_text(setting->status));
    buffer_add_char(&details, '}');
    struct audit_entry entry = {.action = "organisation.update",
                                .organisation_id = setting->id,
                                .target_type = "organisation",
                                .target_id = id_text(arena, setting->id),
                                .outcome = "success",
                                .details = details.bytes};
    return audit_insert(database, arena, &entry);
}

static bool read_quota(const char *text, int64_t *quota, const int64_t **change_out)
{
    *quota = ORGANISATION_NO_QUOTA;
    *change_out = quota;
    return strcmp(text, "none") == 0 || text_to_integer(text, 0, INT64_MAX, quota);
}

static bool read_status(const char *text, struct setting *setting)
{
    setting->status = strcmp(text, "active") == 0 ? ORGANISATION_ACTIVE : ORGANISATION_DISABLED;
    setting->change.status = &setting->status;
    return strcmp(text, organisation_status_text(setting->status)) == 0;
}

/* Options may stand before or behind the id. False for what makes no sense, nothing to set included. */
static bool read_setting(struct run *run, struct setting *setting)
{
    static const struct option names[] = {{"quota-bytes", required_argument, NULL, 'b'},
                                          {"quota-files", required_argument, NULL, 'f'},
                                          {"status", required_argument, NULL, 's'},
                                          {NULL, 0, NULL, 0}};
    bool good = true;
    bool any = false;
    int option;
    optind = 2;
    while (good && (option = getopt_long(run->argc, run->argv, "", names, NULL)) != -1) {
        any = true;
        if (option == 'b')
            good = read_quota(optarg, &setting->quota_bytes, &setting->change.quota_bytes);
        else if (option == 'f')
            good = read_quota(optarg, &setting->quota_files, &setting->change.quota_files);
        else
            good = option == 's' && read_status(optarg, setting);
    }
    return good && any && optind + 1 == run->argc && id_parse(run->argv[optind], &setting->id);
}

static struct error *set(struct service *service, struct arena *arena, struct setting *setting)
{
    if (setting->change.status != NULL && id_equal(setting->id, organisation_internal_id()))
        return error_message(error_plain(arena, ERROR_INTERNAL), "The organisation of internal staff stays active.");
    TRY(database_transaction(service->database, arena, write_change, setting, NULL));
    if (!setting->changed)
        return unknown(arena);
    return show(service, arena, setting->id);
}

static int run_command(struct run *run, struct error *(*command)(struct service *, struct arena *, void *), void *context)
{
    struct service service;
    struct error *error = ctl_open(run, &service);
    if (error != NULL)
        return ctl_fail(error);
    struct arena *arena = arena_new();
    error = command(&service, arena, context);
    int status = error == NULL ? EXIT_SUCCESS : ctl_fail(error);
    arena_free(&arena);
    service_close(&service);
    return status;
}

static struct error *do_list(struct service *service, struct arena *arena, void *context)
{
    (void)context;
    return list(service, arena);
}

static struct error *do_show(struct service *service, struct arena *arena, void *context)
{
    return show(service, arena, *(const struct id *)context);
}

static struct error *do_set(struct service *service, struct arena *arena, void *context)
{
    return set(service, arena, context);
}

int ctl_organisation(struct run *run)
{
    const char *verb = run->argc > 1 ? run->argv[1] : "";
    struct setting setting = {0};
    if (strcmp(verb, "list") == 0 && run->argc == 2)
        return run_command(run, do_list, NULL);
    if (strcmp(verb, "show") == 0 && run->argc == 3 && id_parse(run->argv[2], &setting.id))
        return run_command(run, do_show, &setting.id);
    if (strcmp(verb, "set") == 0 && read_setting(run, &setting))
        return run_command(run, do_set, &setting);
    return ctl_usage(USAGE);
}
