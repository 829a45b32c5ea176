/* SPDX-License-Identifier: MIT */
/* Starts the server of the S3 tests, and opens a store there. */
#include "blob/s3/support_s3.h"

#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "harness.h"
#include "store/script_server.h"

struct support_s3 *support_s3(void **state)
{
    static const char *const none[] = {NULL};
    struct arena *arena = harness_arena(state);
    struct support_s3 *s3 = arena_alloc(arena, sizeof *s3);
    s3->arena = arena;
    s3->directory = harness_directory(arena);
    s3->spool = harness_directory(arena);
    const char *port = script_server_start(arena, "tests/unit/blob/s3/s3_server.py", s3->directory, none);
    const char *endpoint = arena_format(arena, "http://127.0.0.1:%s", port);
    s3->options = (struct blob_s3_options){
        .endpoints = text_words(arena, endpoint),
        .bucket = "bucket",
        .region = "eu-central-1",
        .prefix = "some/where/",
        .access_key = "key",
        .secret_key_file = harness_write(arena, harness_directory(arena), "secret", "secret\n", 7),
        .spool = s3->spool,
        .timeout_seconds = 15,
        .multipart_bytes = 200000,
        .part_bytes = 80000,
    };
    support_s3_reopen(s3);
    return s3;
}

void support_s3_reopen(struct support_s3 *s3)
{
    struct error *error = blob_s3_open(s3->arena, &s3->options, &s3->store);
    if (error != NULL)
        fail_msg("%s", error->message);
}

void support_s3_script(const struct support_s3 *s3, const char *lines)
{
    (void)harness_write(s3->arena, s3->directory, "script", lines, strlen(lines));
}

static const char *text_of(const struct support_s3 *s3, const char *name)
{
    const char *path = arena_format(s3->arena, "%s/%s", s3->directory, name);
    return access(path, F_OK) == 0 ? harness_read(s3->arena, path, NULL) : "";
}

const char *support_s3_log(const struct support_s3 *s3)
{
    return text_of(s3, "log");
}

const char *support_s3_objects(const struct support_s3 *s3)
{
    return text_of(s3, "objects");
}

size_t support_count(const char *text, const char *word)
{
    size_t count = 0;
    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word))
        count++;
    return count;
}
