/* SPDX-License-Identifier: MIT */
/* gatehousectl uploads: lists uploads that arrive in pieces, and ends those whose time is over. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/error.h"
#include "ctl/ctl_int.h"
#include "domain/file/file_upload.h"
#include "service/file/resumable.h"
#include "service/runtime/service.h"

#define PAGE 100

static const char *state_of(const struct file_upload_listed *one)
{
    if (!id_is_none(one->upload.file_id))
        return "finished";
    if (one->upload.expired)
        return "expired";
    return one->held ? "receiving" : "waiting";
}

static void print_one(struct arena *arena, const struct file_upload_listed *one)
{
    const struct file_upload *upload = &one->upload;
    const char *length =
        upload->length == FILE_UPLOAD_LENGTH_UNKNOWN ? "?" : arena_format(arena, "%" PRId64, upload->length);
    (void)printf("%s  %-9s  %13" PRId64 "  %13s  %s  %s\n", id_text(arena, upload->id), state_of(one), upload->received,
                 length, one->expires_at, id_text(arena, upload->organisation_id));
}

static void write_one(struct arena *arena, const struct file_upload_listed *one, struct ctl_json *json)
{
    const struct file_upload *upload = &one->upload;
    ctl_json_open(json, NULL, '{');
    ctl_json_text(json, "id", id_text(arena, upload->id));
    ctl_json_text(json, "state", state_of(one));
    ctl_json_text(json, "organisationId", id_text(arena, upload->organisation_id));
    ctl_json_text(json, "userId", id_text(arena, upload->user_id));
    ctl_json_integer(json, "received", upload->received);
    if (upload->length == FILE_UPLOAD_LENGTH_UNKNOWN)
        ctl_json_text(json, "length", NULL);
    else
        ctl_json_integer(json, "length", upload->length);
    ctl_json_integer(json, "reserved", upload->reserved);
    ctl_json_text(json, "fileId", id_is_none(upload->file_id) ? NULL : id_text(arena, upload->file_id));
    ctl_json_text(json, "createdAt", one->created_at);
    ctl_json_text(json, "expiresAt", one->expires_at);
    ctl_json_close(json);
}

static struct error *list_all(struct service *service, struct arena *arena, struct ctl_json *json)
{
    struct file_upload_listed *items;
    size_t count = PAGE;
    struct id after = {{0}};
    while (count == PAGE) {
        TRY(file_upload_list(service->database, arena, false, after, PAGE, &items, &count));
        for (size_t i = 0; i < count; i++) {
            if (json == NULL)
                print_one(arena, &items[i]);
            else
                write_one(arena, &items[i], json);
            after = items[i].upload.id;
        }
    }
    return NULL;
}

static struct error *list(struct service *service, struct arena *arena, bool as_json)
{
    struct ctl_json json = {.arena = arena};
    if (!as_json) {
        (void)printf("%-36s  %-9s  %13s  %13s  %-24s  %s\n", "id", "state", "received", "length", "expires",
                     "organisation");
        return list_all(service, arena, NULL);
    }
    ctl_json_open(&json, NULL, '{');
    ctl_json_open(&json, "items", '[');
    TRY(list_all(service, arena, &json));
    ctl_json_close(&json);
    ctl_json_close(&json);
    return NULL;
}

static int run_list(struct run *run)
{
    struct service service;
    struct error *error = ctl_open_administrator(run, &service);
    if (error != NULL)
        return ctl_fail(error);
    error = list(&service, run->arena, run->json);
    service_close(&service);
    return error == NULL ? EXIT_SUCCESS : ctl_fail(error);
}

static struct error *expire_all(struct service *service, struct arena *arena, uint64_t *total_out)
{
    uint64_t count = PAGE;
    *total_out = 0;
    while (count == PAGE) {
        TRY(resumable_expire(service, arena, PAGE, &count));
        *total_out += count;
    }
    return NULL;
}

static void tell_ended(struct run *run, uint64_t total)
{
    struct ctl_json json = {.arena = run->arena};
    if (!run->json) {
        (void)printf("%" PRIu64 " uploads ended whose time was over\n", total);
        return;
    }
    ctl_json_open(&json, NULL, '{');
    ctl_json_integer(&json, "ended", (int64_t)total);
    ctl_json_close(&json);
}

static int run_expire(struct run *run)
{
    struct service service;
    uint64_t total = 0;
    struct error *error = ctl_open_administrator(run, &service);
    if (error != NULL)
        return ctl_fail(error);
    error = expire_all(&service, run->arena, &total);
    if (error == NULL)
        tell_ended(run, total);
    service_close(&service);
    return error == NULL ? EXIT_SUCCESS : ctl_fail(error);
}

const struct ctl_command ctl_uploads_list = {
    .name = "uploads list", .summary = "list uploads that arrive in pieces", .json = true, .run = run_list};

const struct ctl_command ctl_uploads_expire = {
    .name = "uploads expire", .summary = "end uploads whose time is over now", .json = true, .run = run_expire};
