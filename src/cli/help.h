/* SPDX-License-Identifier: Apache-2.0 */
/* help.h — the pages that the command prints about itself. All are made from vv_verbs, which the
 * caller passes, and vv_options. */
#ifndef VV_CLI_HELP_H
#define VV_CLI_HELP_H

#include <stdio.h>

#include "cli/line/arguments.h"

void vv_help_overview(FILE *stream, const struct vv_verb *verbs); /* varve                     */
void vv_help_verb(FILE *stream, const struct vv_verb *verb);      /* varve help VERB           */
void vv_help_all(FILE *stream, const struct vv_verb *verbs);      /* varve help --all          */
void vv_help_tables(FILE *stream);                                /* varve help tables         */
void vv_help_rules(FILE *stream);                                 /* varve help rules          */

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

/* Writes the script for "bash", "zsh" or "fish". completions.c */
enum varve_code vv_completions_write(FILE *stream, const struct vv_verb *verbs, const char *shell,
                                     struct varve_error *error);

#endif
