/* SPDX-License-Identifier: Apache-2.0 */
/* written.h — writes the module that a verb made to where -o says, in the form that --emit says. */
#ifndef VV_CLI_PROGRAM_WRITTEN_H
#define VV_CLI_PROGRAM_WRITTEN_H

#include <stdio.h>

#include "cli/program/program.h"

/* What can be said before anything is read: there is a module, and -o names a file that may be
 * written. */
enum varve_code vv_program_wants_output(const struct vv_arguments *arguments, const char *verb,
                                        struct varve_error *error);

typedef enum varve_code vv_program_text(const void *context, FILE *out, struct varve_error *error);

/* Writes the text that `text` makes. The file appears whole or not at all; a file of its name
 * becomes NAME.old. Says what was written, unless quiet. Returns an exit code. */
VV_MUST_USE int vv_program_write(const struct vv_arguments *arguments, vv_program_text *text,
                                 const void *context);

#endif
