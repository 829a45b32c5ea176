/* SPDX-License-Identifier: MIT */
/*
 * Reads the command line by the row of the command: getopt_long() gets the row's options, --config, --help and --json.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/arena.h"
#include "ctl/ctl_int.h"

#define LETTER_HELP 'h'
#define LETTER_CONFIG 256
#define LETTER_JSON 257
#define LETTER_OWN 258 /* this and above: the row's options */

/* Options that every command has. */
#define COMMON_OPTIONS 3

static size_t count_options(const struct ctl_command *command)
{
    size_t count = 0;
    while (command->options != NULL && command->options[count].name != NULL)
        count++;
    return count;
}

/* ---- which command ------------------------------------------------------------------------------- */

/* How many words of the command's name the line begins with; 0: it is another command. */
static int match(const char *name, char **words)
{
    int count = 0;
    for (const char *at = name; *at != '\0'; count++) {
        size_t length = strcspn(at, " ");
        if (words[count] == NULL || strlen(words[count]) != length || strncmp(words[count], at, length) != 0)
            return 0;
        at += length;
        at += strspn(at, " ");
    }
    return count;
}

const struct ctl_command *ctl_find(const struct ctl_command *const *commands, char **words, int *words_out)
{
    const struct ctl_command *found = NULL;
    *words_out = 0;
    for (; *commands != NULL; commands++) {
        int count = match((*commands)->name, words);
        if (count > *words_out) {
            *words_out = count;
            found = *commands;
        }
    }
    return found;
}

/* ---- options ------------------------------------------------------------------------------------- */

static const struct option *make_table(struct run *run, const struct ctl_command *command)
{
    size_t count = count_options(command);
    struct option *table = arena_array(run->arena, count + COMMON_OPTIONS + 1, sizeof *table);
    for (size_t i = 0; i < count; i++)
        table[i] = (struct option){command->options[i].name,
                                   command->options[i].value != NULL ? required_argument : no_argument, NULL,
                                   LETTER_OWN + (int)i};
    table[count++] = (struct option){"help", no_argument, NULL, LETTER_HELP};
    table[count++] = (struct option){"config", required_argument, NULL, LETTER_CONFIG};
    if (command->json)
        table[count] = (struct option){"json", no_argument, NULL, LETTER_JSON};
    return table;
}

/* Prints what is wrong with an option. getopt's own sentences are off. Its ':' is an option without its value. */
static enum ctl_reading refuse_option(struct run *run, int letter, char **argv)
{
    const char *word = argv[optind - 1];
    if (letter == ':')
        (void)ctl_usage(run, "the option %s takes a value", word);
    else if (optopt >= LETTER_CONFIG || optopt == LETTER_HELP)
        (void)ctl_usage(run, "the option %s takes no value", word);
    else if (optopt > 0)
        (void)ctl_usage(run, "there is no option -%c", optopt);
    else
        (void)ctl_usage(run, "there is no option %s", word);
    return CTL_WRONG;
}

static enum ctl_reading read_options(struct run *run, int argc, char **argv, struct ctl_given *given)
{
    const struct option *table = make_table(run, run->command);
    int letter;
    opterr = 0;
    optind = 1;
    while ((letter = getopt_long(argc, argv, ":h", table, NULL)) != -1) {
        if (letter == LETTER_HELP)
            return CTL_HELP;
        if (letter == LETTER_CONFIG)
            run->config = optarg;
        else if (letter == LETTER_JSON)
            run->json = true;
        else if (letter >= LETTER_OWN)
            given[run->given_count++] = (struct ctl_given){run->command->options[letter - LETTER_OWN].name, optarg};
        else
            return refuse_option(run, letter, argv);
    }
    return CTL_READ;
}

static bool has_required(const struct run *run)
{
    for (size_t i = 0; i < count_options(run->command); i++)
        if (run->command->options[i].required && !ctl_has(run, run->command->options[i].name)) {
            (void)ctl_usage(run, "the option --%s is missing", run->command->options[i].name);
            return false;
        }
    return true;
}

static bool operands_are_right(const struct run *run)
{
    size_t maximum = 0;
    for (const char *at = run->command->operands; at != NULL && *at != '\0'; maximum++) {
        size_t length = strcspn(at, " ");
        if (*at != '[' && run->operand_count <= maximum) {
            (void)ctl_usage(run, "%.*s is missing", (int)length, at);
            return false;
        }
        at += length;
        at += strspn(at, " ");
    }
    if (run->operand_count > maximum) {
        (void)ctl_usage(run, "there is one word too many: %s", run->operands[maximum]);
        return false;
    }
    return true;
}

enum ctl_reading ctl_read(struct run *run, const struct ctl_command *command, int argc, char **argv)
{
    struct ctl_given *given = arena_array(run->arena, (size_t)argc + 1, sizeof *given);
    run->command = command;
    run->given = given;
    enum ctl_reading reading = read_options(run, argc, argv, given);
    if (reading != CTL_READ)
        return reading;
    run->operands = argv + optind;
    run->operand_count = (size_t)(argc - optind);
    return has_required(run) && operands_are_right(run) ? CTL_READ : CTL_WRONG;
}

/* ---- what was given ------------------------------------------------------------------------------ */

static const struct ctl_given *find_given(const struct run *run, const char *name)
{
    for (size_t i = run->given_count; i > 0; i--)
        if (strcmp(run->given[i - 1].name, name) == 0)
            return &run->given[i - 1];
    return NULL;
}

bool ctl_has(const struct run *run, const char *name)
{
    return find_given(run, name) != NULL;
}

const char *ctl_value(const struct run *run, const char *name)
{
    const struct ctl_given *given = find_given(run, name);
    return given == NULL ? NULL : given->value;
}

bool ctl_number(const struct run *run, const char *name, int64_t minimum, int64_t maximum, int64_t *number_out)
{
    const char *value = ctl_value(run, name);
    if (value == NULL || text_to_integer(value, minimum, maximum, number_out))
        return true;
    (void)ctl_usage(run, "--%s takes a whole number from %" PRId64 " to %" PRId64 ", not \"%s\"", name, minimum,
                    maximum, value);
    return false;
}

bool ctl_id(const struct run *run, size_t at, struct id *id_out)
{
    if (id_parse_given(run->operands[at], id_out))
        return true;
    (void)ctl_usage(run, "\"%s\" is no id", run->operands[at]);
    return false;
}

int ctl_usage(const struct run *run, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)fprintf(stderr, "gatehousectl: ");
    (void)vfprintf(stderr, format, arguments);
    (void)fprintf(stderr, "\n");
    va_end(arguments);
    ctl_help_usage(stderr, run->command);
    (void)fprintf(stderr, "\"gatehousectl %s --help\" explains it.\n", run->command->name);
    return EXIT_USAGE;
}
