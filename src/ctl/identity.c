/* SPDX-License-Identifier: MIT */
/* gatehousectl identity: setting up the identity provider; moving people is in transfer.c. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/configuration.h"
#include "base/error.h"
#include "ctl/ctl_int.h"
#include "identity/provider_setup.h"
#include "service/setup.h"

#define USAGE                                                                                                          \
    "identity setup [--apply] [--as NAME] [--secret-file FILE] [--session-token-file FILE] [--name NAME] [--shell] "   \
    "[--show-secrets]"

struct options {
    struct provider_setup setup;
    bool apply;
};

static bool read_options(struct run *run, struct options *options)
{
    static const struct option table[] = {{"apply", no_argument, NULL, 'a'},
                                          {"as", required_argument, NULL, 'w'},
                                          {"secret-file", required_argument, NULL, 'f'},
                                          {"session-token-file", required_argument, NULL, 't'},
                                          {"name", required_argument, NULL, 'n'},
                                          {"shell", no_argument, NULL, 's'},
                                          {"show-secrets", no_argument, NULL, 'v'},
                                          {NULL, 0, NULL, 0}};
    struct provider_setup *setup = &options->setup;
    int option;
    optind = 1;
    while ((option = getopt_long(run->argc - 1, run->argv + 1, "", table, NULL)) != -1) {
        switch (option) {
        case 'a':
            options->apply = true;
            break;
        case 'w':
            setup->as = optarg;
            break;
        case 'f':
            setup->secret_file = optarg;
            break;
        case 't':
            setup->session_token_file = optarg;
            break;
        case 'n':
            setup->name = optarg;
            break;
        case 's':
            setup->shell = true;
            break;
        case 'v':
            setup->show_secrets = true;
            break;
        default:
            return false;
        }
    }
    return optind == run->argc - 1 && (setup->as == NULL) == (setup->secret_file == NULL) && !(options->apply && setup->shell);
}

static void tell(void *context, enum provider_deed deed, const char *sentence)
{
    bool *wrong = context;
    *wrong = *wrong || deed == PROVIDER_DEED_WRONG;
    (void)printf("%-8s%s\n", provider_deed_text(deed), sentence);
    (void)fflush(stdout);
}

static struct error *set_up(struct run *run, struct options *options)
{
    const char *text = "";
    struct configuration *configuration;
    TRY(setup_load(run->arena, run->config, NULL, &configuration));
    options->setup.configuration = configuration;
    if (options->apply)
        TRY(provider_setup_apply(run->arena, &options->setup, &text));
    else
        TRY(provider_setup_describe(run->arena, &options->setup, &text));
    (void)printf("%s%s", options->apply && *text != '\0' ? "\n" : "", text);
    return NULL;
}

int ctl_identity(struct run *run)
{
    bool wrong = false;
    struct options options = {.setup = {.tell = tell, .context = &wrong}};
    if (run->argc >= 2 && strcmp(run->argv[1], "export") == 0)
        return ctl_identity_export(run);
    if (run->argc >= 2 && strcmp(run->argv[1], "import") == 0)
        return ctl_identity_import(run);
    if (run->argc < 2 || strcmp(run->argv[1], "setup") != 0 || !read_options(run, &options))
        return ctl_usage(USAGE);
    struct error *error = set_up(run, &options);
    if (error != NULL)
        return ctl_fail(error);
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
