/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/pages/help.h"

#include <string.h>

#include "analyse/advice/rules/rules.h"
#include "base/text/shell_word.h"
#include "cli/pages/documents.h"
#include "question/question.h"

#define LINE_WIDTH 80
#define NAME_WIDTH 26
#define COMMAND_WIDTH 42 /* of an example */

#define EXITS(no)                                                                                  \
    {                                                                                              \
        { VV_EXIT_DONE, "done" },                                                                  \
        { VV_EXIT_NO, "done, and the answer is no" no },                                           \
        { VV_EXIT_USAGE, "the command line is wrong" },                                            \
        { VV_EXIT_INPUT, "the input cannot be read: missing, not a known trace, corrupt" },        \
        { VV_EXIT_OUTPUT, "the output cannot be written" },                                        \
        { VV_EXIT_LACKING, "this machine or build lacks what was asked" },                         \
        { VV_EXIT_OURS, "a bug of varve" },                                                        \
        { 0, NULL },                                                                               \
    }
static const struct vv_exit_meaning exits[] = EXITS("");
static const struct vv_exit_meaning strict_exits[] = EXITS(": --strict found loss");
static const struct vv_exit_meaning diff_exits[] =
    EXITS(": --strict found loss, --fail-over slower steps");

static const struct vv_exit_meaning record_exits[] = {
    { VV_EXIT_RECORD, "varve itself failed before the program started" },
    { VV_EXIT_NOT_EXECUTABLE, "the program cannot be executed" },
    { VV_EXIT_NO_PROGRAM, "there is no such program" },
    { 128, "plus N: signal N ended the program" },
    { 0, NULL },
};

const struct vv_exit_meaning *vv_help_exits(const struct vv_verb *verb)
{
    return verb->exits_as_program                         ? record_exits
           : vv_verb_takes(verb, VV_OPTION_FAIL_OVER) ? diff_exits
           : vv_verb_takes(verb, VV_OPTION_STRICT)    ? strict_exits
                                                      : exits;
}

/* Prints the words of `text` from column `column` on; further lines are indented to `indent`. */
static void put_wrapped(FILE *stream, const char *text, size_t column, size_t indent)
{
    while (*text != '\0') {
        size_t length = strcspn(text, " ");
        if (column > indent && column + 1 + length > LINE_WIDTH) {
            putc('\n', stream);
            column = 0;
        } else if (column > indent) {
            putc(' ', stream);
            column++;
        }
        if (column < indent) {
            fprintf(stream, "%*s", (int)(indent - column), "");
            column = indent;
        }
        fwrite(text, 1, length, stream);
        column += length;
        text += length + strspn(text + length, " ");
    }
    putc('\n', stream);
}

void vv_help_option_name(const struct vv_option *option, char *out_text, size_t capacity)
{
    char letter[8] = "";
    if (option->letter != '\0')
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(out_text, capacity, "%s--%s%s%s", letter, option->name,
             option->value != NULL ? " " : "", option->value != NULL ? option->value : "");
}

void vv_help_option_text(const struct vv_verb *verb, int row, char *out_text, size_t capacity)
{
    const struct vv_option *option = &vv_options[row];
    int length = snprintf(out_text, capacity, "%s", vv_verb_option_help(verb, row));
    for (size_t i = 0; option->choices != NULL && option->choices[i] != NULL; i++)
        if (length >= 0 && (size_t)length < capacity)
            length += snprintf(out_text + length, capacity - (size_t)length, "%s%s",
                               i == 0 ? ": " : ", ", option->choices[i]);
    if (option->standard != NULL && length >= 0 && (size_t)length < capacity)
        snprintf(out_text + length, capacity - (size_t)length, " (%s)", option->standard);
}

static void put_options(FILE *stream, const struct vv_verb *verb, bool shared, const char *heading)
{
    char name[80], text[300];
    for (int row = 0; row < VV_OPTION_COUNT; row++) {
        if (!vv_verb_shows(verb, row) || vv_option_is_shared(verb, row) != shared)
            continue;
        fputs(heading, stream);
        heading = "";
        vv_help_option_name(&vv_options[row], name, sizeof name);
        vv_help_option_text(verb, row, text, sizeof text);
        int column = fprintf(stream, "  %-*s  ", NAME_WIDTH, name);
        put_wrapped(stream, text, (size_t)column, NAME_WIDTH + 4);
    }
}

static void put_usage(FILE *stream, const struct vv_verb *verb)
{
    fprintf(stream, "  varve %s [options]%s%s\n", verb->name, *verb->operands != '\0' ? " " : "",
            verb->operands);
}

/* What it does is beside a short command, and below a long one. */
static void put_example(FILE *stream, const struct vv_example *example)
{
    bool is_beside = strlen(example->command) <= COMMAND_WIDTH;
    if (is_beside)
        fprintf(stream, "  %-*s  ", COMMAND_WIDTH, example->command);
    else
        fprintf(stream, "  %s\n", example->command);
    put_wrapped(stream, example->says, is_beside ? COMMAND_WIDTH + 4 : 0,
                is_beside ? COMMAND_WIDTH + 4 : 6);
}

void vv_help_verb(FILE *stream, const struct vv_verb *verb)
{
    fprintf(stream, "varve %s — %s\n\n", verb->name, verb->summary);
    put_usage(stream, verb);
    putc('\n', stream);
    put_wrapped(stream, verb->description, 0, 0);
    put_options(stream, verb, false, "\nOptions, with the default in brackets:\n");
    put_options(stream, verb, true, "\nOptions of most verbs:\n");
    fputs("\nExamples:\n", stream);
    for (const struct vv_example *example = verb->examples; example->command != NULL; example++)
        put_example(stream, example);
    fputs("\nExit codes:\n", stream);
    if (verb->exits_as_program)
        fputs("  the program's own, or\n", stream);
    for (const struct vv_exit_meaning *exit = vv_help_exits(verb); exit->meaning != NULL; exit++)
        fprintf(stream, "  %3d  %s\n", exit->code, exit->meaning);
    if (vv_verb_takes(verb, VV_OPTION_TABLE) && verb->table != NULL)
        fprintf(stream, "\nWhat its columns are: varve help table %s, and varve help tables\n",
                verb->table);
}

void vv_help_overview(FILE *stream, const struct vv_verb *verbs)
{
    const char *group = "";
    fputs("varve — operator-level profiler for machine-learning programs\n\n"
          "  varve record -- python train.py      run and record; writes train.varve\n"
          "  varve report                         where the time went\n",
          stream);
    for (const struct vv_verb *verb = verbs; verb->name != NULL; verb++) {
        if (strcmp(verb->group, group) == 0) {
            fprintf(stream, "  %s", verb->name);
            continue;
        }
        group = verb->group;
        char heading[32];
        snprintf(heading, sizeof heading, "%s:", group);
        fprintf(stream, "\n%-11s%s", heading, verb->name);
    }
    fputs("\n\nvarve help VERB for more · varve help tables · varve help --all for everything\n",
          stream);
}

void vv_help_all(FILE *stream, const struct vv_verb *verbs)
{
    vv_help_overview(stream, verbs);
    for (const struct vv_verb *verb = verbs; verb->name != NULL; verb++) {
        fputs("\n────────────────────────────────────────\n\n", stream);
        vv_help_verb(stream, verb);
    }
}

void vv_help_tables(FILE *stream)
{
    fputs("varve report --table NAME TRACE prints one of these, whatever the trace is:\n\n",
          stream);
    for (const struct vv_table_entry *table = vv_tables; table->name != NULL; table++) {
        fprintf(stream, "  %-*s", NAME_WIDTH - 2, table->name);
        put_wrapped(stream, table->says, NAME_WIDTH, NAME_WIDTH);
    }
    fputs("\nvarve help TABLE says what its columns are, and what its numbers cover.\n", stream);
}

void vv_help_filter(FILE *stream)
{
    struct vv_passage section;
    fputs("--filter EXPR keeps the operators and the device work for which EXPR holds.\n\n",
          stream);
    if (vv_document_section("--filter", &section))
        vv_document_print(stream, &section, LINE_WIDTH, false);
}

void vv_help_rules(FILE *stream)
{
    fputs("What LOOK FIRST of varve report looks for. Each rule measures a column of a table:\n"
          "a share, or a number of its own unit. `when` says where a rule is asked at all.\n",
          stream);
    for (size_t i = 0; i < vv_rules_count(); i++) {
        const struct vv_rule *rule = vv_rule_at(i);
        const struct vv_table_entry *table = vv_tables;
        char measure[200];
        while (table->name != NULL && table->analyse != rule->is.table)
            table++;
        const char *whole = rule->is.whole != NULL ? rule->is.whole : "";
        snprintf(measure, sizeof measure, "%s of table %s: at least %g%s%s", rule->is.part,
                 table->name, rule->is.least, whole[0] != '\0' ? " of " : "", whole);
        fprintf(stream, "\n  %-*s ", NAME_WIDTH - 3, rule->name);
        put_wrapped(stream, measure, NAME_WIDTH, NAME_WIDTH);
        if (rule->bound != NULL)
            fprintf(stream, "%*swhen %g %% of the steps or more are bound by %s\n", NAME_WIDTH, "",
                    100 * rule->bound_least, rule->bound);
        if (rule->unless != NULL)
            fprintf(stream, "%*sunless %s speaks\n", NAME_WIDTH, "", rule->unless);
        fprintf(stream, "%*s", NAME_WIDTH, "");
        put_wrapped(stream, rule->because, NAME_WIDTH, NAME_WIDTH);
        fprintf(stream, "%*ssee: %s", NAME_WIDTH, "", rule->see);
        if (rule->filter != NULL) {
            fputs(" --filter ", stream);
            vv_shell_word_put(stream, rule->filter);
        }
        putc('\n', stream);
    }
}
