/* SPDX-License-Identifier: MIT */
/* Writes the audit rows of downloads. */
#include "service/file/download_audit.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/configuration.h"
#include "base/error.h"
#include "base/text.h"
#include "domain/audit.h"
#include "domain/file/file.h"
#include "service/access/caller.h"
#include "service/access/caller_audit.h"
#include "service/runtime/download_memo.h"
#include "service/runtime/service.h"

static bool is_wanted(const struct configuration *configuration, const char *bucket)
{
    return strcmp(bucket, "images") == 0 ? configuration->audit.images : configuration->audit.files;
}

static struct download_reader reader_of(const struct caller *caller, const struct download *download)
{
    struct download_reader reader = {.file = download->file->id, .by_link = download->link_maker != NULL};
    reader.who = reader.by_link ? download->link : caller_user(caller);
    (void)snprintf(reader.address, sizeof reader.address, "%s", caller->client_address);
    return reader;
}

static const char *describe(struct arena *arena, const struct download *download)
{
    struct buffer details;
    buffer_init(&details, arena);
    buffer_add_format(&details, "{\"bucket\":\"%s\",\"size\":%lld", download->file->bucket,
                      (long long)download->file->size);
    if (download->first >= 0)
        buffer_add_format(&details, ",\"first\":%lld,\"last\":%lld", (long long)download->first,
                          (long long)download->last);
    if (download->link_maker != NULL)
        buffer_add_format(&details, ",\"maker\":\"%s\",\"link\":\"%s\"", id_text(arena, *download->link_maker),
                          id_text(arena, download->link));
    buffer_add_char(&details, '}');
    return details.bytes;
}

struct error *download_audit(struct service *service, struct arena *arena, const struct caller *caller,
                             const struct download *download)
{
    const struct file_record *file = download->file;
    struct download_reader reader = reader_of(caller, download);
    if (!is_wanted(service->configuration, file->bucket) ||
        (download->first >= 0 && download_memo_has(service->downloads, &reader)))
        return NULL;
    struct audit_entry entry = {
        .action = reader.by_link ? "link.open" : "file.download",
        .organisation_id = file->organisation_id,
        .target_type = "file",
        .target_id = id_text(arena, file->id),
        .details = describe(arena, download),
    };
    TRY(caller_audit(service, arena, caller, &entry));
    download_memo_put(service->downloads, &reader);
    return NULL;
}
