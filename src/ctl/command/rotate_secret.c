/* SPDX-License-Identifier: MIT */
/*
 * gatehousectl rotate-secret: changes the master secret in four steps, with a restart of all processes after each
 * change of the file. --add adds a new key after the others. --use makes the last key the first. Without an option
 * everything is sealed anew with the first key. --remove removes all others. The file is replaced whole or not at all.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/configuration.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/secret.h"
#include "base/text.h"
#include "codec/encoding.h"
#include "codec/random.h"
#include "codec/seal.h"
#include "ctl/ctl_int.h"
#include "domain/audit.h"
#include "service/access/caller.h"
#include "service/access/caller_audit.h"
#include "service/maintenance/reseal.h"
#include "service/runtime/service.h"
#include "service/runtime/startup.h"

static struct error *failure(struct arena *arena, const char *path)
{
    return error_message(error_new(arena, ERROR_INTERNAL, "%s", strerror(errno)), "The file %s cannot be written.",
                         path);
}

/* Replaces the file. Owner, group and mode stay as they were. */
static struct error *replace_file(struct arena *arena, const char *path, const char *text)
{
    struct stat status;
    const char *temporary = arena_format(arena, "%s.%s", path, random_text(arena, 12));
    if (stat(path, &status) != 0)
        return failure(arena, path);
    int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return failure(arena, path);
    bool kept =
        (status.st_uid == geteuid() && status.st_gid == getegid()) || fchown(fd, status.st_uid, status.st_gid) == 0;
    bool good = kept && fchmod(fd, status.st_mode & 0777) == 0 &&
                write(fd, text, strlen(text)) == (ssize_t)strlen(text) && fsync(fd) == 0 &&
                rename(temporary, path) == 0;
    struct error *error = good ? NULL : failure(arena, path);
    (void)close(fd);
    if (!good)
        (void)unlink(temporary);
    return error;
}

/* One step: what it is for, what it has done. */
struct step {
    struct run *run;
    const char *path; /* of the file */
    size_t keys;      /* in the file now */
    bool changed;     /* the file */
    struct reseal reseal;
};

static struct error *write_keys(struct step *step, struct arena *arena, const struct text_list *keys, const char *told)
{
    TRY(replace_file(arena, step->path, arena_format(arena, "%s\n", text_list_join(arena, keys, "\n"))));
    step->keys = keys->count;
    step->changed = true;
    if (!step->run->json)
        (void)printf("%s\nCopy %s to every other host, then restart all workers and job runners.\n", told, step->path);
    return NULL;
}

static struct error *add_key(struct step *step, struct arena *arena, struct text_list *keys)
{
    unsigned char bytes[SEAL_MASTER_BYTES];
    if (keys->count >= LIMIT_MASTER_KEYS)
        return error_message(error_plain(arena, ERROR_INTERNAL), "%s holds %d keys already, as many as it may.",
                             step->path, LIMIT_MASTER_KEYS);
    const char **items = arena_array(arena, keys->count + 1, sizeof *items);
    for (size_t i = 0; i < keys->count; i++)
        items[i] = keys->items[i];
    random_bytes(bytes, sizeof bytes);
    items[keys->count] = hex_encode(arena, bytes, sizeof bytes);
    explicit_bzero(bytes, sizeof bytes);
    *keys = (struct text_list){items, keys->count + 1};
    return write_keys(step, arena, keys, "added a key, which opens and does not seal yet");
}

static struct error *use_last(struct step *step, struct arena *arena, struct text_list *keys)
{
    if (keys->count < 2)
        return error_message(error_plain(arena, ERROR_INTERNAL),
                             "%s holds one key only. Begin with rotate-secret --add.", step->path);
    const char *last = keys->items[keys->count - 1];
    for (size_t i = keys->count - 1; i > 0; i--)
        keys->items[i] = keys->items[i - 1];
    keys->items[0] = last;
    return write_keys(step, arena, keys, "the last key is the first now, which seals");
}

static struct error *seal_anew(struct service *service, struct arena *arena, void *context)
{
    static const struct caller operator= { 0 };
    struct step *step = context;
    struct reseal *reseal = &step->reseal;
    struct audit_entry entry = {.action = "secrets.rotate", .target_type = "key", .target_id = "master"};
    struct text_list keys;
    struct secret text;
    step->path = service->configuration->service.secret_file;
    TRY(secret_read(arena, step->path, &text));
    keys = text_words(arena, secret_reveal(text));
    step->keys = keys.count;
    TRY(reseal_all(service, arena, reseal));
    TRY(caller_audit(service, arena, &operator, & entry));
    if (!step->run->json)
        (void)printf("sealed %llu anew, %llu were\n", (unsigned long long)reseal->done,
                     (unsigned long long)reseal->fine);
    if (reseal->unknown != 0)
        return error_message(error_plain(arena, ERROR_INTERNAL),
                             "%llu sealed values are opened by no key of %s, and were left as they are.",
                             (unsigned long long)reseal->unknown, step->path);
    if (!ctl_has(step->run, "remove"))
        return NULL;
    if (reseal->done != 0)
        return error_message(error_plain(arena, ERROR_INTERNAL),
                             "Something was sealed under an older key until now. Have all"
                             " processes been restarted? Then do this again.");
    TRY(secret_read(arena, step->path, &text));
    keys = text_words(arena, secret_reveal(text));
    keys.count = 1;
    return write_keys(step, arena, &keys, "took the older keys out");
}

static struct error *change_file(struct step *step, bool add)
{
    struct run *run = step->run;
    struct configuration *configuration;
    struct secret text, master;
    TRY(startup_load(run->arena, run->config, NULL, &configuration));
    step->path = configuration->service.secret_file;
    TRY(seal_master_read(run->arena, step->path, &master));
    TRY(secret_read(run->arena, step->path, &text));
    struct text_list keys = text_words(run->arena, secret_reveal(text));
    step->keys = keys.count;
    return add ? add_key(step, run->arena, &keys) : use_last(step, run->arena, &keys);
}

/*
 * Makes the new key the first. A new key has sealed nothing yet. A last key that has sealed something is the old one:
 * --use was given twice, and would undo itself.
 */
static struct error *use_new(struct service *service, struct arena *arena, void *context)
{
    struct step *step = context;
    const struct secret *last = &service->master;
    bool found = false;
    while (last->older != NULL)
        last = last->older;
    if (last != &service->master)
        TRY(reseal_finds(service, arena, *last, &found));
    if (found)
        return error_message(error_plain(arena, ERROR_INTERNAL),
                             "The last key of %s is not new: something is sealed under it."
                             " --use has been done; go on with rotate-secret, or begin with rotate-secret --add.",
                             service->configuration->service.secret_file);
    return change_file(step, false);
}

/* What a step has done, for a program. */
static void write_step(const struct step *step, bool complete)
{
    struct ctl_json json = {.arena = step->run->arena};
    ctl_json_open(&json, NULL, '{');
    ctl_json_text(&json, "file", step->path);
    ctl_json_integer(&json, "keys", (int64_t)step->keys);
    ctl_json_boolean(&json, "changed", step->changed);
    ctl_json_integer(&json, "sealedAnew", (int64_t)step->reseal.done);
    ctl_json_integer(&json, "sealedBefore", (int64_t)step->reseal.fine);
    ctl_json_integer(&json, "unknown", (int64_t)step->reseal.unknown);
    ctl_json_boolean(&json, "complete", complete);
    ctl_json_close(&json);
}

static int rotate_secret(struct run *run)
{
    bool add = ctl_has(run, "add"), use = ctl_has(run, "use");
    if (add + use + ctl_has(run, "remove") > 1)
        return ctl_usage(run, "--add, --use and --remove are steps of their own");
    struct step step = {.run = run};
    int status = EXIT_SUCCESS;
    if (add) {
        struct error *error = change_file(&step, true);
        status = error == NULL ? EXIT_SUCCESS : ctl_fail(error);
    } else {
        status = ctl_with_administrator(run, use ? use_new : seal_anew, &step);
    }
    if (run->json && step.keys > 0)
        write_step(&step, status == EXIT_SUCCESS);
    return status;
}

static const struct ctl_option options[] = {
    {"add", NULL, "put a new key behind the others", false},
    {"use", NULL, "make the last key the first, which seals", false},
    {"remove", NULL, "take all keys but the first out, when nothing needs them", false},
    {0},
};

const struct ctl_command ctl_rotate_secret = {.name = "rotate-secret",
                                              .summary =
                                                  "change the master secret; without an option, seal everything anew",
                                              .options = options,
                                              .json = true,
                                              .run = rotate_secret};
