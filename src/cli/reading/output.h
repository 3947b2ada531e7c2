/* SPDX-License-Identifier: Apache-2.0 */
/* output.h — where a verb's tables go and in which form. Called once at the end of each reading verb.
 *
 * Decides the form (--format, --json, --csv, else the extension of -o), the place (-o, else standard
 * output), colour and width; writes a file beside its final name and renames it, so that no half of one
 * is ever seen. Errors are told on standard error. */
#ifndef VV_CLI_READING_OUTPUT_H
#define VV_CLI_READING_OUTPUT_H

#include <stdio.h>

#include "cli/line/arguments.h"
#include "sheet/sheet.h"

/* Prints sheets[0..count), or the one that --table names. `verb` becomes the schema "varve.VERB/1";
 * `trace` is the path as the user knows it. Returns an exit code (enum vv_exit). */
VV_MUST_USE int vv_cli_print(const struct vv_arguments *arguments, const char *verb, const char *trace,
                             const struct vv_sheet *const *sheets, size_t count);

/* Is the form that was asked for one that people read (text, Markdown), not one for programs? */
bool vv_cli_for_people(const struct vv_arguments *arguments);

/* Flushes what was printed on standard output; `status`, or VV_EXIT_OUTPUT if it could not be written
 * (said on standard error, save for a pipe whose reader has left). */
VV_MUST_USE int vv_cli_flush(int status);

struct vv_output_sink;

/* A file being written: a temporary beside `path`, or standard output for "-" and NULL. */
struct vv_output {
    FILE *stream;
    struct vv_output_sink *sink; /* behind the stream; remembers why a write failed             */
    char *path, *temporary;      /* NULL on standard output; the second a name in the folder    */
    int folder;                  /* where the file lies, open; -1 on standard output            */
};
enum varve_code vv_output_open(struct vv_output *out_output, const char *path,
                               struct varve_error *error);
/* Puts the file in its place if all was written; otherwise removes the temporary. */
enum varve_code vv_output_commit(struct vv_output *output, struct varve_error *error);
/* Tells why `path` could not be written, and what to type; a reader that has left (| head) knows. Returns
 * VV_EXIT_OUTPUT. */
int vv_output_complain(const char *path, const struct varve_error *error);
void vv_output_abandon(struct vv_output *output); /* idempotent; safe after commit */

#endif
