/* SPDX-License-Identifier: Apache-2.0 */
/* wishes.h — the sources that are asked for in this process. Thread-safe. */
#ifndef VV_COLLECT_PROCESS_WISHES_H
#define VV_COLLECT_PROCESS_WISHES_H

#include <stdbool.h>
#include <stdint.h>

/* `sources` has bits of enum vv_collect_source (settings/sources.h). */
void vv_wishes_set(uint32_t sources);
bool vv_wishes_any(void);

/* Is the source asked for? VARVE_COLLECT and varve_collect ask for sources in the form of varve
 * record --collect: "auto", "none", or names with commas between; "+name" and "-name" change the
 * standard sources. False before anything is asked for. */
bool vv_wishes_have(const char *source);

#endif
