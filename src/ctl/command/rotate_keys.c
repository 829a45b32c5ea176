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
};

static struct error *audit(struct service *service, struct arena *arena, const char *what)
{
    static const struct caller operator= { 0 };
    struct audit_entry entry = {.action = "secrets.rotate", .target_type = "key", .target_id = what};
    return caller_audit(service, arena, &operator, & entry);
}

static struct error *rotate_tokens(struct service *service, struct arena *arena)
{
    enum provider_outcome outcome;
    TRY(provider_rotate_keys(service->provider, arena, &outcome));
    if (outcome != PROVIDER_OK) {
        (void)printf("tokens: the keys are the identity provider's own, %s\n",
                     service->configuration->identity.provider);
        return NULL;
    }
    TRY(audit(service, arena, "tokens"));
    (void)printf("tokens: a new key signs; tokens of the old one hold until they expire\n");
    return NULL;
}

static struct error *rotate(struct service *service, struct arena *arena, void *context)
{
    const struct rotation *rotation = context;
    if (rotation->tokens)
        TRY(rotate_tokens(service, arena));
    if (rotation->links) {
        TRY(signed_link_keys_rotate(service, arena));
        TRY(audit(service, arena, "links"));
        (void)printf("links: a new key signs; every link made so far has ended\n");
    }
    return NULL;
}

static int rotate_keys(struct run *run)
{
    struct rotation rotation = {.tokens = ctl_has(run, "tokens"), .links = ctl_has(run, "links")};
    if (rotation.tokens && rotation.links)
        return ctl_usage(run, "--tokens and --links do not go together; without them both are made");
    if (!rotation.tokens && !rotation.links)
        rotation = (struct rotation){true, true};
    return ctl_with_service(run, rotate, &rotation);
}

static const struct ctl_option options[] = {
    {"tokens", NULL, "the key for tokens alone", false},
    {"links", NULL, "the key for links alone", false},
    {0},
};

const struct ctl_command ctl_rotate_keys = {
    .name = "rotate-keys", .summary = "make new keys for tokens and links", .options = options, .run = rotate_keys};
