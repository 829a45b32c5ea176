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

static int send_all(struct service *service)
{
    struct id after = {{0}};
    struct counts counts = {0};
    bool more = true;
    struct arena *arena = arena_new();
    while (more) {
        struct error *error = send_page(service, arena, &after, &counts, &more);
        if (error != NULL)
            return ctl_fail(error);
        if (isatty(STDERR_FILENO))
            (void)fprintf(stderr, "\r%zu users", counts.sent);
        arena_reset(arena);
    }
    if (isatty(STDERR_FILENO))
        (void)fprintf(stderr, "\n");
    arena_free(&arena);
    (void)printf("%zu users sent\n", counts.sent);
    return counts.failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int mirror(struct run *run)
{
    struct service service;
    struct error *error = ctl_open(run, &service);
    if (error != NULL)
        return ctl_fail(error);
    int status = send_all(&service);
    service_close(&service);
    return status;
}

const struct ctl_command ctl_mirror = {
    .name = "mirror", .summary = "send all permissions to the identity provider", .run = mirror};
