/* SPDX-License-Identifier: Apache-2.0 */
/* program.h — the program that `varve record` is to run: found as a shell finds it, and what can be said
 * about it when it does not start or stays silent. Thread-safe. */
#ifndef VV_CLI_RECORDING_PROGRAM_H
#define VV_CLI_RECORDING_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the path of the file that execvp would run into out_path; "" if there is none. */
void vv_program_find(const char *name, char *out_path, size_t capacity);

/* Whether it is an interpreter of Python, by the name of its file, or a script for one. */
bool vv_program_is_python(const char *name);

/* Writes why it did not start, and what to type next, to standard error. Returns 126 or 127. */
VV_MUST_USE int vv_program_complain(const char *name, int os_errno);

/* Path of libvarve.so: $VARVE_LIBRARY, beside this program, or where it is installed. Belongs to the
 * caller; NULL if there is none. */
VV_MUST_USE char *vv_program_library(void);

#endif
