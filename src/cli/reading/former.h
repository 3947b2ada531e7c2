/* SPDX-License-Identifier: Apache-2.0 */
/* former.h — what verbs that write a file of their own do with the path and with what is there. */
#ifndef VV_CLI_READING_FORMER_H
#define VV_CLI_READING_FORMER_H

#include <stdbool.h>

#include "base/error.h"

/* VARVE_INVALID: the path ends in ".gz" or the like, which `verb` does not write. */
enum varve_code vv_refuse_compressed(const char *path, const char *verb, struct varve_error *error);
/* Keeps an existing file of that name as NAME.old. */
enum varve_code vv_keep_former(const char *path, bool *out_kept, struct varve_error *error);
/* Of a verb that has read its trace: is the code about the output file? */
bool vv_is_output_failure(enum varve_code code);

#endif
