/* SPDX-License-Identifier: Apache-2.0 */
/* profiling.h — what session.c needs of the control API (include/varve/control.h). */
#ifndef VV_RECORD_PROFILING_PROFILING_H
#define VV_RECORD_PROFILING_PROFILING_H

#include "base/system/own_folder.h"

/* Once a process, after vv_thread_init. */
void vv_profiling_prepare(void);
/* Begins what the environment's options ask for; without them does nothing. */
void vv_profiling_on_load(void);
/* Puts the options, if any, beside the trace of a process. The recorder's lock is held. */
void vv_profiling_keep_options(const struct vv_own_folder *folder);

#endif
