/* SPDX-License-Identifier: MIT */
/* gatehousectl identity setup: sets up the identity provider. identity_transfer.c moves people. */
#include <stdio.h>
#include <stdlib.h>

#include "base/configuration.h"
#include "base/error.h"
#include "ctl/ctl_int.h"
#include "identity/provider_provision.h"
#include "service/runtime/startup.h"

static bool read_options(const struct run *run, struct provider_provision *setup)
{
    setup->as = ctl_value(run, "as");
    setup->secret_file = ctl_value(run, "secret-file");
    setup->session_token_file = ctl_value(run, "session-token-file");
    setup->name = ctl_value(run, "name");
    setup->shell = ctl_has(run, "shell");
    setup->show_secrets = ctl_has(run, "show-secrets");
    if ((setup->as == NULL) != (setup->secret_file == NULL)) {
        (void)ctl_usage(run, "--as and --secret-file go together");
        return false;
    }
    if (setup->shell && run->json) {
        (void)ctl_usage(run, "--json and --shell do not go together");
        return false;
    }
    if (setup->shell && ctl_has(run, "apply")) {
        (void)ctl_usage(run, "--apply and --shell do not go together");
        return false;
    }
    return true;
}

/* Where the steps of --apply go. */
struct output {
    struct ctl_json *json; /* NULL: as lines for people */
    bool wrong;
};

static void tell(void *context, enum provision_result deed, const char *sentence)
{
    struct output *output = context;
    output->wrong = output->wrong || deed == PROVISION_WRONG;
    if (output->json == NULL) {
        (void)printf("%-8s%s\n", provision_result_text(deed), sentence);
    } else {
        ctl_json_open(output->json, NULL, '{');
        ctl_json_text(output->json, "result", provision_result_text(deed));
        ctl_json_text(output->json, "message", sentence);
        ctl_json_close(output->json);
    }
    (void)fflush(stdout);
}

static struct error *apply_as_json(struct run *run, struct provider_provision *setup, struct output *output)
{
    struct ctl_json json = {.arena = run->arena};
    const char *settings = NULL;
    output->json = &json;
    ctl_json_open(&json, NULL, '{');
    ctl_json_open(&json, "items", '[');
    struct error *error = provider_provision_apply(run->arena, setup, &settings);
    ctl_json_close(&json);
    ctl_json_text(&json, "settings", error == NULL ? settings : NULL);
    ctl_json_boolean(&json, "complete", error == NULL);
    ctl_json_close(&json);
    output->json = NULL;
    return error;
}

static struct error *set_up(struct run *run, struct provider_provision *setup, struct output *output)
{
    const char *text = "";
    struct configuration *configuration;
    bool apply = ctl_has(run, "apply");
    TRY(startup_load(run->arena, run->config, NULL, &configuration));
    setup->configuration = configuration;
    if (apply && run->json)
        return apply_as_json(run, setup, output);
    if (apply)
        TRY(provider_provision_apply(run->arena, setup, &text));
    else
        TRY(provider_provision_describe(run->arena, setup, &text));
    (void)printf("%s%s", apply && *text != '\0' ? "\n" : "", text);
    return NULL;
}

static int run_setup(struct run *run)
{
    struct output output = {0};
    struct provider_provision setup = {.tell = tell, .context = &output};
    if (!read_options(run, &setup))
        return EXIT_USAGE;
    struct error *error = set_up(run, &setup, &output);
    if (error != NULL)
        return ctl_fail(error);
    return output.wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}

static const struct ctl_option options[] = {
    {"apply", NULL, "do it, instead of saying what is to be done", false},
    {"as", "NAME", "with --secret-file: sign in as this account or access key", false},
    {"secret-file", "FILE", "with --as: its password or secret key", false},
    {"session-token-file", "FILE", "the token of a session, where the key has one", false},
    {"name", "NAME", "how what is made is called", false},
    {"shell", NULL, "say it as the provider's own commands", false},
    {"show-secrets", NULL, "print secrets instead of where they are", false},
    {0},
};

const struct ctl_command ctl_identity_setup = {.name = "identity setup",
                                               .summary = "set up the identity provider",
                                               .options = options,
                                               .json = true,
                                               .run = run_setup};
