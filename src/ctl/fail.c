/* SPDX-License-Identifier: MIT */
/* Prints the error of a command that failed, for the operator. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ctl/ctl_int.h"

int ctl_fail(const struct error *error)
{
    /* The sentence of an internal error is for callers. The operator gets the detail instead. */
    bool is_plain = error->detail != NULL && strcmp(error->message, error_sentence(ERROR_INTERNAL)) == 0;
    (void)fprintf(stderr, "gatehousectl: %s\n", is_plain ? error->detail : error->message);
    if (error->detail != NULL && !is_plain && strcmp(error->detail, error->message) != 0)
        (void)fprintf(stderr, "  %s\n", error->detail);
    for (const struct error_entry *entry = error->entries; entry != NULL; entry = entry->next)
        (void)fprintf(stderr, "  %s: %s\n", entry->path, entry->message);
    return EXIT_FAILURE;
}
