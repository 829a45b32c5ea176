/* SPDX-License-Identifier: MIT */
/* Opens and seals anew what is sealed in the database, kind by kind. */
#include "service/maintenance/reseal.h"

#include "base/arena.h"
#include "base/error.h"
#include "codec/seal.h"
#include "domain/sealed.h"
#include "service/runtime/service.h"

/*
 * The n-th purpose that a row of the kind may have been sealed for; NULL: there are no more. The modules that seal
 * define the purposes: identity/embedded, identity/remote, signed links, the mail queue, recovery, and changes of
 * addresses.
 */
static const char *purpose_of(struct arena *arena, enum sealed_kind kind, const struct sealed_row *row, unsigned n)
{
    static const char *const of_work[] = {"outbox", "recovery", "email-change"};
    if (kind == SEALED_WORK && n < sizeof of_work / sizeof *of_work)
        return of_work[n];
    if (n > 0)
        return NULL;
    switch (kind) {
    case SEALED_SIGNING_KEY:
        return arena_format(arena, "signing-key:%s", row->name);
    case SEALED_LINK_KEY:
        return arena_format(arena, "link-key:%s", id_text(arena, row->id));
    case SEALED_REFRESH_TOKEN:
        return arena_format(arena, "provider-refresh:%s", id_text(arena, row->id));
    case SEALED_PASSWORD:
        return arena_format(arena, "password asked for %s", id_text(arena, row->id));
    default:
        return NULL;
    }
}

static struct error *reseal_row(struct service *service, struct arena *arena, enum sealed_kind kind,
                                const struct sealed_row *row, struct reseal *reseal)
{
    const struct secret first = {.bytes = service->master.bytes, .length = service->master.length};
    const char *purpose;
    for (unsigned n = 0; (purpose = purpose_of(arena, kind, row, n)) != NULL; n++) {
        struct secret opened;
        unsigned char *sealed;
        size_t length;
        bool changed = false;
        if (unseal(arena, first, purpose, row->sealed, row->length, &opened) == NULL) {
            reseal->fine++;
            return NULL;
        }
        if (unseal(arena, service->master, purpose, row->sealed, row->length, &opened) != NULL)
            continue;
        TRY(seal(arena, service->master, purpose, opened.bytes, opened.length, &sealed, &length));
        TRY(sealed_replace(service->database, arena, kind, row, sealed, length, &changed));
        reseal->done += changed;
        return NULL;
    }
    reseal->unknown++;
    return NULL;
}

static struct error *reseal_kind(struct service *service, struct arena *arena, enum sealed_kind kind,
                                 struct reseal *reseal)
{
    struct sealed_page page;
    const struct sealed_row *after = NULL;
    do {
        TRY(sealed_list(service->database, arena, kind, after, &page));
        for (size_t i = 0; i < page.count; i++)
            TRY(reseal_row(service, arena, kind, &page.items[i], reseal));
        after = page.count > 0 ? &page.items[page.count - 1] : NULL;
    } while (page.count == SEALED_PAGE);
    return NULL;
}

struct error *reseal_all(struct service *service, struct arena *arena, struct reseal *reseal_out)
{
    *reseal_out = (struct reseal){0};
    for (int kind = 0; kind < SEALED_KINDS; kind++)
        TRY(reseal_kind(service, arena, (enum sealed_kind)kind, reseal_out));
    return NULL;
}

static bool opens(struct arena *arena, struct secret key, enum sealed_kind kind, const struct sealed_row *row)
{
    const struct secret alone = {.bytes = key.bytes, .length = key.length};
    const char *purpose;
    struct secret opened;
    for (unsigned n = 0; (purpose = purpose_of(arena, kind, row, n)) != NULL; n++)
        if (unseal(arena, alone, purpose, row->sealed, row->length, &opened) == NULL)
            return true;
    return false;
}

struct error *reseal_finds(struct service *service, struct arena *arena, struct secret key, bool *found_out)
{
    *found_out = false;
    for (int kind = 0; kind < SEALED_KINDS; kind++) {
        struct sealed_page page = {.count = SEALED_PAGE};
        const struct sealed_row *after = NULL;
        while (page.count == SEALED_PAGE) {
            TRY(sealed_list(service->database, arena, (enum sealed_kind)kind, after, &page));
            for (size_t i = 0; i < page.count && !*found_out; i++)
                *found_out = opens(arena, key, (enum sealed_kind)kind, &page.items[i]);
            if (*found_out)
                return NULL;
            after = page.count > 0 ? &page.items[page.count - 1] : NULL;
        }
    }
    return NULL;
}
