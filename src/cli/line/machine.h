/* SPDX-License-Identifier: Apache-2.0 */
/* machine.h — the machine that varve runs on, as traces name theirs. Not thread-safe. */
#ifndef VV_CLI_LINE_MACHINE_H
#define VV_CLI_LINE_MACHINE_H

#include <stddef.h>
#include <stdint.h>

/* The processor as the kernel calls it ("Intel(R) Xeon(R) …"), else its kind ("aarch64"). */
void vv_machine_name(char *out_name, size_t capacity);
/* Processors online. */
int64_t vv_machine_cpus(void);

#endif
