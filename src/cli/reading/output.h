/* SPDX-License-Identifier: Apache-2.0 */
/* output.h — writes a verb's tables to the right place, in the right form. Each reading verb calls
 * it once, at its end.
 *
 * It decides on the form (--format, --json, --csv, or the extension of -o), the place (-o, or
 * standard output), colour and width. A file gets its name when it is whole, so that nobody sees
 * half of one. Where the file system has no files without a name, it has another name meanwhile.
 * Errors are reported on standard error. */
#ifndef VV_CLI_READING_OUTPUT_H
#define VV_CLI_READING_OUTPUT_H

#include <stdio.h>

#include "cli/line/arguments.h"
#include "sheet/sheet.h"

/* Prints sheets[0..count), or the one that --table names. `verb` gives the schema "varve.VERB/1";
 * `trace` is the path as the user wrote it. Returns an exit code (enum vv_exit). */
VV_MUST_USE int vv_cli_print(const struct vv_arguments *arguments, const char *verb,
                             const char *trace, const struct vv_sheet *const *sheets, size_t count);

/* Is the requested form one for people (text, Markdown), not one for programs? */
bool vv_cli_for_people(const struct vv_arguments *arguments);

/* Flushes standard output. Returns `status`, or VV_EXIT_OUTPUT if the output could not be written;
 * that is reported on standard error, unless the reader of a pipe has closed it. */
VV_MUST_USE int vv_cli_flush(int status);

/* A text for standard output, which goes through the pager where that is a terminal with fewer
 * lines. Without memory for the text, `stream` is standard output. */
struct vv_cli_page {
    FILE *stream;
    char *text;
    size_t length;
};
void vv_cli_page_begin(struct vv_cli_page *out_page);
/* Shows it. Returns an exit code. */
VV_MUST_USE int vv_cli_page_end(struct vv_cli_page *page);

/* Is it "-" or NULL, and standard output a terminal? */
bool vv_output_is_terminal(const char *path);

struct vv_output_sink;

/* A file that is being written: one without a name, or a temporary one beside `path`; or standard
 * output for "-" and NULL. */
struct vv_output {
    FILE *stream;
    struct vv_output_sink *sink; /* writes the stream's data; keeps the errno of a failure      */
    char *path, *temporary;      /* NULL on standard output; temporary is a name in `folder`    */
    bool is_named;               /* a file has the temporary name                               */
    int folder;                  /* folder of the file, open; -1 on standard output             */
};
enum varve_code vv_output_open(struct vv_output *out_output, const char *path,
                               struct varve_error *error);
/* Renames the file to its final name if all was written; otherwise removes the temporary file. */
enum varve_code vv_output_commit(struct vv_output *output, struct varve_error *error);
/* The same; and a file that is there stays as NAME.old, from when the new one is whole. */
enum varve_code vv_output_commit_beside(struct vv_output *output, bool *out_kept,
                                        struct varve_error *error);
/* Reports why `path` could not be written, and what to type; says nothing if the reader of a pipe
 * has closed it (| head). Returns VV_EXIT_OUTPUT. */
int vv_output_complain(const char *path, const struct varve_error *error);
void vv_output_abandon(struct vv_output *output); /* idempotent; safe after commit */

#endif
