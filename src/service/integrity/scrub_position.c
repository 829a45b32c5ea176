/* SPDX-License-Identifier: MIT */
/* Saves the position of the scrub, a line of words in its row of `maintenance`. Health and metrics read it as well. */
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/configuration.h"
#include "base/error.h"
#include "base/metrics.h"
#include "base/text.h"
#include "domain/file/file_damage.h"
#include "domain/lease.h"
#include "service/integrity/scrub_int.h"
#include "service/runtime/service.h"

#define VERSION "1"
#define POSITION_WORDS 10
#define DAY_MILLISECONDS INT64_C(86400000)

/* A position of another version counts as none. */
struct error *scrub_position_load(struct service *service, struct arena *arena, struct scrub_position *position_out)
{
    const char *text;
    int64_t numbers[POSITION_WORDS] = {0};
    *position_out = (struct scrub_position){.files = 0};
    TRY(lease_position(service->database, arena, LEASE_SCRUB, &text));
    struct text_list words = text_words(arena, text);
    struct id at;
    if (words.count != POSITION_WORDS || strcmp(words.items[0], VERSION) != 0 || !id_parse(words.items[1], &at))
        return NULL;
    for (size_t i = 2; i < POSITION_WORDS; i++)
        if (!text_to_integer(words.items[i], 0, INT64_MAX, &numbers[i]))
            return NULL;
    *position_out = (struct scrub_position){.at = at,
                                            .files = numbers[2],
                                            .bytes = numbers[3],
                                            .damaged = numbers[4],
                                            .lost = numbers[5],
                                            .begun = numbers[6],
                                            .finished = numbers[7],
                                            .first = numbers[8],
                                            .last_lost = numbers[9]};
    return NULL;
}

struct error *scrub_position_save(struct scrub *scrub, struct arena *arena)
{
    const struct scrub_position *position = &scrub->position;
    const char *text =
        arena_format(arena, VERSION " %s %lld %lld %lld %lld %lld %lld %lld %lld", id_text(arena, position->at),
                     (long long)position->files, (long long)position->bytes, (long long)position->damaged,
                     (long long)position->lost, (long long)position->begun, (long long)position->finished,
                     (long long)position->first, (long long)position->last_lost);
    scrub->saved = clock_monotonic();
    return lease_holder_save(&scrub->lease, arena, text);
}

/* Until a pass was completed, the begin of the first one counts. An installation without a scrub is never late. */
static bool is_overdue(const struct service *service, const struct scrub_position *position)
{
    int64_t since = position->finished != 0 ? position->finished : position->first;
    return since != 0 && clock_now() - since > service->configuration->scrub.overdue_days * DAY_MILLISECONDS;
}

struct error *scrub_health(struct service *service, struct arena *arena, const char **problem_out)
{
    struct scrub_position position;
    struct file_damage_counts counts;
    *problem_out = NULL;
    TRY(file_damage_count(service->database, arena, &counts));
    TRY(scrub_position_load(service, arena, &position));
    if (counts.damaged > 0 || counts.lost > 0)
        *problem_out = arena_format(
            arena,
            "Files are damaged (%lld) or lost (%lld). See which with gatehousectl scrub status. Put their bytes back"
            " with gatehousectl fsck --repair --from FOLDER, or in another way and then run gatehousectl scrub"
            " --damaged.",
            (long long)counts.damaged, (long long)counts.lost);
    else if (is_overdue(service, &position))
        *problem_out = arena_format(
            arena,
            "Not every file has been read again in the last %lld days. Check that a job runner is running and that"
            " bytes_per_second in [scrub] is enough, or run gatehousectl scrub.",
            (long long)service->configuration->scrub.overdue_days);
    return NULL;
}

struct error *scrub_set_metrics(struct service *service, struct arena *arena)
{
    struct scrub_position position;
    struct file_damage_counts counts;
    TRY(file_damage_count(service->database, arena, &counts));
    TRY(scrub_position_load(service, arena, &position));
    metrics_set(METRIC_SCRUB_DAMAGED, (uint64_t)counts.damaged);
    metrics_set(METRIC_SCRUB_LOST, (uint64_t)counts.lost);
    metrics_set(METRIC_SCRUB_FINISHED, (uint64_t)position.finished);
    return NULL;
}
