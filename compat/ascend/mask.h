/* SPDX-License-Identifier: Apache-2.0 */
/* mask.h — the mask that says what to profile (dataTypeConfig, profSwitch), in today's bits and in
 * those of 2019 and 2020, and Varve's layers. Thread-safe. */
#ifndef VARVE_COMPAT_MASK_H
#define VARVE_COMPAT_MASK_H

#include <stdint.h>

#define VV_MASK_MSPROFTX UINT64_C(0x80)
#define VV_MASK_TRAINING_TRACE UINT64_C(0x40)
#define VV_MASK_TASK_TIME_L0 UINT64_C(0x800)
#define VV_MASK_AICPU_MODEL (UINT64_C(1) << 62)
#define VV_MASK_MODEL_LOAD (UINT64_C(1) << 63)

/* Bits that no configuration may have; 0 = all are known. */
uint64_t vv_mask_unknown(uint64_t mask);
/* With the bits that others bring along. */
uint64_t vv_mask_completed(uint64_t mask);

/* The layers that a mask of today's bits asks for, and the least mask that asks for the layers. */
uint32_t vv_mask_to_layers(uint64_t mask);
uint64_t vv_mask_of_layers(uint32_t layers);

/* From and to the bits that the program was compiled for: the old ones if VARVE_ASCEND_MASK=2019.
 * Bits without a counterpart are left out. */
uint64_t vv_mask_from_program(uint64_t mask);
uint64_t vv_mask_to_program(uint64_t mask);

/* The value of the option aic_metrics for a number of ProfilingAicoreMetrics; NULL = none. */
const char *vv_metrics_name(uint32_t metrics);

#endif
