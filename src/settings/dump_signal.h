/* SPDX-License-Identifier: Apache-2.0 */
/* dump_signal.h — the signal that makes a process dump what it has recorded, as people write it.
 * Thread-safe. */
#ifndef VV_SETTINGS_DUMP_SIGNAL_H
#define VV_SETTINGS_DUMP_SIGNAL_H

#include "base/error.h"

/* Reads "SIGUSR2", "USR2", "12". VARVE_INVALID, and the message says what is valid: there is no
 * such signal, no program can catch it, or it means that the program has failed. */
enum varve_code vv_dump_signal_parse(const char *text, int *out_signal, struct varve_error *error);

#endif
