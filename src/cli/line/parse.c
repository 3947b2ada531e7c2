/* SPDX-License-Identifier: Apache-2.0 */
/* parse.c — a verb's words to struct vv_arguments, by getopt_long fed from the table of options.
 *
 * getopt knows every option, so that one which exists but does not belong to the verb is told apart from
 * one that does not exist. Not thread-safe, as getopt is not. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli/line/arguments.h"

#define VALUE_FIRST 256 /* getopt's values of long options: VALUE_FIRST + row                   */

struct parser {
    const struct vv_verb *verb;
    struct option long_options[VV_OPTION_COUNT + 2];
    char letters[2 * VV_OPTION_COUNT + 4];
};

/* "+" for verbs whose operands are a command line of their own: its options are not ours. */
static void parser_init(struct parser *parser, const struct vv_verb *verb)
{
    memset(parser, 0, sizeof *parser);
    parser->verb = verb;
    char *letter = parser->letters;
    if (strncmp(verb->operands, "-- ", 3) == 0)
        *letter++ = '+';
    *letter++ = ':';
    for (int row = 0; row < VV_OPTION_COUNT; row++) {
        bool has_value = vv_options[row].kind != VV_VALUE_FLAG;
        parser->long_options[row] = (struct option){
            vv_options[row].name, has_value ? required_argument : no_argument, NULL, VALUE_FIRST + row
        };
        if (vv_options[row].letter == '\0')
            continue;
        *letter++ = vv_options[row].letter;
        if (has_value)
            *letter++ = ':';
    }
    /* What one step is called by; getopt would find it ambiguous. */
    parser->long_options[VV_OPTION_COUNT] = parser->long_options[VV_OPTION_STEPS];
    parser->long_options[VV_OPTION_COUNT].name = "step";
}

static const struct vv_option *option_of(int value)
{
    if (value >= VALUE_FIRST)
        return &vv_options[value - VALUE_FIRST];
    for (int row = 0; row < VV_OPTION_COUNT; row++)
        if (vv_options[row].letter == value)
            return &vv_options[row];
    return NULL;
}

static enum varve_code no_such_option(const struct parser *parser, const char *word,
                                      struct varve_error *error)
{
    char name[64];
    const char *list[VV_OPTION_COUNT + 1];
    size_t count = 0, length = strcspn(word, "=");
    if (word[1] != '-') /* one letter, perhaps of several in one word */
        VV_FAIL(error, VARVE_INVALID, "%s has no option '-%c'", parser->verb->name, optopt);
    for (int row = 0; row < VV_OPTION_COUNT; row++)
        if ((parser->verb->takes & vv_options[row].bit) != 0 && vv_options[row].help != NULL)
            list[count++] = vv_options[row].name;
    list[count] = NULL;
    snprintf(name, sizeof name, "%.*s", (int)(length > 60 ? 60 : length - 2), word + 2);
    const char *nearest = vv_nearest(name, list);
    if (nearest != NULL)
        VV_FAIL_SAID(error, VARVE_INVALID, "%s has no option '--%s'. Nearest: --%s", parser->verb->name, name,
                     nearest);
    VV_FAIL(error, VARVE_INVALID, "%s has no option '--%s'", parser->verb->name, name);
}

static enum varve_code refused(const struct parser *parser, const char *word, struct varve_error *error)
{
    const struct vv_option *option = optopt != 0 ? option_of(optopt) : NULL;
    if (option != NULL && option->kind == VV_VALUE_FLAG)
        VV_FAIL(error, VARVE_INVALID, "--%s takes no value", option->name);
    return no_such_option(parser, word, error);
}

static enum varve_code not_a_choice(const struct vv_option *option, const char *value,
                                    struct varve_error *error)
{
    const char *nearest = vv_nearest(value, option->choices);
    (void)vv_fail(error, VARVE_INVALID, "--%s is one of", option->name);
    for (const char *const *choice = option->choices; *choice != NULL; choice++)
        vv_error_add(error, " %s%s", *choice, choice[1] != NULL ? "," : "");
    vv_error_add(error, "; not '%.60s'%s%s", value, nearest != NULL ? ". Nearest: " : "",
                 nearest != NULL ? nearest : "");
    return vv_with_next(error, nearest != NULL ? VV_NEXT_IS_SAID : VV_NEXT_BY_CODE, VARVE_INVALID);
}

static enum varve_code set_integer(const struct vv_option *option, const char *text, int64_t *out_value,
                                   struct varve_error *error)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0)
        VV_FAIL(error, VARVE_INVALID, "--%s wants a whole number, 0 or more, not '%.60s'", option->name,
                text);
    *out_value = value;
    return VARVE_OK;
}

static enum varve_code set_value(const struct vv_option *option, const char *text,
                                 struct vv_arguments *arguments, struct varve_error *error)
{
    void *place = (char *)arguments + option->offset;
    if (option->kind == VV_VALUE_FLAG) {
        *(bool *)place = true;
        return VARVE_OK;
    }
    if (option->kind == VV_VALUE_INT)
        return set_integer(option, text, place, error);
    bool is_known = option->kind != VV_VALUE_CHOICE;
    for (size_t i = 0; !is_known && option->choices[i] != NULL; i++)
        is_known = strcmp(option->choices[i], text) == 0;
    if (!is_known)
        return not_a_choice(option, text, error);
    *(const char **)place = text;
    return VARVE_OK;
}

static enum varve_code apply(const struct parser *parser, int value, struct vv_arguments *arguments,
                             struct varve_error *error)
{
    const struct vv_option *option = option_of(value);
    if ((parser->verb->takes & option->bit) == 0)
        VV_FAIL(error, VARVE_INVALID, "%s does not take --%s", parser->verb->name, option->name);
    arguments->said |= option->bit;
    return set_value(option, optarg, arguments, error);
}

static enum varve_code set_standards(struct vv_arguments *arguments, struct varve_error *error)
{
    memset(arguments, 0, sizeof *arguments);
    for (int row = 0; row < VV_OPTION_COUNT; row++)
        if (vv_options[row].standard != NULL)
            VV_TRY(set_value(&vv_options[row], vv_options[row].standard, arguments, error));
    return VARVE_OK;
}

enum varve_code vv_arguments_parse(const struct vv_verb *verb, int argc, char **argv,
                                   struct vv_arguments *out_arguments, struct varve_error *error)
{
    struct parser parser;
    parser_init(&parser, verb);
    VV_TRY(set_standards(out_arguments, error));
    optind = 0; /* glibc: start anew */
    opterr = 0;
    for (;;) {
        int former = optind > 0 ? optind : 1;
        int value = getopt_long(argc, argv, parser.letters, parser.long_options, NULL);
        if (value == -1)
            break;
        /* Within a bundle of letters optind has not moved on yet. */
        const char *word = optind > former ? argv[optind - 1] : argv[former];
        if (value == ':')
            VV_FAIL(error, VARVE_INVALID, "--%s wants a value: --%s %s", option_of(optopt)->name,
                    option_of(optopt)->name, option_of(optopt)->value);
        if (value == '?')
            return refused(&parser, word, error);
        VV_TRY(apply(&parser, value, out_arguments, error));
    }
    out_arguments->main_table = verb->table;
    out_arguments->operands = argv + optind;
    out_arguments->operand_count = (size_t)(argc - optind);
    out_arguments->operands_after_dashes = optind > 1 && strcmp(argv[optind - 1], "--") == 0;
    return VARVE_OK;
}
