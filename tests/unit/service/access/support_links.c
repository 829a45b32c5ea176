/* SPDX-License-Identifier: MIT */
/* A process that serves links. */
#include "service/access/support_links.h"

#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/id.h"
#include "base/secret.h"
#include "domain/permission/principal.h"
#include "domain/support.h"
#include "harness.h"
#include "service/access/signed_link.h"
#include "service/runtime/change_follower.h"
#include "service/runtime/link_key_cache.h"
#include "support_database.h"

#define BASE "https://files.example.com/api"

struct service links_process(struct links_bench *bench)
{
    struct service service = {
        .arena = bench->arena,
        .configuration = &bench->configuration,
        .master = secret_of("0123456789abcdef0123456789abcdef"),
        .database = bench->service.database != NULL ? bench->service.database : support_database_new(),
        .link_keys = link_key_cache_new(bench->arena),
    };
    expect_ok(change_follower_catch_up(&service, bench->arena));
    return service;
}

struct links_bench *links_bench_new(struct arena *arena)
{
    struct links_bench *bench = arena_alloc(arena, sizeof *bench);
    struct principal *principal = arena_alloc(arena, sizeof *principal);
    bench->arena = arena;
    bench->configuration.service.base_url = BASE;
    bench->configuration.log.level = "info";
    support_database_clear();
    bench->service = links_process(bench);
    principal->user.organisation_id = given_organisation(bench->service.database, arena);
    principal->user.id =
        given_user(bench->service.database, arena, principal->user.organisation_id, NULL, "cus:file:r")->id;
    bench->caller = (struct caller){.principal = principal, .client_address = "127.0.0.1", .request_id = "request-1"};
    bench->file = given_file(bench->service.database, arena, principal->user.organisation_id, principal->user.id);
    return bench;
}

void links_bench_free(struct links_bench *bench)
{
    database_free(&bench->service.database);
}

const char *links_make(struct links_bench *bench, int64_t seconds)
{
    const char *url;
    const char *ends_at;
    int64_t end;
    expect_ok(signed_link_make(&bench->service, bench->arena, &bench->caller, &bench->file, seconds, &url, &ends_at));
    assert_memory_equal(url, BASE SIGNED_LINK_PATH, sizeof BASE SIGNED_LINK_PATH - 1);
    assert_true(clock_parse(ends_at, &end));
    assert_in_range(end - clock_now() - seconds * 1000 + 60000, 0, 60000);
    const char *token = url + sizeof BASE SIGNED_LINK_PATH - 1;
    assert_int_equal(strlen(token), SIGNED_LINK_TOKEN_CHARACTERS);
    return token;
}

bool links_opens(struct links_bench *bench, struct service *service, const char *token)
{
    struct file_record *record = NULL;
    struct id link;
    struct id maker;
    struct error *error = signed_link_open(service, bench->arena, token, &record, &link, &maker);
    if (error == NULL) {
        assert_true(id_equal(record->id, bench->file.id));
        assert_true(id_equal(maker, bench->caller.principal->user.id));
        return true;
    }
    expect_error(error, ERROR_LINK_INVALID);
    assert_string_equal(error->message, error_sentence(ERROR_LINK_INVALID));
    assert_int_equal(error->entry_count, 0);
    return false;
}
