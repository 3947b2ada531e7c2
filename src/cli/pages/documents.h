/* SPDX-License-Identifier: Apache-2.0 */
/* documents.h — pages of doc/ that the command carries along, and what they say of tables and
 * columns. The pages are the only source of these texts: help prints what stands there.
 * Thread-safe. */
#ifndef VV_CLI_PAGES_DOCUMENTS_H
#define VV_CLI_PAGES_DOCUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A part of a page; not ended by a zero. */
struct vv_passage {
    const char *text;
    size_t length;
};

/* The section of doc/metrics.md whose heading names `word` in backticks: "kernels", "--filter". The
 * heading's own line is not part of it. False: no heading names it. */
bool vv_document_section(const char *word, struct vv_passage *out_section);

/* What a page says of a column of a table, as Markdown: doc/metrics.md in a section of the table,
 * doc/columns.md in such a section, doc/columns.md under "Columns of several tables". "step_NAME"
 * is NAME in the scope of the steps. False: no page says it. */
bool vv_document_column(const char *table, const char *column, struct vv_passage *out_meaning,
                        bool *out_in_steps);

/* The columns that doc/json.md lists of a table, each in backticks. False: it has no such table. */
bool vv_document_listed(const char *table, struct vv_passage *out_columns);
/* Takes the next name in backticks off `rest`; false: there is none. */
bool vv_document_next_name(struct vv_passage *rest, char *out_name, size_t capacity);

/* Prints one paragraph, each line indented by `indent`. */
void vv_document_print_at(FILE *stream, const struct vv_passage *passage, int width, int indent);

/* Prints a passage for people: paragraphs wrapped at `width`, tables with two spaces before each
 * row, without backticks and targets of links. If `skips_columns`, tables of columns are left
 * out. */
void vv_document_print(FILE *stream, const struct vv_passage *passage, int width,
                       bool skips_columns);

#endif
