/* SPDX-License-Identifier: Apache-2.0 */
/* dump_signal.h — the signal at which a process writes down what it has recorded, as people name it.
 * Thread-safe. */
#ifndef VV_SETTINGS_DUMP_SIGNAL_H
#define VV_SETTINGS_DUMP_SIGNAL_H

#include "base/error.h"

/* "SIGUSR2", "USR2", "12". VARVE_INVALID, with what would do: no such signal, or one that no program can
 * catch, or that says that the program has failed. */
enum varve_code vv_dump_signal_parse(const char *text, int *out_signal, struct varve_error *error);

#endif
