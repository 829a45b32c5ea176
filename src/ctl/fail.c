/* SPDX-License-Identifier: MIT */
/* Prints the error of a command that failed, for the operator. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ctl/ctl_int.h"

int ctl_fail(const struct error *error)
{
    const char *words = error_words(error);
    (void)fprintf(stderr, "gatehousectl: %s\n", words);
    if (error->detail != NULL && strcmp(error->detail, words) != 0)
        (void)fprintf(stderr, "  %s\n", error->detail);
    for (const struct error_entry *entry = error->entries; entry != NULL; entry = entry->next)
        (void)fprintf(stderr, "  %s: %s\n", entry->path, entry->message);
    return EXIT_FAILURE;
}
