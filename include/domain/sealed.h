/* SPDX-License-Identifier: MIT */
/* The columns that hold sealed values (codec/seal.h), for sealing them again. */
#ifndef GATEHOUSE_DOMAIN_SEALED_H
#define GATEHOUSE_DOMAIN_SEALED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/id.h"

struct arena;
struct database;
struct error;

enum sealed_kind {
    SEALED_SIGNING_KEY,
    SEALED_LINK_KEY,
    SEALED_REFRESH_TOKEN, /* of a remote provider */
    SEALED_PASSWORD,      /* about to be set at a remote provider */
    SEALED_WORK,          /* in the outbox, waiting */
    SEALED_KINDS
};

struct sealed_row {
    const void *key; /* the primary key's bytes; of the outbox the number's digits */
    size_t key_length;
    const char *name; /* of a signing key: its kid; else "" */
    struct id id;     /* of others: what the purpose names (key, family or user) */
    const void *sealed;
    size_t length;
};

struct sealed_page {
    struct sealed_row *items;
    size_t count; /* fewer than SEALED_PAGE: there are no more */
};

#define SEALED_PAGE 100

/* The rows behind `after`, by primary key; NULL: from the first. */
struct error *sealed_list(struct database *database, struct arena *arena, enum sealed_kind kind,
                          const struct sealed_row *after, struct sealed_page *page_out);

/* Replaces the value of the row, provided that it is unchanged. *changed_out says whether it was. */
struct error *sealed_replace(struct database *database, struct arena *arena, enum sealed_kind kind,
                             const struct sealed_row *row, const void *sealed, size_t length, bool *changed_out);

#endif
