/* SPDX-License-Identifier: Apache-2.0 */
/* work.h — makes records of the trace from those of rocprofiler-sdk: kernels, copies, memory that
 * is taken, scratch memory. */
#ifndef VV_COLLECT_ROCM_WORK_H
#define VV_COLLECT_ROCM_WORK_H

#include "collect/gpu/records.h"
#include "collect/rocm/layouts.h"
#include "collect/rocm/sdk.h"

/* Before anything is traced: the layouts of the library's version, and the clock of its times. */
void vv_rocm_work_begin(const struct vv_rocp_layout *layouts, uint32_t clock);

/* The library numbers this kind of record `number`. False: there is no room for the number. */
VV_MUST_USE bool vv_rocm_work_is(int number, enum vv_rocp_kind kind);

/* The library hands over a buffer, on a thread of its own; it uses the buffer again then. */
vv_rocp_complete vv_rocm_complete;

/* A kernel of a code object: the payload of its event. */
void vv_rocm_symbol_told(const void *payload);

const struct vv_gpu_counts *vv_rocm_counts(void);

#endif
