/* SPDX-License-Identifier: MIT */
/*
 * Target for permissions: each answer is compared with that of a model which is written from the grammar in
 * docs/permissions.md and knows nothing of the code: a pattern is the set of (module, area, letter) that it grants, in
 * a small world of names.
 */
#include <string.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/text.h"
#include "domain/permission/permission.h"
#include "fuzz.h"

#define NAMES 5
#define WORLD (NAMES * NAMES * 3)

struct grant {
    bool holds[WORLD];
};

/* The names of the world: those of the texts, and one that is in none of them. */
struct world {
    const char *names[NAMES];
};

static bool is_name(const char *text, size_t length)
{
    if (length == 0 || *text < 'a' || *text > 'z')
        return false;
    for (size_t i = 0; i < length; i++)
        if (!((text[i] >= 'a' && text[i] <= 'z') || (text[i] >= '0' && text[i] <= '9') || text[i] == '-'))
            return false;
    return true;
}

/* Splits "a:b:c"; the number of parts, 0 for more than three. */
static size_t split(struct arena *arena, const char *text, const char *parts_out[3])
{
    size_t count = 0;
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, ":");
        if (count == 3)
            return 0;
        parts_out[count++] = arena_copy(arena, at, length);
        at += length;
        if (*at == '\0')
            return count;
    }
}

static int level_of(const char *letter)
{
    return strcmp(letter, "r") == 0 ? 1 : strcmp(letter, "w") == 0 ? 2 : strcmp(letter, "a") == 0 ? 3 : 0;
}

/* The level of a two-part form's letters; -1 when it is none. */
static int level_of_letters(const char *letters)
{
    int level = 0;
    if (*letters == '\0')
        return -1;
    for (const char *at = letters; *at != '\0'; at++) {
        if (strchr("rwx", *at) == NULL || strchr(at + 1, *at) != NULL)
            return -1;
        int own = *at == 'w' ? 2 : *at == 'r' ? 1 : 0;
        level = own > level ? own : level;
    }
    return level;
}

/* Whether a part of a pattern stands for that name. */
static bool stands_for(const char *part, const char *name)
{
    return strcmp(part, "*") == 0 || strcmp(part, name) == 0;
}

static bool is_part(const char *part)
{
    return strcmp(part, "*") == 0 || is_name(part, strlen(part));
}

/* What a text grants by the model; false when it is no pattern. */
static bool model(struct arena *arena, const struct world *world, const char *text, struct grant *grant_out)
{
    const char *parts[3];
    size_t count = split(arena, text, parts);
    bool two = count == 2 && strcmp(parts[1], "*") == 0;
    bool three = count == 3 && is_part(parts[0]) && is_part(parts[1]) && level_of(parts[2]) > 0;
    int level = two ? level_of_letters(parts[0]) : three ? level_of(parts[2]) : -1;
    for (size_t i = 0; level >= 0 && i < WORLD; i++) {
        bool there = two || (stands_for(parts[0], world->names[i / 3 / NAMES]) &&
                             stands_for(parts[1], world->names[i / 3 % NAMES]));
        grant_out->holds[i] = there && (int)(i % 3) < level;
    }
    return level >= 0;
}

static void add_names(struct arena *arena, struct world *world, size_t *used, const char *text)
{
    const char *parts[3] = {"", "", ""};
    size_t count = split(arena, text, parts);
    for (size_t i = 0; i < 2 && i < count; i++) {
        bool known = !is_name(parts[i], strlen(parts[i]));
        for (size_t j = 0; j < *used; j++)
            known = known || strcmp(world->names[j], parts[i]) == 0;
        if (!known && *used < NAMES - 1)
            world->names[(*used)++] = parts[i];
    }
}

/* A name that no text holds. */
static const char *stranger(struct arena *arena, const struct world *world, size_t used)
{
    size_t longest = 1;
    for (size_t i = 0; i < used; i++)
        longest = strlen(world->names[i]) >= longest ? strlen(world->names[i]) + 1 : longest;
    char *name = arena_alloc(arena, longest + 1);
    memset(name, 'z', longest);
    return name;
}

static void compare_matching(struct arena *arena, const struct world *world, const char *held, bool pattern,
                             const struct grant *granted)
{
    static const char letters[] = "rwa";
    for (size_t i = 0; i < WORLD; i++) {
        const char *wanted =
            arena_format(arena, "%s:%s:%c", world->names[i / 3 / NAMES], world->names[i / 3 % NAMES], letters[i % 3]);
        fuzz_expect(permission_grants(held, wanted) == (pattern && granted->holds[i]), "matching is that of the model");
    }
}

/* Two lines that are held and one that is to be given. */
void fuzz_permission(struct arena *arena, const uint8_t *bytes, size_t size)
{
    const char *lines[3];
    struct world world;
    size_t used = 0;
    struct grant grants[3] = {0};
    bool patterns[3];
    fuzz_lines(arena, bytes, size, lines, 3);
    for (size_t i = 0; i < 3; i++)
        if (strlen(lines[i]) > LIMIT_PERMISSION_BYTES)
            return;
    for (size_t i = 0; i < 3; i++)
        add_names(arena, &world, &used, lines[i]);
    const char *other = stranger(arena, &world, used);
    for (size_t i = used; i < NAMES; i++)
        world.names[i] = other;
    for (size_t i = 0; i < 3; i++) {
        struct permission read;
        patterns[i] = model(arena, &world, lines[i], &grants[i]);
        fuzz_expect(permission_parse(lines[i], &read) == patterns[i], "what is a pattern is that of the model");
        compare_matching(arena, &world, lines[i], patterns[i], &grants[i]);
    }
    bool covered = patterns[2];
    for (size_t i = 0; i < WORLD; i++)
        covered = covered && (!grants[2].holds[i] || grants[0].holds[i] || grants[1].holds[i]);
    const char *items[] = {lines[0], lines[1]};
    struct text_list held = {items, 2};
    bool told = permission_covers(&held, lines[2]);
    fuzz_expect(!told || covered, "nobody gives what nobody holds");
    /* The world holds a name that stands for all others, so the model knows no more than the code. */
    fuzz_expect(told == covered || used == NAMES - 1, "whoever holds it may give it");
}
