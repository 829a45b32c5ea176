/* SPDX-License-Identifier: MIT */
/* JSON as the drivers and provisioning need it: things found in arrays, and objects with some members changed. */
#ifndef GATEHOUSE_IDENTITY_JSON_INT_H
#define GATEHOUSE_IDENTITY_JSON_INT_H

#include "base/text.h"
#include "codec/document.h"

/* ---- reading -------------------------------------------------------------------------------------- */

/* The first object of an array whose `member` is that text; NULL: there is none. */
const struct document *json_find(const struct document *array, const char *member, const char *text);

/* Whether an array holds the text. */
bool json_array_has(const struct document *array, const char *text);

/* Whether the member is there and is that boolean. */
bool json_is(const struct document *object, const char *name, bool flag);

/* ---- writing -------------------------------------------------------------------------------------- */

/* A text as JSON; "true" or "false"; JSON with a line for each member (what is not JSON comes back as it is). */
const char *json_text(struct arena *arena, const char *text);
const char *json_boolean(bool flag);
const char *json_pretty(struct arena *arena, const char *json);

#define MERGE_PATCH_MEMBERS 24

/*
 * A merge patch (as of RFC 7396, but of one level): the members of an object that are to be other than they are. Names
 * and values must live as long as the patch.
 */
struct merge_patch {
    const char *names[MERGE_PATCH_MEMBERS];
    const char *values[MERGE_PATCH_MEMBERS]; /* as JSON; NULL: the member is to go */
    size_t count;
};

/* Adds a member; at most MERGE_PATCH_MEMBERS, further ones are left out. */
void merge_patch_add(struct merge_patch *patch, const char *name, const char *json);

/*
 * The object with the patch applied, as JSON: first its own members that the patch does not name, then the patch's.
 * `kept` names the members of its own that may stay, ended by NULL; NULL: all of them. `object` NULL is an empty
 * object.
 */
const char *merge_patch_apply(struct arena *arena, const struct merge_patch *patch, const struct document *object,
                              const char *const *kept);

/* The names of the patch's members, "a, b": for a sentence. */
const char *merge_patch_names(struct arena *arena, const struct merge_patch *patch);

#endif
