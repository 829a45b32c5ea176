/* SPDX-License-Identifier: MIT */
/* gatehousectl identity export, import: moves people from one identity provider to another. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
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

static void print_exported(const struct run *run, size_t count)
{
    struct ctl_json json = {.arena = run->arena};
    if (!run->json) {
        (void)printf("%zu users exported\n", count);
        return;
    }
    ctl_json_open(&json, NULL, '{');
    ctl_json_integer(&json, "users", (int64_t)count);
    ctl_json_close(&json);
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
    print_exported(run, count);
    return EXIT_SUCCESS;
}

/* Where people are told. */
struct output {
    struct ctl_json *json; /* NULL: as lines for people; its arena is reset at each person */
    int64_t moved, left, failed;
};

static void write_person(struct ctl_json *json, const char *deed, const char *email, const char *why)
{
    ctl_json_open(json, NULL, '{');
    ctl_json_text(json, "result", deed);
    ctl_json_text(json, "email", email);
    ctl_json_text(json, "reason", why);
    ctl_json_close(json);
    arena_reset(json->arena);
}

static void tell(void *context, const char *deed, const char *email, const char *why)
{
    struct output *output = context;
    if (strcmp(deed, "moved") == 0)
        output->moved++;
    else if (strcmp(deed, "left") == 0)
        output->left++;
    else
        output->failed++;
    if (output->json == NULL)
        (void)printf("%-8s%s%s%s\n", deed, email, why != NULL ? ": " : "", why != NULL ? why : "");
    else
        write_person(output->json, deed, email, why);
    (void)fflush(stdout);
}

static void write_sums(struct ctl_json *json, const struct output *output, bool dry_run, bool complete)
{
    ctl_json_close(json);
    ctl_json_integer(json, "moved", output->moved);
    ctl_json_integer(json, "left", output->left);
    ctl_json_integer(json, "failed", output->failed);
    ctl_json_boolean(json, "dryRun", dry_run);
    ctl_json_boolean(json, "complete", complete);
    ctl_json_close(json);
}

static struct error *import_as_json(struct run *run, struct service *service, FILE *input,
                                    const struct identity_transfer *transfer, struct output *output)
{
    struct arena *scratch = arena_new();
    struct ctl_json json = {.arena = scratch};
    output->json = &json;
    ctl_json_open(&json, NULL, '{');
    ctl_json_open(&json, "items", '[');
    struct error *error = identity_transfer_import(service, run->arena, input, transfer);
    write_sums(&json, output, transfer->dry_run, error == NULL);
    output->json = NULL;
    arena_free(&scratch);
    return error;
}

static int import_users(struct run *run)
{
    struct service service;
    struct output output = {0};
    int64_t rate = RATE;
    const char *path = run->operands[0];
    if (!ctl_number(run, "rate", 1, RATE_MAX, &rate))
        return EXIT_USAGE;
    struct identity_transfer transfer = {
        .tell = tell, .context = &output, .dry_run = ctl_has(run, "dry-run"), .per_second = (unsigned)rate};
    FILE *input = fopen(path, "re");
    if (input == NULL)
        return fail_at(run, path, "opened");
    struct error *error = ctl_open(run, &service);
    if (error == NULL) {
        error = run->json ? import_as_json(run, &service, input, &transfer, &output)
                          : identity_transfer_import(&service, run->arena, input, &transfer);
        service_close(&service);
    }
    (void)fclose(input);
    if (error != NULL)
        return ctl_fail(error);
    if (!run->json)
        (void)printf("%" PRId64 " %s, %" PRId64 " left, %" PRId64 " failed\n", output.moved,
                     transfer.dry_run ? "to be moved" : "moved", output.left, output.failed);
    return output.failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static const struct ctl_option import_options[] = {
    {"dry-run", NULL, "say who would be moved, and move nobody", false},
    {"rate", "USERS", "how many a second at most, " LIMIT_TEXT(RATE) " without it", false},
    {0},
};

const struct ctl_command ctl_identity_export = {.name = "identity export",
                                                .operands = "FILE",
                                                .summary = "write all people into a file",
                                                .json = true,
                                                .run = export_users};

const struct ctl_command ctl_identity_import = {.name = "identity import",
                                                .operands = "FILE",
                                                .summary =
                                                    "make accounts at the configured provider for people of a file",
                                                .options = import_options,
                                                .json = true,
                                                .run = import_users};
