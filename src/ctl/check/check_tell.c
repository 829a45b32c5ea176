/* SPDX-License-Identifier: MIT */
/* Prints what `gatehousectl check` has found of one part, as lines or as JSON. */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "ctl/check/check_int.h"

const char *check_level_text(enum check_level level)
{
    static const char *const texts[] = {"ok", "note", "warning", "error"};
    return texts[level];
}

static void print(const char *part, enum check_level level, const struct error *error, const char *advice)
{
    if (error == NULL) {
        (void)printf("%-14s ok\n", part);
        return;
    }
    (void)printf("%-14s %s%s%s\n", part, level == CHECK_ERROR ? "" : check_level_text(level),
                 level == CHECK_ERROR ? "" : ": ", error->message);
    if (error->detail != NULL && strcmp(error->detail, error->message) != 0)
        (void)printf("%-14s   %s\n", "", error->detail);
    for (const struct error_entry *entry = error->entries; entry != NULL; entry = entry->next)
        (void)printf("%-14s   %s: %s\n", "", entry->path, entry->message);
    if (advice != NULL)
        (void)printf("%-14s   %s\n", "", advice);
}

/* Gives the operator the detail where the message is only the sentence for callers. */
static void speak_plainly(struct error *error)
{
    if (error == NULL || error->detail == NULL || strcmp(error->message, error_sentence(ERROR_INTERNAL)) != 0)
        return;
    error->message = error->detail;
    error->detail = NULL;
}

void check_write(struct ctl_json *json, const char *part, enum check_level level, struct error *error,
                 const char *advice)
{
    speak_plainly(error);
    ctl_json_open(json, NULL, '{');
    ctl_json_text(json, "part", part);
    ctl_json_text(json, "state", check_level_text(error == NULL ? CHECK_OK : level));
    ctl_json_text(json, "message", error != NULL ? error->message : NULL);
    ctl_json_open(json, "details", '[');
    if (error != NULL && error->detail != NULL)
        ctl_json_text(json, NULL, error->detail);
    for (const struct error_entry *entry = error != NULL ? error->entries : NULL; entry != NULL; entry = entry->next)
        ctl_json_text(json, NULL, arena_format(json->arena, "%s: %s", entry->path, entry->message));
    ctl_json_close(json);
    ctl_json_text(json, "advice", error != NULL ? advice : NULL);
    ctl_json_close(json);
}

bool check_tell(struct checks *checks, const char *part, enum check_level level, struct error *error,
                const char *advice)
{
    level = error == NULL ? CHECK_OK : level;
    checks->worst = level > checks->worst ? level : checks->worst;
    speak_plainly(error);
    if (checks->as_json)
        check_write(&checks->json, part, level, error, advice);
    else
        print(part, level, error, advice);
    return error == NULL;
}
