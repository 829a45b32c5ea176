/* SPDX-License-Identifier: MIT */
/* Prints help and usage, from the commands' rows. */
#include <string.h>

#include "ctl/ctl_int.h"

#define NAME_WIDTH 22

static void print_option(FILE *stream, const struct ctl_option *option)
{
    char text[96];
    (void)snprintf(text, sizeof text, "--%s%s%s", option->name, option->value != NULL ? " " : "",
                   option->value != NULL ? option->value : "");
    (void)fprintf(stream, "  %-*s %s%s\n", NAME_WIDTH, text, option->help, option->required ? " (required)" : "");
}

void ctl_help_usage(FILE *stream, const struct ctl_command *command)
{
    (void)fprintf(stream, "usage: gatehousectl [--config FILE] %s", command->name);
    if (command->operands != NULL)
        (void)fprintf(stream, " %s", command->operands);
    for (const struct ctl_option *option = command->options; option != NULL && option->name != NULL; option++)
        (void)fprintf(stream, " %s--%s%s%s%s", option->required ? "" : "[", option->name,
                      option->value != NULL ? " " : "", option->value != NULL ? option->value : "",
                      option->required ? "" : "]");
    (void)fprintf(stream, "%s\n", command->json ? " [--json]" : "");
}

void ctl_help(FILE *stream, const struct ctl_command *command)
{
    static const struct ctl_option common[] = {
        {"config", "FILE", "read this configuration", false},
        {"help", NULL, "print this", false},
    };
    static const struct ctl_option json = {"json", NULL, "print JSON, for programs", false};
    ctl_help_usage(stream, command);
    (void)fprintf(stream, "\nThe command %s: %s.\n\n", command->name, command->summary);
    for (const struct ctl_option *option = command->options; option != NULL && option->name != NULL; option++)
        print_option(stream, option);
    if (command->json)
        print_option(stream, &json);
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        print_option(stream, &common[i]);
    (void)fprintf(stream, "\nSee gatehousectl(8).\n");
}

static bool is_of_group(const char *name, const char *group)
{
    size_t length = strlen(group);
    return strncmp(name, group, length) == 0 && name[length] == ' ';
}

bool ctl_is_group(const struct ctl_command *const *commands, const char *word)
{
    for (; *commands != NULL; commands++)
        if (is_of_group((*commands)->name, word))
            return true;
    return false;
}

void ctl_help_all(FILE *stream, const struct ctl_command *const *commands, const char *group)
{
    (void)fprintf(stream, "usage: gatehousectl [--config FILE] %s%sCOMMAND [OPTION ...]\n\n",
                  group != NULL ? group : "", group != NULL ? " " : "");
    for (; *commands != NULL; commands++)
        if (group == NULL || is_of_group((*commands)->name, group))
            (void)fprintf(stream, "  %-*s %s\n", NAME_WIDTH, (*commands)->name, (*commands)->summary);
    (void)fprintf(stream, "\n\"gatehousectl COMMAND --help\" explains one. See gatehousectl(8).\n");
}
