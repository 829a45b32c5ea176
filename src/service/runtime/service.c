/* SPDX-License-Identifier: MIT */
/* Opens and closes what a process keeps for all its requests. */
#include "service/runtime/service.h"

#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/configuration.h"
#include "base/error.h"
#include "base/folder.h"
#include "base/limits.h"
#include "blob/blob.h"
#include "blob/open.h"
#include "blob/scanner.h"
#include "codec/seal.h"
#include "codec/token.h"
#include "domain/account/password_policy.h"
#include "identity/provider.h"
#include "identity/provider_open.h"
#include "service/runtime/download_memo.h"
#include "service/runtime/link_key_cache.h"
#include "service/runtime/shared_token_cache.h"
#include "service/runtime/use_log.h"
#include "store/cache/cache.h"
#include "store/database/database.h"
#include "store/database/migrate.h"
#include "store/mail/mail_template.h"

static struct error *open_provider(struct service *service)
{
    const struct provider_dependencies parts = {.configuration = service->configuration,
                                                .database = service->database,
                                                .master = service->master,
                                                .cache = service->cache};
    return provider_open(service->arena, &parts, &service->provider);
}

static void open_cache(struct service *service)
{
    const struct cache_options options = {
        .path = folder_is_safe(service->configuration->cache.file) ? service->configuration->cache.file : NULL,
        .bytes = (size_t)service->configuration->cache.size_mib << 20,
        .master = service->master,
    };
    service->cache = cache_new(&options);
}

void service_close(struct service *service)
{
    cache_free(&service->cache);
    provider_free(&service->provider);
    database_free(&service->database);
}

static struct error *open_with(struct arena *arena, const struct configuration *configuration, bool administrator,
                               struct service *service_out)
{
    struct database_options options;
    *service_out = (struct service){.arena = arena, .configuration = configuration};
    TRY(seal_master_read(arena, configuration->service.secret_file, &service_out->master));
    TRY(database_options_load(arena, configuration, administrator, &options));
    options.query_timeout_seconds = (unsigned)configuration->database.query_timeout_seconds;
    service_out->database = database_new(&options);
    open_cache(service_out);
    TRY(open_provider(service_out));
    TRY(blob_open_configured(arena, configuration, &service_out->blobs));
    if (configuration->files.clamd_socket != NULL)
        service_out->scanner =
            scanner_new(arena, configuration->files.clamd_socket, configuration->files.clamd_timeout_seconds);
    service_out->blobs->reads_back = service_out->scanner != NULL;
    TRY(password_policy_open(arena, configuration->password.common_list, configuration->password.minimum_length,
                             &service_out->passwords));
    service_out->block = arena_alloc(arena, LIMIT_BLOB_BLOCK_BYTES);
    service_out->memo = token_memo_new(arena);
    token_memo_set_level(service_out->memo, shared_token_cache_new(arena, service_out->cache));
    /* Only health uses the count: a worker serves without the files as well. */
    (void)migrate_count(arena, arena_format(arena, "%s/sql", configuration_data_directory()), &service_out->migrations);
    service_out->link_keys = link_key_cache_new(arena);
    service_out->languages =
        mail_template_languages(arena, configuration->mail.templates, configuration->service.language);
    service_out->downloads = download_memo_new(arena);
    service_out->uses = use_log_new(arena, configuration->testing.use_seconds);
    return NULL;
}

struct error *service_open(struct arena *arena, const struct configuration *configuration, struct service *service_out)
{
    return open_with(arena, configuration, false, service_out);
}

struct error *service_open_administrator(struct arena *arena, const struct configuration *configuration,
                                         struct service *service_out)
{
    return open_with(arena, configuration, true, service_out);
}
