/* SPDX-License-Identifier: Apache-2.0 */
/* modules.h — the callbacks of modules (MsprofRegisterCallback), and the commands that they get
 * when recording starts or stops, by whomever. Thread-safe. */
#ifndef VARVE_COMPAT_MODULES_H
#define VARVE_COMPAT_MODULES_H

#include <stdbool.h>

#include "profiling/aprof_pub.h"

/* From now on, Varve's control API tells what is switched. Takes the control API's lock. */
void vv_modules_listen(void);
/* False: there are too many. Replays what holds, on this thread. */
bool vv_modules_add(uint32_t module, ProfCommandHandle handle);
/* MsprofInit was called; nothing starts by that. */
void vv_modules_init(void);
void vv_modules_finalize(void);
/* Tells all modules this; `data` for PROF_CTRL_SWITCH is a MsprofCommandHandle. */
void vv_modules_tell(uint32_t control, void *data, uint32_t length);
/* Is this thread inside a callback of a module? */
bool vv_modules_is_telling(void);
/* Devices that were opened: commands name these where the configuration names none. */
void vv_modules_device(uint32_t device, bool is_open);

#endif
