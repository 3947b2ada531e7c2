/* SPDX-License-Identifier: Apache-2.0 */
/* loaded.h — which libraries of note this process has loaded: runtimes of devices, communication,
 * pools of threads, frameworks. What was not recorded can then be told from what was not there
 * (table "unseen"). The trace has the names as a fact, "loaded" (doc/format.md §6). */
#ifndef VV_COLLECT_LOADED_H
#define VV_COLLECT_LOADED_H

#include <stdbool.h>

/* Looks through the loaded libraries, and notes those of note if there are new ones. Returns
 * whether a library is loaded that does work which nobody would record by itself; after the start
 * of the program, only a framework whose operators no collector hears. The caller has the turn
 * (collectors.c). */
bool vv_loaded_look(bool is_start);

#endif
