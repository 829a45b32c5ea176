/* SPDX-License-Identifier: MIT */
/* gatehousectl identity export, import: moves people from one identity provider to another. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "ctl/ctl_int.h"
#include "service/maintenance/identity_transfer.h"
#include "service/runtime/service.h"

#define RATE 10
#define RATE_MAX 1000

static int fail_at(struct run *run, const char *path, const char *what)
{
    return ctl_fail(
        error_message(error_plain(run->arena, ERROR_INTERNAL), "%s cannot be %s: %s.", path, what, strerror(errno)));
}

static int export_users(struct run *run)
{
    struct service service;
    size_t count = 0;
    const char *path = run->operands[0];
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    FILE *output = fd < 0 ? NULL : fdopen(fd, "w");
    if (output == NULL)
        return fail_at(run, path, "made");
    struct error *error = ctl_open(run, &service);
    if (error == NULL) {
        error = identity_transfer_export(&service, run->arena, output, &count);
        service_close(&service);
    }
    bool closed = fclose(output) == 0;
    if (error != NULL || !closed)
        (void)unlink(path);
    if (error != NULL)
        return ctl_fail(error);
    if (!closed)
        return fail_at(run, path, "written");
    (void)printf("%zu users exported\n", count);
    return EXIT_SUCCESS;
}

struct counts {
    size_t moved, left, failed;
};

static void tell(void *context, const char *deed, const char *email, const char *why)
{
    struct counts *counts = context;
    if (strcmp(deed, "moved") == 0)
        counts->moved++;
    else if (strcmp(deed, "left") == 0)
        counts->left++;
    else
        counts->failed++;
    (void)printf("%-8s%s%s%s\n", deed, email, why != NULL ? ": " : "", why != NULL ? why : "");
    (void)fflush(stdout);
}

static int import_users(struct run *run)
{
    struct service service;
    struct counts counts = {0};
    int64_t rate = RATE;
    const char *path = run->operands[0];
    if (!ctl_number(run, "rate", 1, RATE_MAX, &rate))
        return EXIT_USAGE;
    struct identity_transfer transfer = {
        .tell = tell, .context = &counts, .dry_run = ctl_has(run, "dry-run"), .per_second = (unsigned)rate};
    FILE *input = fopen(path, "re");
    if (input == NULL)
        return fail_at(run, path, "opened");
    struct error *error = ctl_open(run, &service);
    if (error == NULL) {
        error = identity_transfer_import(&service, run->arena, input, &transfer);
        service_close(&service);
    }
    (void)fclose(input);
    if (error != NULL)
        return ctl_fail(error);
    (void)printf("%zu %s, %zu left, %zu failed\n", counts.moved, transfer.dry_run ? "to be moved" : "moved",
                 counts.left, counts.failed);
    return counts.failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static const struct ctl_option import_options[] = {
    {"dry-run", NULL, "say who would be moved, and move nobody", false},
    {"rate", "USERS", "how many a second at most, " LIMIT_TEXT(RATE) " without it", false},
    {0},
};

const struct ctl_command ctl_identity_export = {
    .name = "identity export", .operands = "FILE", .summary = "write all people into a file", .run = export_users};

const struct ctl_command ctl_identity_import = {.name = "identity import",
                                                .operands = "FILE",
                                                .summary =
                                                    "make accounts at the configured provider for people of a file",
                                                .options = import_options,
                                                .run = import_users};
