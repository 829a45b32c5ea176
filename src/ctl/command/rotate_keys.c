/* SPDX-License-Identifier: MIT */
/* gatehousectl rotate-keys: makes new keys for tokens and links. */
#include <stdio.h>

#include "base/arena.h"
#include "base/configuration.h"
#include "base/error.h"
#include "ctl/ctl_int.h"
#include "domain/audit.h"
#include "identity/provider.h"
#include "service/access/caller.h"
#include "service/access/caller_audit.h"
#include "service/access/signed_link.h"
#include "service/runtime/service.h"

struct rotation {
    bool tokens;
    bool links;
    bool as_json;
    bool has_tokens; /* a new key was made */
    bool has_links;
};

static struct error *audit(struct service *service, struct arena *arena, const char *what)
{
    static const struct caller operator= { 0 };
    struct audit_entry entry = {.action = "secrets.rotate", .target_type = "key", .target_id = what};
    return caller_audit(service, arena, &operator, & entry);
}

static struct error *rotate_tokens(struct service *service, struct arena *arena, struct rotation *rotation)
{
    enum provider_outcome outcome;
    TRY(provider_rotate_keys(service->provider, arena, &outcome));
    if (outcome != PROVIDER_OK) {
        if (!rotation->as_json)
            (void)printf("tokens: the keys are the identity provider's own, %s\n",
                         service->configuration->identity.provider);
        return NULL;
    }
    rotation->has_tokens = true;
    TRY(audit(service, arena, "tokens"));
    if (!rotation->as_json)
        (void)printf("tokens: a new key signs; tokens of the old one hold until they expire\n");
    return NULL;
}

static struct error *rotate_links(struct service *service, struct arena *arena, struct rotation *rotation)
{
    TRY(signed_link_keys_rotate(service, arena));
    rotation->has_links = true;
    TRY(audit(service, arena, "links"));
    if (!rotation->as_json)
        (void)printf("links: a new key signs; every link made so far has ended\n");
    return NULL;
}

static struct error *rotate(struct service *service, struct arena *arena, void *context)
{
    struct rotation *rotation = context;
    struct ctl_json json = {.arena = arena};
    struct error *error = rotation->tokens ? rotate_tokens(service, arena, rotation) : NULL;
    if (error == NULL && rotation->links)
        error = rotate_links(service, arena, rotation);
    if (!rotation->as_json)
        return error;
    ctl_json_open(&json, NULL, '{');
    ctl_json_boolean(&json, "tokens", rotation->has_tokens);
    ctl_json_boolean(&json, "links", rotation->has_links);
    ctl_json_boolean(&json, "complete", error == NULL);
    ctl_json_close(&json);
    return error;
}

static int rotate_keys(struct run *run)
{
    struct rotation rotation = {.tokens = ctl_has(run, "tokens"), .links = ctl_has(run, "links"), .as_json = run->json};
    if (rotation.tokens && rotation.links)
        return ctl_usage(run, "--tokens and --links do not go together; without them both are made");
    if (!rotation.tokens && !rotation.links)
        rotation.tokens = rotation.links = true;
    return ctl_with_service(run, rotate, &rotation);
}

static const struct ctl_option options[] = {
    {"tokens", NULL, "the key for tokens alone", false},
    {"links", NULL, "the key for links alone", false},
    {0},
};

const struct ctl_command ctl_rotate_keys = {.name = "rotate-keys",
                                            .summary = "make new keys for tokens and links",
                                            .options = options,
                                            .json = true,
                                            .run = rotate_keys};
