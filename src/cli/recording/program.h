/* SPDX-License-Identifier: Apache-2.0 */
/* program.h — the program that `varve record` should run: found as a shell finds it. And messages
 * for a program that does not start or does not record. Thread-safe. */
#ifndef VV_CLI_RECORDING_PROGRAM_H
#define VV_CLI_RECORDING_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the path of the file that execvp would run to out_path; "" if there is none. */
void vv_program_find(const char *name, char *out_path, size_t capacity);

/* Is it a Python interpreter, by the name of its file, or a script for one? */
bool vv_program_is_python(const char *name);

/* Prints why the program did not start, and what to type next, on standard error. Returns 126 or
 * 127. */
VV_MUST_USE int vv_program_complain(const char *name, int os_errno);

/* The path of libvarve.so: $VARVE_LIBRARY, beside this program, or where it is installed. The
 * caller frees it. NULL if there is none. */
VV_MUST_USE char *vv_program_library(void);

#endif
