/* SPDX-License-Identifier: MIT */
/* Has the virus scanner check the files of an upload, where one is configured. */
#include "base/arena.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/text.h"
#include "blob/scanner.h"
#include "domain/audit.h"
#include "service/access/caller.h"
#include "service/access/caller_audit.h"
#include "service/file/upload_int.h"
#include "service/runtime/service.h"

/*
 * Writes an infected file to log and audit trail, for those who look after the organisation. The upload is refused
 * whether or not that works.
 */
static void note_infection(const struct upload *upload, const char *signature)
{
    struct buffer details;
    buffer_init(&details, upload->arena);
    buffer_add_text(&details, "{\"signature\":");
    buffer_add_json_text(&details, signature);
    buffer_add_char(&details, '}');
    struct audit_entry entry = {
        .action = "file.infected", .target_type = "file", .outcome = "failure", .details = details.bytes};
    LOG(WARN, FILES, "an infected file was refused", LOG_TEXT("signature", signature));
    struct error *error = caller_audit(upload->service, upload->arena, upload->caller, &entry);
    if (error != NULL)
        LOG(ERROR, FILES, "an infected file could not be written to the audit trail",
            LOG_TEXT("detail", error->detail));
}

static struct error *scan_file(struct upload *upload, size_t index)
{
    struct scan_verdict verdict;
    struct error *error = scanner_scan(upload->service->scanner, upload->arena, upload->files[index].writer, &verdict);
    if (error != NULL) {
        metrics_add(METRIC_SCAN_FAILED, 1);
        return error_trace(error, __func__, __FILE__, __LINE__);
    }
    switch (verdict.result) {
    case SCAN_CLEAN:
        metrics_add(METRIC_SCAN_CLEAN, 1);
        break;
    case SCAN_INFECTED:
        metrics_add(METRIC_SCAN_INFECTED, 1);
        note_infection(upload, verdict.signature);
        validation_add(&upload->validation, "infected",
                       arena_format(upload->arena, "is infected: the virus scanner found %s", verdict.signature),
                       "file[%zu]", index);
        break;
    case SCAN_TOO_LARGE:
        metrics_add(METRIC_SCAN_TOO_LARGE, 1);
        LOG(WARN, FILES, "a file is larger than clamd's StreamMaxLength");
        return error_entry(error_message(error_plain(upload->arena, ERROR_TOO_LARGE),
                                         "The file is larger than the virus scanner takes."),
                           arena_format(upload->arena, "file[%zu]", index), "tooLarge",
                           "is larger than the virus scanner takes");
    }
    return NULL;
}

struct error *upload_scan(struct upload *upload)
{
    if (upload->service->scanner == NULL)
        return NULL;
    for (size_t i = 0; i < upload->file_count; i++)
        TRY(scan_file(upload, i));
    return upload->validation.error;
}
