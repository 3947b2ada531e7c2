/* SPDX-License-Identifier: Apache-2.0 */
/* help.h — the pages that the command prints about itself. All are made from vv_verbs, which the
 * caller passes, and vv_options. */
#ifndef VV_CLI_PAGES_HELP_H
#define VV_CLI_PAGES_HELP_H

#include <stdio.h>

#include "analyse/tables.h"
#include "cli/line/arguments.h"

void vv_help_overview(FILE *stream, const struct vv_verb *verbs); /* varve                     */
void vv_help_verb(FILE *stream, const struct vv_verb *verb);      /* varve help VERB           */
void vv_help_all(FILE *stream, const struct vv_verb *verbs);      /* varve help --all          */
void vv_help_tables(FILE *stream);                                /* varve help tables         */
void vv_help_rules(FILE *stream);                                 /* varve help rules          */
void vv_help_filter(FILE *stream);                                /* varve help filter         */
/* varve help TABLE, and the names of its columns, one a line. help_table.c */
enum varve_code vv_help_table(FILE *stream, const struct vv_table_entry *table,
                              struct varve_error *error);
/* The same of a table that another verb than report makes ("diff"): its columns are those that
 * doc/json.md lists. False: that page has no such table. */
bool vv_help_listed_table(FILE *stream, const char *name);
enum varve_code vv_help_columns(FILE *stream, const struct vv_table_entry *table,
                                struct varve_error *error);

/* Writes "-o, --output FILE"; every page has the same form. */
void vv_help_option_name(const struct vv_option *option, char *out_text, size_t capacity);
/* Writes what the option does for this verb, with its choices and its default. */
void vv_help_option_text(const struct vv_verb *verb, int row, char *out_text, size_t capacity);

struct vv_exit_meaning { int code; const char *meaning; };
/* The exit codes of this verb; the last has a NULL meaning. */
const struct vv_exit_meaning *vv_help_exits(const struct vv_verb *verb);

/* Write pages in roff, for man. man.c */
void vv_man_overview(FILE *stream, const struct vv_verb *verbs);
void vv_man_verb(FILE *stream, const struct vv_verb *verbs, const struct vv_verb *verb);

/* What a completion script asks for: words of a list, one a line. words.c */
struct vv_word_request {
    const struct vv_verb *verbs;
    const char *list;  /* "tables", "columns", "processes" …: words.c has them all               */
    const char *verb;  /* for columns: the verb on the line; NULL = none                        */
    const char *table; /* for columns: the table that the line names; NULL = the verb's         */
};
bool vv_words_has(const char *list);
enum varve_code vv_words_put(FILE *stream, const struct vv_word_request *request,
                             struct varve_error *error);

/* Writes the script for "bash", "zsh" or "fish". completions.c */
enum varve_code vv_completions_write(FILE *stream, const struct vv_verb *verbs, const char *shell,
                                     struct varve_error *error);

#endif
