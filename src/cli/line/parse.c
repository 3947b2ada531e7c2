/* SPDX-License-Identifier: Apache-2.0 */
/* parse.c — parses a verb's words into struct vv_arguments, with getopt_long and the table of
 * options.
 *
 * getopt gets every option. So an option that the verb does not take can be told apart from an
 * unknown one. Not thread-safe, because getopt is not. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli/line/arguments.h"

#define VALUE_FIRST 256 /* getopt's value for a long option: VALUE_FIRST + row                  */

struct parser {
    const struct vv_line *line;
    const struct vv_verb *verb;
    struct option *long_options; /* two names for each option, and the end                     */
    char *letters;               /* "+:", and two characters for each option                    */
    const char **names;          /* room for one for each option, and the end                   */
};

static void parser_deinit(struct parser *parser)
{
    free(parser->long_options);
    free(parser->letters);
    free(parser->names);
}

static void add_long(struct option **next, const char *name, bool has_value, int row)
{
    *(*next)++ = (struct option){ name, has_value ? required_argument : no_argument, NULL,
                                  VALUE_FIRST + row };
}

/* Begins with "+" if the verb's operands are a command line, whose options belong to the
 * program. */
static void describe(struct parser *parser)
{
    struct option *next = parser->long_options;
    char *letter = parser->letters;
    if (strncmp(parser->verb->operands, "-- ", 3) == 0)
        *letter++ = '+';
    *letter++ = ':';
    for (int row = 0; row < parser->line->option_count; row++) {
        const struct vv_option *option = &parser->line->options[row];
        bool has_value = option->kind != VV_VALUE_FLAG;
        add_long(&next, option->name, has_value, row);
        if (option->also != NULL)
            add_long(&next, option->also, has_value, row);
        if (option->letter == '\0')
            continue;
        *letter++ = option->letter;
        if (has_value)
            *letter++ = ':';
    }
}

static enum varve_code parser_init(struct parser *parser, const struct vv_line *line,
                                   const struct vv_verb *verb, struct varve_error *error)
{
    const size_t count = (size_t)line->option_count;
    *parser = (struct parser){
        .line = line, .verb = verb,
        .long_options = calloc(2 * count + 1, sizeof *parser->long_options),
        .letters = calloc(2 * count + 3, 1),
        .names = calloc(count + 1, sizeof *parser->names),
    };
    if (parser->long_options == NULL || parser->letters == NULL || parser->names == NULL) {
        parser_deinit(parser);
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the options of %s", verb->name);
    }
    describe(parser);
    return VARVE_OK;
}

/* The row for a result of getopt; -1: no option. */
static int row_of(const struct vv_line *line, int value)
{
    if (value >= VALUE_FIRST)
        return value - VALUE_FIRST;
    int row = line->option_count - 1;
    while (row >= 0 && line->options[row].letter != value)
        row--;
    return row;
}

static enum varve_code no_such_option(const struct parser *parser, const char *word,
                                      struct varve_error *error)
{
    char name[64];
    const struct vv_option *options = parser->line->options;
    size_t count = 0, length = strcspn(word, "=");
    if (word[1] != '-') /* a letter, perhaps one of several in a word */
        VV_FAIL(error, VARVE_INVALID, "%s has no option '-%c'", parser->verb->name, optopt);
    for (int row = 0; row < parser->line->option_count; row++)
        if (options[row].help != NULL && vv_verb_takes(parser->verb, row))
            parser->names[count++] = options[row].name;
    snprintf(name, sizeof name, "%.*s", (int)(length > 60 ? 60 : length - 2), word + 2);
    const char *nearest = vv_nearest(name, parser->names);
    if (nearest != NULL)
        VV_FAIL_SAID(error, VARVE_INVALID, "%s has no option '--%s'. Nearest: --%s",
                     parser->verb->name, name, nearest);
    VV_FAIL(error, VARVE_INVALID, "%s has no option '--%s'", parser->verb->name, name);
}

static enum varve_code refused(const struct parser *parser, const char *word,
                               struct varve_error *error)
{
    int row = optopt != 0 ? row_of(parser->line, optopt) : -1;
    if (row >= 0 && parser->line->options[row].kind == VV_VALUE_FLAG)
        VV_FAIL(error, VARVE_INVALID, "--%s takes no value", parser->line->options[row].name);
    return no_such_option(parser, word, error);
}

static enum varve_code not_a_choice(const struct vv_option *option, const char *value,
                                    struct varve_error *error)
{
    const char *nearest = vv_nearest(value, option->choices);
    for (size_t i = 0; option->meant != NULL && option->meant[i] != NULL; i += 2)
        if (strcmp(option->meant[i], value) == 0)
            VV_FAIL_SAID(error, VARVE_INVALID, "what %s opens is written by --%s %s", value,
                         option->name, option->meant[i + 1]);
    (void)vv_fail(error, VARVE_INVALID, "--%s is one of", option->name);
    for (const char *const *choice = option->choices; *choice != NULL; choice++)
        vv_error_add(error, " %s%s", *choice, choice[1] != NULL ? "," : "");
    vv_error_add(error, "; not '%.60s'%s%s", value, nearest != NULL ? ". Nearest: " : "",
                 nearest != NULL ? nearest : "");
    return vv_with_next(error, nearest != NULL ? VV_NEXT_IS_SAID : VV_NEXT_BY_CODE, VARVE_INVALID);
}

static bool is_choice(const struct vv_option *option, const char *text, size_t length)
{
    for (size_t i = 0; option->choices[i] != NULL; i++)
        if (strlen(option->choices[i]) == length && memcmp(option->choices[i], text, length) == 0)
            return true;
    return false;
}

/* Words with commas between. */
static bool are_choices(const struct vv_option *option, const char *text)
{
    for (;; text++) {
        size_t length = strcspn(text, ",");
        if (!is_choice(option, text, length))
            return false;
        text += length;
        if (*text == '\0')
            return true;
    }
}

static enum varve_code set_integer(const struct vv_option *option, const char *text,
                                   int64_t *out_value, struct varve_error *error)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0)
        VV_FAIL(error, VARVE_INVALID, "--%s wants a whole number, 0 or more, not '%.60s'",
                option->name, text);
    *out_value = value;
    return VARVE_OK;
}

static enum varve_code set_value(const struct vv_line *line, int row, const char *text,
                                 struct varve_error *error)
{
    const struct vv_option *option = &line->options[row];
    void *place = (char *)line->values + option->offset;
    if (option->kind == VV_VALUE_FLAG) {
        *(bool *)place = true;
        return VARVE_OK;
    }
    if (option->kind == VV_VALUE_INT)
        return set_integer(option, text, place, error);
    bool is_known = option->kind == VV_VALUE_CHOICES
                        ? are_choices(option, text)
                        : option->kind != VV_VALUE_CHOICE ||
                              is_choice(option, text, strlen(text));
    if (!is_known)
        return not_a_choice(option, text, error);
    *(const char **)place = text;
    return VARVE_OK;
}

/* Two options may have one name, if no verb takes both: --top 10 and --top 80%. */
static int taken_row(const struct parser *parser, int row)
{
    const struct vv_option *options = parser->line->options;
    for (int other = 0; other < parser->line->option_count; other++)
        if (vv_verb_takes(parser->verb, other) &&
            strcmp(options[other].name, options[row].name) == 0)
            return other;
    return row;
}

static enum varve_code apply(const struct parser *parser, int row, struct varve_error *error)
{
    row = taken_row(parser, row);
    if (!vv_verb_takes(parser->verb, row))
        VV_FAIL(error, VARVE_INVALID, "%s does not take --%s", parser->verb->name,
                parser->line->options[row].name);
    parser->line->said[row] = true;
    return set_value(parser->line, row, optarg, error);
}

static enum varve_code set_standards(const struct vv_line *line, struct varve_error *error)
{
    for (int row = 0; row < line->option_count; row++)
        if (line->options[row].standard != NULL)
            VV_TRY(set_value(line, row, line->options[row].standard, error));
    return VARVE_OK;
}

static enum varve_code wants_value(const struct vv_option *option, struct varve_error *error)
{
    VV_FAIL(error, VARVE_INVALID, "--%s wants a value: --%s %s", option->name, option->name,
            option->value);
}

static enum varve_code parse_words(const struct parser *parser, int argc, char **argv,
                                   struct varve_error *error)
{
    optind = 0; /* glibc: start again */
    opterr = 0;
    for (;;) {
        int former = optind > 0 ? optind : 1;
        int value = getopt_long(argc, argv, parser->letters, parser->long_options, NULL);
        if (value == -1)
            return VARVE_OK;
        /* Inside a bundle of letters, optind has not moved on yet. */
        const char *word = optind > former ? argv[optind - 1] : argv[former];
        if (value == ':')
            return wants_value(&parser->line->options[row_of(parser->line, optopt)], error);
        if (value == '?')
            return refused(parser, word, error);
        VV_TRY(apply(parser, row_of(parser->line, value), error));
    }
}

enum varve_code vv_line_parse(const struct vv_line *line, const struct vv_verb *verb, int argc,
                              char **argv, int *out_first_operand, struct varve_error *error)
{
    struct parser parser;
    VV_TRY(set_standards(line, error));
    VV_TRY(parser_init(&parser, line, verb, error));
    enum varve_code code = parse_words(&parser, argc, argv, error);
    parser_deinit(&parser);
    if (code == VARVE_OK)
        *out_first_operand = optind;
    return code;
}

enum varve_code vv_arguments_parse(const struct vv_verb *verb, int argc, char **argv,
                                   struct vv_arguments *out_arguments, struct varve_error *error)
{
    int first = argc;
    memset(out_arguments, 0, sizeof *out_arguments);
    const struct vv_line line = { vv_options, VV_OPTION_COUNT, out_arguments, out_arguments->said };
    VV_TRY(vv_line_parse(&line, verb, argc, argv, &first, error));
    out_arguments->main_table = verb->table;
    out_arguments->operands = argv + first;
    out_arguments->operand_count = (size_t)(argc - first);
    out_arguments->operands_after_dashes = first > 1 && strcmp(argv[first - 1], "--") == 0;
    return VARVE_OK;
}
