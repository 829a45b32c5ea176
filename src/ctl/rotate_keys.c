/* SPDX-License-Identifier: MIT */
/* gatehousectl rotate-keys: new keys for tokens and for links. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/configuration.h"
#include "base/error.h"
#include "ctl/ctl_int.h"
#include "domain/audit.h"
#include "identity/provider.h"
#include "service/caller.h"
#include "service/link.h"
#include "service/service.h"
#include "service/setup.h"

#define USAGE "rotate-keys [--tokens | --links]"

struct rotation {
    bool tokens;
    bool links;
};

static struct error *audit(struct service *service, struct arena *arena, const char *what)
{
    static const struct caller operator = {0};
    struct audit_entry entry = {.action = "secrets.rotate", .target_type = "key", .target_id = what};
    return caller_audit(service, arena, &operator, &entry);
}

static struct error *rotate_tokens(struct service *service, struct arena *arena)
{
    enum provider_outcome outcome;
    TRY(provider_rotate_keys(service->provider, arena, &outcome));
    if (outcome != PROVIDER_OK) {
        (void)printf("tokens: the keys are the identity provider's own, %s\n", service->configuration->identity.provider);
        return NULL;
    }
    TRY(audit(service, arena, "tokens"));
    (void)printf("tokens: a new key signs; tokens of the old one hold until they expire\n");
    return NULL;
}

static struct error *rotate(struct service *service, struct arena *arena, const struct rotation *rotation)
{
    if (rotation->tokens)
        TRY(rotate_tokens(service, arena));
    if (rotation->links) {
        TRY(link_keys_rotate(service, arena));
        TRY(audit(service, arena, "links"));
        (void)printf("links: a new key signs; every link made so far has ended\n");
    }
    return NULL;
}

int ctl_rotate_keys(struct run *run)
{
    static const struct option options[] = {
        {"tokens", no_argument, NULL, 't'}, {"links", no_argument, NULL, 'l'}, {NULL, 0, NULL, 0}};
    struct rotation rotation = {false, false};
    struct configuration *configuration;
    struct service service;
    int option;
    optind = 1;
    while ((option = getopt_long(run->argc, run->argv, "", options, NULL)) != -1) {
        if (option == '?' || rotation.tokens || rotation.links)
            return ctl_usage(USAGE);
        rotation.tokens = option == 't';
        rotation.links = option == 'l';
    }
    if (optind != run->argc)
        return ctl_usage(USAGE);
    if (!rotation.tokens && !rotation.links)
        rotation = (struct rotation){true, true};
    struct error *error = setup_load(run->arena, run->config, NULL, &configuration);
    if (error == NULL)
        error = service_open(run->arena, configuration, &service);
    if (error != NULL)
        return ctl_fail(error);
    error = rotate(&service, run->arena, &rotation);
    service_close(&service);
    return error == NULL ? EXIT_SUCCESS : ctl_fail(error);
}
