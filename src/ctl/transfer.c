/* SPDX-License-Identifier: MIT */
/* gatehousectl identity export, import: moving people from one identity provider to another. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "ctl/ctl_int.h"
#include "service/service.h"
#include "service/transfer.h"

#define RATE 10
#define RATE_MAX 1000
#define EXPORT_USAGE "identity export FILE"
#define IMPORT_USAGE "identity import FILE [--dry-run] [--rate USERS]"

static int fail_at(struct run *run, const char *path, const char *what)
{
    return ctl_fail(error_message(error_plain(run->arena, ERROR_INTERNAL), "%s cannot be %s: %s.", path, what, strerror(errno)));
}

int ctl_identity_export(struct run *run)
{
    struct service service;
    size_t count = 0;
    if (run->argc != 3 || run->argv[2][0] == '-')
        return ctl_usage(EXPORT_USAGE);
    const char *path = run->argv[2];
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    FILE *output = fd < 0 ? NULL : fdopen(fd, "w");
    if (output == NULL)
        return fail_at(run, path, "made");
    struct error *error = ctl_open(run, &service);
    if (error == NULL) {
        error = transfer_export(&service, run->arena, output, &count);
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

static bool read_options(struct run *run, struct transfer *transfer)
{
    static const struct option table[] = {
        {"dry-run", no_argument, NULL, 'd'}, {"rate", required_argument, NULL, 'r'}, {NULL, 0, NULL, 0}};
    int64_t rate = RATE;
    int option;
    optind = 1;
    while ((option = getopt_long(run->argc - 1, run->argv + 1, "", table, NULL)) != -1) {
        if (option == 'd')
            transfer->dry_run = true;
        else if (option != 'r' || !text_to_integer(optarg, 1, RATE_MAX, &rate))
            return false;
    }
    transfer->per_second = (unsigned)rate;
    return optind == run->argc - 2;
}

int ctl_identity_import(struct run *run)
{
    struct service service;
    struct counts counts = {0};
    struct transfer transfer = {.tell = tell, .context = &counts};
    if (!read_options(run, &transfer))
        return ctl_usage(IMPORT_USAGE);
    const char *path = run->argv[optind + 1];
    FILE *input = fopen(path, "re");
    if (input == NULL)
        return fail_at(run, path, "opened");
    struct error *error = ctl_open(run, &service);
    if (error == NULL) {
        error = transfer_import(&service, run->arena, input, &transfer);
        service_close(&service);
    }
    (void)fclose(input);
    if (error != NULL)
        return ctl_fail(error);
    (void)printf("%zu %s, %zu left, %zu failed\n", counts.moved, transfer.dry_run ? "to be moved" : "moved", counts.left,
                 counts.failed);
    return counts.failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
