/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h — which clock the records of Ascend's runtimes use. Thread-safe. */
#ifndef VARVE_COMPAT_CLOCK_H
#define VARVE_COMPAT_CLOCK_H

#include <stdint.h>

/* VARVE_CLOCK_…: that of the times in records, which the program takes from MsprofSysCycleTime. */
uint32_t vv_record_clock(void);

#endif
