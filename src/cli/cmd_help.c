/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_help.c — varve help: prints the overview, a verb, a table, a topic, everything, or a page for
 * man. A word that is a verb and a table means the verb; `varve help table WORD` means the
 * table. */
#include <string.h>

#include "cli/pages/find_verb.h"
#include "cli/pages/help.h"
#include "cli/reading/output.h"

static const struct {
    const char *name;
    void (*print)(FILE *stream);
} topics[] = { { "tables", vv_help_tables }, { "rules", vv_help_rules },
               { "filter", vv_help_filter } };
enum { TOPICS = sizeof topics / sizeof *topics, WORDS_MAX = 160 };

static const struct vv_table_entry *find_table(const char *name)
{
    for (const struct vv_table_entry *table = vv_tables; table->name != NULL; table++)
        if (strcmp(table->name, name) == 0)
            return table;
    return NULL;
}

static int refuse(const struct vv_verb *verbs, const char *word)
{
    struct varve_error error;
    const char *words[WORDS_MAX + 1];
    size_t count = 0;
    for (const struct vv_verb *verb = verbs; verb->name != NULL && count < WORDS_MAX; verb++)
        words[count++] = verb->name;
    for (size_t i = 0; i < TOPICS && count < WORDS_MAX; i++)
        words[count++] = topics[i].name;
    for (const struct vv_table_entry *table = vv_tables; table->name != NULL && count < WORDS_MAX;
         table++)
        words[count++] = table->name;
    words[count] = NULL;
    const char *nearest = vv_nearest(word, words);
    if (nearest != NULL)
        (void)vv_fail(&error, VARVE_INVALID, "no verb and no table '%.60s'. Nearest: %s", word,
                      nearest);
    else
        (void)vv_fail(&error, VARVE_INVALID,
                      "no verb and no table '%.60s'. Verbs: varve help; tables: varve help tables",
                      word);
    return vv_print_error(&error);
}

static int print_table(FILE *stream, const struct vv_table_entry *table)
{
    struct varve_error error;
    if (vv_help_table(stream, table, &error) != VARVE_OK)
        return vv_print_error(&error);
    return VV_EXIT_DONE;
}

static int print_verb(FILE *stream, const struct vv_arguments *arguments,
                      const struct vv_verb *verb)
{
    if (arguments->man)
        vv_man_verb(stream, arguments->verbs, verb);
    else
        vv_help_verb(stream, verb);
    return VV_EXIT_DONE;
}

static int print_page(FILE *stream, const struct vv_arguments *arguments, const char *name)
{
    const struct vv_verb *verb = vv_verb_find(arguments->verbs, name);
    const struct vv_table_entry *table = find_table(name);
    if (verb != NULL)
        return print_verb(stream, arguments, verb);
    for (size_t i = 0; i < TOPICS; i++)
        if (strcmp(topics[i].name, name) == 0) {
            topics[i].print(stream);
            return VV_EXIT_DONE;
        }
    if (table != NULL)
        return print_table(stream, table);
    return vv_help_listed_table(stream, name) ? VV_EXIT_DONE : refuse(arguments->verbs, name);
}

static int print_overview(FILE *stream, const struct vv_arguments *arguments)
{
    if (arguments->man)
        vv_man_overview(stream, arguments->verbs);
    else if (arguments->all)
        vv_help_all(stream, arguments->verbs);
    else
        vv_help_overview(stream, arguments->verbs);
    return VV_EXIT_DONE;
}

static int print(FILE *stream, const struct vv_arguments *arguments)
{
    struct varve_error error;
    const struct vv_table_entry *table;
    bool wants_table =
        arguments->operand_count == 2 && strcmp(arguments->operands[0], "table") == 0;
    if (arguments->operand_count > 1 && !wants_table) {
        (void)vv_fail(&error, VARVE_INVALID, "help wants one word: after '%.60s' came '%.60s'",
                      arguments->operands[0], arguments->operands[1]);
        return vv_print_error(&error);
    }
    if (wants_table && find_table(arguments->operands[1]) == NULL &&
        vv_help_listed_table(stream, arguments->operands[1]))
        return VV_EXIT_DONE;
    if (wants_table && vv_table_find(arguments->operands[1], &table, &error) != VARVE_OK)
        return vv_print_error(&error);
    if (wants_table)
        return print_table(stream, table);
    if (arguments->operand_count == 0 || strcmp(arguments->operands[0], "varve") == 0)
        return print_overview(stream, arguments);
    return print_page(stream, arguments, arguments->operands[0]);
}

vv_run_verb vv_cmd_help;

int vv_cmd_help(const struct vv_arguments *arguments)
{
    struct vv_cli_page page;
    vv_cli_page_begin(&page);
    int status = print(page.stream, arguments), shown = vv_cli_page_end(&page);
    return status != VV_EXIT_DONE ? status : shown;
}
