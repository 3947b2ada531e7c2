/* SPDX-License-Identifier: Apache-2.0 */
/* process_fact.h — a fact of a process that is a number (doc/format.md §6): its threads, its CPU
 * time. Called by tables that look beside the recorded threads. Thread-compatible. */
#ifndef VV_DERIVE_SELECT_PROCESS_FACT_H
#define VV_DERIVE_SELECT_PROCESS_FACT_H

#include "model/model.h"

#define VV_FACT_THREADS "threads"

/* What the process said last; NULL = nothing. */
const char *vv_process_fact_text(const struct vv_model *model, uint32_t process, const char *name);
/* The same as a number; 0 = nothing. */
int64_t vv_process_fact(const struct vv_model *model, uint32_t process, const char *name);

#endif
