/* SPDX-License-Identifier: Apache-2.0 */
/* wishes.h — the sources that this process is to be recorded from. Thread-safe. */
#ifndef VV_COLLECT_PROCESS_WISHES_H
#define VV_COLLECT_PROCESS_WISHES_H

#include <stdbool.h>
#include <stdint.h>

/* Bits of enum vv_collect_source (settings/sources.h). */
void vv_wishes_set(uint32_t sources);
bool vv_wishes_any(void);

/* Is the source asked for? By VARVE_COLLECT, as varve record --collect has it: "auto", "none", names with commas,
 * "+name" and "-name" beside those that are standard. False while the process is not recorded. */
bool vv_wishes_have(const char *source);

#endif
