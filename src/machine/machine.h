/* SPDX-License-Identifier: Apache-2.0 */
/* machine.h — the machine that varve runs on, in the same words as in traces. Thread-safe. */
#ifndef VV_MACHINE_MACHINE_H
#define VV_MACHINE_MACHINE_H

#include <stddef.h>
#include <stdint.h>

/* The kernel's name of the processor ("Intel(R) Xeon(R) …"), or its architecture ("aarch64"). */
void vv_machine_name(char *out_name, size_t capacity);
/* The number of processors online. */
int64_t vv_machine_cpus(void);

#endif
