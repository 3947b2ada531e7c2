/* SPDX-License-Identifier: Apache-2.0 */
/* collectors.h — the sources that this process is to be recorded from. */
#ifndef VV_COLLECT_COLLECTORS_H
#define VV_COLLECT_COLLECTORS_H

#include <stdbool.h>

/* Is the source asked for? By VARVE_COLLECT, as varve record --collect has it: "auto", "none", names with commas,
 * "+name" and "-name" beside those that are standard. False while the process is not recorded. */
bool vv_collectors_want(const char *name);

/* A library may have been loaded: whoever waits for one looks. Cheap where none was. */
void vv_collectors_look(void);

#endif
