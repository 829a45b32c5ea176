/* SPDX-License-Identifier: MIT */
/* Handles the endpoint that tells pages and clients what the installation looks like, as [branding] configures it. */
#include <stddef.h>
#include <string.h>

#include "api/handlers_int.h"
#include "api/route.h"
#include "base/arena.h"
#include "base/configuration.h"
#include "base/text.h"
#include "http/schema.h"
#include "service/runtime/service.h"

struct logos_view {
    const char *light;
    const char *dark;
};

static const struct schema_field logos_fields[] = {
    {.name = "light",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_NULLABLE,
     .offset = offsetof(struct logos_view, light),
     .description = "The address of a picture for a light ground."},
    {.name = "dark",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_NULLABLE,
     .offset = offsetof(struct logos_view, dark),
     .description = "The same for a dark ground."},
};

static const struct schema logos_schema = {
    .name = "Logos", SCHEMA_FIELDS(logos_fields), .size = sizeof(struct logos_view)};

struct branding_view {
    const char *name;
    const struct logos_view *logos;
    const char *accent;
    const char *support;
    struct text_list languages;
};

static const struct schema_field fields[] = {
    {.name = "name", .type = SCHEMA_TEXT, .offset = offsetof(struct branding_view, name)},
    {.name = "logos", .type = SCHEMA_OBJECT, .schema = &logos_schema, .offset = offsetof(struct branding_view, logos)},
    {.name = "accent",
     .type = SCHEMA_TEXT,
     .offset = offsetof(struct branding_view, accent),
     .description = "A colour: # and six hexadecimal digits."},
    {.name = "support",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_NULLABLE,
     .offset = offsetof(struct branding_view, support),
     .description = "Where people find help: an address with https, http or mailto."},
    {.name = "languages",
     .type = SCHEMA_TEXTS,
     .offset = offsetof(struct branding_view, languages),
     .description = "The languages of e-mails and pages, as BCP 47 writes them; the installation's own comes first."},
};

const struct schema branding_schema = {.name = "Branding", SCHEMA_FIELDS(fields), .size = sizeof(struct branding_view)};

/* The whole address of a picture; one without a scheme lies below the pages. NULL stays NULL. */
static const char *address_of(struct call *call, const char *picture)
{
    if (picture == NULL || strstr(picture, "://") != NULL)
        return picture;
    return arena_format(call->arena, "%s/%s", call->service->configuration->service.web_url, picture);
}

struct error *branding_get(struct call *call)
{
    const struct configuration *configuration = call->service->configuration;
    struct logos_view *logos = arena_alloc(call->arena, sizeof *logos);
    struct branding_view *view = arena_alloc(call->arena, sizeof *view);
    const char *dark = configuration->branding.logo_dark;
    logos->light = address_of(call, configuration->branding.logo);
    logos->dark = dark == NULL ? logos->light : address_of(call, dark);
    *view = (struct branding_view){
        .name = configuration->branding.name,
        .logos = logos,
        .accent = configuration->branding.accent,
        .support = configuration->branding.support,
        .languages = call->service->languages,
    };
    call->result = view;
    return NULL;
}
