/* SPDX-License-Identifier: MIT */
/*
 * Answers a shell that completes a command line: "gatehousectl complete WORD ...".
 *
 * The words are those behind "gatehousectl" up to the cursor; the last one is the beginning of what the operator types
 * now and may be empty. The answer has one line a candidate, with a tab and what it means behind it. A line ":files"
 * asks the shell for names of files. Everything comes from the rows of the commands, so no script of a shell knows a
 * command or an option.
 */
#include <stdlib.h>
#include <string.h>

#include "ctl/ctl_int.h"

/* A name of a command has two words at most. */
#define WORDS_OF_NAME 2

static const struct ctl_option common[] = {
    {"config", "FILE", "read this configuration", false}, {"help", NULL, "explain the command", false}, {0}};
static const struct ctl_option json[] = {{"json", NULL, "print JSON, for programs", false}, {0}};

/* What the words before the last one say. */
struct line {
    const struct ctl_command *command; /* NULL: not known yet */
    char *name[WORDS_OF_NAME + 1];     /* the words of the command so far */
    size_t name_count;
    size_t operand_count;
};

static void offer(const char *candidate, size_t length, const char *begun, const char *meaning)
{
    if (length >= strlen(begun) && strncmp(candidate, begun, strlen(begun)) == 0)
        (void)printf("%.*s\t%s\n", (int)length, candidate, meaning);
}

static void offer_options(const struct ctl_option *options, const char *begun)
{
    char text[64];
    for (; options != NULL && options->name != NULL; options++) {
        (void)snprintf(text, sizeof text, "--%s", options->name);
        offer(text, strlen(text), begun, options->help);
    }
}

/* FILE and DIRECTORY are names of files; "directory|s3" are words to choose from, in "N|none" only the last one is. */
static void offer_values(const char *value, const char *begun)
{
    if (strncmp(value, "FILE", 4) == 0 || strncmp(value, "DIRECTORY", 9) == 0)
        (void)printf(":files\n");
    for (const char *at = value; strchr(value, '|') != NULL && *at != '\0';) {
        size_t length = strcspn(at, "|");
        if (*at < 'A' || *at > 'Z')
            offer(at, length, begun, "");
        at += length;
        at += strspn(at, "|");
    }
}

static const struct ctl_option *find_option(const struct ctl_option *options, const char *word)
{
    for (; options != NULL && options->name != NULL; options++)
        if (strncmp(word, "--", 2) == 0 && strcmp(word + 2, options->name) == 0)
            return options;
    return NULL;
}

/* The option of this word that takes a value, or NULL. */
static const struct ctl_option *option_with_value(const struct line *line, const char *word)
{
    const struct ctl_option *found = find_option(common, word);
    if (found == NULL && line->command != NULL)
        found = find_option(line->command->options, word);
    return found != NULL && found->value != NULL ? found : NULL;
}

static void read_word(const struct ctl_command *const *commands, struct line *line, char *word)
{
    int words;
    if (word[0] == '-')
        return;
    if (line->command != NULL && line->name_count == WORDS_OF_NAME) {
        line->operand_count++;
        return;
    }
    if (line->name_count == WORDS_OF_NAME)
        return;
    line->name[line->name_count] = word;
    const struct ctl_command *longer = ctl_find(commands, line->name, &words);
    if (longer != NULL && (size_t)words == line->name_count + 1) {
        line->command = longer;
        line->name_count++;
    } else if (line->command != NULL) {
        line->name[line->name_count] = NULL;
        line->operand_count++;
    } else {
        line->name_count++;
    }
}

/* The next word of every command that begins with the words there are. */
static void offer_commands(const struct ctl_command *const *commands, const struct line *line, const char *begun)
{
    size_t given = line->name_count == 0 ? 0 : strlen(line->name[0]) + 1;
    const char *last = "";
    size_t last_length = 0;
    for (; *commands != NULL && line->name_count < WORDS_OF_NAME; commands++) {
        const char *name = (*commands)->name;
        if (given > 0 && (strncmp(name, line->name[0], given - 1) != 0 || name[given - 1] != ' '))
            continue;
        size_t length = strcspn(name + given, " ");
        bool whole = name[given + length] == '\0';
        if (length != last_length || strncmp(name + given, last, length) != 0)
            offer(name + given, length, begun, whole ? (*commands)->summary : "several commands");
        last = name + given;
        last_length = length;
    }
}

static void offer_operand(const struct line *line, const char *begun)
{
    const char *at = line->command->operands != NULL ? line->command->operands : "";
    for (size_t i = 0; i < line->operand_count && *at != '\0'; i++) {
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    at += strspn(at, "[");
    offer_values(at, begun);
}

void ctl_complete(const struct ctl_command *const *commands, int argc, char **argv)
{
    struct line line = {0};
    const char *begun = argc > 0 ? argv[argc - 1] : "";
    const struct ctl_option *before = NULL;
    for (int i = 0; i < argc - 1; i++) {
        if (before == NULL)
            read_word(commands, &line, argv[i]);
        before = before == NULL ? option_with_value(&line, argv[i]) : NULL;
    }
    if (before != NULL) {
        offer_values(before->value, begun);
    } else if (begun[0] == '-') {
        offer_options(line.command != NULL ? line.command->options : NULL, begun);
        offer_options(line.command != NULL && line.command->json ? json : NULL, begun);
        offer_options(common, begun);
    } else {
        offer_commands(commands, &line, begun);
        if (line.command != NULL)
            offer_operand(&line, begun);
    }
}
