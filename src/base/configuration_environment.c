/* SPDX-License-Identifier: MIT */
/*
 * Finds variables of the environment that look like settings but are none. Two names resemble each other when changes
 * of at most two letters make one out of the other.
 */
#include "base/configuration.h"

#include <string.h>

#include "base/arena.h"
#include "base/limits.h"

#define PREFIX_LENGTH (sizeof CONFIGURATION_PREFIX - 1)
#define DISTANCE_MAX 2

extern char **environ;

/* Names that are no settings but are known: those of the programs, and of the tools that build and test them. */
static const char *const others[] = {"GATEHOUSE_CONFIG", "GATEHOUSE_DATA_DIR"};
#define OTHERS (sizeof others / sizeof *others)

/* The prefixes of the tools' names. */
static const char *const tools[] = {"GATEHOUSE_QUICKSTART", "GATEHOUSE_BUILD", "GATEHOUSE_TEST"};

static unsigned least(unsigned a, unsigned b, unsigned c)
{
    unsigned smaller = a < b ? a : b;
    return smaller < c ? smaller : c;
}

/*
 * The Levenshtein distance of two names, row by row: how many letters must be added, removed or replaced. Both are
 * within the bound.
 */
static unsigned distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    unsigned row[LIMIT_VARIABLE_BYTES + 1];
    for (size_t j = 0; j <= b_length; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; i <= a_length; i++) {
        unsigned corner = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b_length; j++) {
            unsigned above = row[j];
            row[j] = least(above + 1, row[j - 1] + 1, corner + (a[i - 1] != b[j - 1]));
            corner = above;
        }
    }
    return row[b_length];
}

struct search {
    const char *name; /* the length up to the = */
    size_t length;
    unsigned nearest;
    const char *found; /* the nearest name until now */
};

static void compare(struct search *search, const char *known)
{
    size_t length = strlen(known);
    if (search->length > LIMIT_VARIABLE_BYTES || length > LIMIT_VARIABLE_BYTES)
        return;
    unsigned apart = distance(search->name, search->length, known, length);
    if (apart >= search->nearest)
        return;
    search->nearest = apart;
    search->found = known;
}

static bool is_of_tools(const char *name)
{
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        if (strncmp(name, tools[i], strlen(tools[i])) == 0)
            return true;
    return false;
}

/* All known names; *count_out is their number. */
static const char **known_names(struct arena *arena, size_t *count_out)
{
    size_t count;
    const struct configuration_row *rows = configuration_rows(&count);
    const char **names = arena_array(arena, count + OTHERS, sizeof *names);
    for (size_t i = 0; i < count; i++)
        names[i] = configuration_variable(arena, &rows[i]);
    memcpy(names + count, others, sizeof others);
    *count_out = count + OTHERS;
    return names;
}

const struct configuration_stray *configuration_strays(struct arena *arena, size_t *count_out)
{
    size_t variables = 0;
    size_t known_count;
    const char **known = known_names(arena, &known_count);
    while (environ[variables] != NULL)
        variables++;
    struct configuration_stray *strays = arena_array(arena, variables + 1, sizeof *strays);
    *count_out = 0;
    for (char **at = environ; *at != NULL; at++) {
        if (strncmp(*at, CONFIGURATION_PREFIX, PREFIX_LENGTH) != 0 || is_of_tools(*at))
            continue;
        struct search search = {.name = *at, .length = strcspn(*at, "="), .nearest = DISTANCE_MAX + 1};
        for (size_t i = 0; i < known_count; i++)
            compare(&search, known[i]);
        if (search.nearest > 0)
            strays[(*count_out)++] =
                (struct configuration_stray){arena_copy(arena, search.name, search.length), search.found};
    }
    return strays;
}
