/* SPDX-License-Identifier: MIT */
/*
 * gatehousectl mirror: sends every user's effective permissions, and what else is mirrored, to the identity provider.
 * Run it after the definition of a role was changed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "ctl/ctl_int.h"
#include "domain/account/user.h"
#include "service/account/provider_sync.h"
#include "service/runtime/service.h"

#define PAGE_USERS 100

struct counts {
    size_t sent;
    size_t failed;
};

static struct error *send_page(struct service *service, struct arena *arena, struct id *after, struct counts *counts,
                               bool *more_out)
{
    struct user_page page;
    TRY(user_each(service->database, arena, *after, PAGE_USERS, &page));
    for (size_t i = 0; i < page.count; i++) {
        struct error *error = provider_sync_user(service, arena, page.items[i].id);
        *after = page.items[i].id;
        *(error == NULL ? &counts->sent : &counts->failed) += 1;
        if (error != NULL)
            (void)fprintf(stderr, "gatehousectl: user %s was not sent: %s\n", id_text(arena, *after),
                          error_words(error));
    }
    *more_out = page.more;
    return NULL;
}

static struct error *send_all(struct service *service, struct arena *arena, struct counts *counts)
{
    struct id after = {{0}};
    bool more = true;
    while (more) {
        arena_reset(arena);
        TRY(send_page(service, arena, &after, counts, &more));
        if (isatty(STDERR_FILENO))
            (void)fprintf(stderr, "\r%zu users", counts->sent);
    }
    if (isatty(STDERR_FILENO))
        (void)fprintf(stderr, "\n");
    return NULL;
}

static void tell(struct run *run, const struct counts *counts, bool to_the_end)
{
    struct ctl_json json = {.arena = run->arena};
    if (!run->json) {
        if (to_the_end)
            (void)printf("%zu users sent\n", counts->sent);
        return;
    }
    ctl_json_open(&json, NULL, '{');
    ctl_json_integer(&json, "sent", (int64_t)counts->sent);
    ctl_json_integer(&json, "failed", (int64_t)counts->failed);
    ctl_json_boolean(&json, "complete", to_the_end && counts->failed == 0);
    ctl_json_close(&json);
}

static int mirror(struct run *run)
{
    struct service service;
    struct counts counts = {0};
    struct error *error = ctl_open(run, &service);
    if (error != NULL)
        return ctl_fail(error);
    struct arena *arena = arena_new();
    error = send_all(&service, arena, &counts);
    tell(run, &counts, error == NULL);
    int status = error != NULL ? ctl_fail(error) : counts.failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    arena_free(&arena);
    service_close(&service);
    return status;
}

const struct ctl_command ctl_mirror = {
    .name = "mirror", .summary = "send all permissions to the identity provider", .json = true, .run = mirror};
