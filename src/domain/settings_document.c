/* SPDX-License-Identifier: MIT */
/* Reads and writes the settings document. It is checked as if a stranger had written it. */
#include "domain/settings.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "codec/document.h"

/* The text of a member; NULL with a reason. */
static const char *member_text(const struct document *object, const char *name, const char **damage_out)
{
    const char *text = document_text(document_member(object, name));
    if (text == NULL)
        *damage_out = "a member is missing or not a text";
    return text;
}

static bool read_logging(const struct document *logging, struct settings *settings, const char **damage_out)
{
    const char *level = member_text(logging, "level", damage_out);
    settings->filter = member_text(logging, "filter", damage_out);
    if (level == NULL || settings->filter == NULL)
        return false;
    if (document_count(logging) != 2) {
        *damage_out = "there is an unknown member";
        return false;
    }
    if (!log_level_parse(level, &settings->level)) {
        *damage_out = "there is no such level";
        return false;
    }
    *damage_out = log_filter_sentence(log_levels_read(settings->level, settings->filter, &settings->levels));
    return *damage_out == NULL;
}

const struct settings *settings_read(struct arena *arena, const char *bytes, size_t length, const char **damage_out)
{
    struct document *document;
    struct settings *settings = arena_alloc(arena, sizeof *settings);
    *damage_out = NULL;
    if (document_parse(arena, bytes, length, &document) != NULL)
        *damage_out = "it is not JSON";
    else if (document_kind(document) != DOCUMENT_OBJECT || document_count(document) != 1 ||
             document_kind(document_first(document)) != DOCUMENT_OBJECT || document_member(document, "logging") == NULL)
        *damage_out = "it is not an object with the one member logging";
    else if (read_logging(document_member(document, "logging"), settings, damage_out))
        return settings;
    return NULL;
}

const char *settings_text(struct arena *arena, const struct settings *settings)
{
    struct buffer text;
    buffer_init(&text, arena);
    buffer_add_text(&text, "{\"logging\":{\"level\":");
    buffer_add_json_text(&text, log_level_text(settings->level));
    buffer_add_text(&text, ",\"filter\":");
    buffer_add_json_text(&text, settings->filter);
    buffer_add_text(&text, "}}");
    return text.bytes;
}
