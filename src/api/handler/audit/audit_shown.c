/* SPDX-License-Identifier: MIT */
/*
 * Tells organisations that internal staff were shown rows of their trails.
 *
 * A list without an organisation shows rows of many. Before they leave, each of those organisations gets a row that
 * says who looked: one for a page, one for an export. The export keeps a table of the organisations that it has told.
 * The table is bounded, and begins anew when it is full: then an organisation may be told twice, but none is left out.
 *
 * A row that tells of such a look shows nothing of its organisation, so it is not told again. Otherwise whoever reads
 * the trail regularly would find the rows of the last reading each time, and add as many.
 */
#include <string.h>

#include "api/handler/audit/audit_int.h"
#include "base/arena.h"
#include "base/error.h"
#include "domain/audit.h"
#include "service/access/caller.h"
#include "service/access/caller_audit.h"

#define SLOTS 2048

struct audit_shown {
    struct service *service;
    struct caller caller;
    struct id told[SLOTS]; /* an organisation stands at the place that its last bytes say, or behind */
    size_t count;
};

struct audit_shown *audit_shown_new(struct arena *arena, struct service *service, const struct caller *caller)
{
    struct audit_shown *shown = arena_alloc(arena, sizeof *shown);
    shown->service = service;
    shown->caller = *caller;
    return shown;
}

/* Adds the organisation to the table, unless it is there. */
static bool is_new(struct audit_shown *shown, struct id organisation)
{
    if (shown->count == SLOTS / 2) {
        memset(shown->told, 0, sizeof shown->told);
        shown->count = 0;
    }
    const unsigned char *end = organisation.bytes + ID_BYTES - 2;
    size_t place = ((size_t)end[0] << 8 | end[1]) % SLOTS;
    while (!id_is_none(shown->told[place]) && !id_equal(shown->told[place], organisation))
        place = (place + 1) % SLOTS;
    if (id_equal(shown->told[place], organisation))
        return false;
    shown->told[place] = organisation;
    shown->count++;
    return true;
}

static bool shows_another(const struct audit_shown *shown, const struct audit_entry *entry)
{
    return !id_is_none(entry->organisation_id) && !id_equal(entry->organisation_id, caller_home(&shown->caller)) &&
           strcmp(entry->action, CALLER_CROSSING) != 0;
}

struct error *audit_shown_tell(struct audit_shown *shown, struct arena *arena, const struct audit_page *page)
{
    struct id *organisations = arena_array(arena, page->count, sizeof *organisations);
    size_t count = 0;
    for (size_t i = 0; i < page->count; i++) {
        const struct audit_entry *entry = &page->items[i].entry;
        if (shows_another(shown, entry) && is_new(shown, entry->organisation_id))
            organisations[count++] = entry->organisation_id;
    }
    return caller_audit_crossings(shown->service, arena, &shown->caller, organisations, count);
}
