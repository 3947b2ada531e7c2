/* SPDX-License-Identifier: Apache-2.0 */
/* torch_least.h — the least that an observer of PyTorch does which keeps when each operator ran,
 * and with what shapes. No names, no checks, no limits. */
#ifndef VARVE_BENCH_TORCH_LEAST_H
#define VARVE_BENCH_TORCH_LEAST_H

#include "collect/torch/layout.h"

/* Takes the memory. False: there is none. */
bool bench_least_open(const struct vv_torch_layout *layout, const char *trace);

/* Where the words go, from now on: into lines that no cache holds, of memory that SIGKILL loses, or
 * into new pages of a file (new_pages.h), as a recorder's do. */
void bench_least_use_new_pages(bool new_pages);

/* Two clock reads and 16 bytes for an operator. */
void *bench_least_times(void **out_context, const void *guard);
/* … and each boxed input is looked at: of a tensor its rank and sizes are stored, too. */
void *bench_least_shapes(void **out_context, const void *guard);
void bench_least_end(const void *guard, void *context);

/* Stores nothing, and counts the operators. */
void *bench_least_count(void **out_context, const void *guard);
extern long bench_least_counted;

#endif
