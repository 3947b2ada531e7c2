/* SPDX-License-Identifier: Apache-2.0 */
/* new_pages.h — the least that a recorder can do whose records survive SIGKILL: clock values stored
 * into new pages of a shared mapping of a file. No packets, no checks, no handlers, no limits. */
#ifndef VARVE_BENCH_NEW_PAGES_H
#define VARVE_BENCH_NEW_PAGES_H

#include <stddef.h>
#include <stdint.h>

/* The files lie beside `trace`, without a name, until the program ends. */
void bench_new_pages_begin(const char *trace);

/* The next 128 KiB of a file, written with zeros and not mapped yet. */
#define BENCH_WINDOW_BYTES ((size_t)128 << 10)
uint64_t *bench_next_window(void);

/* Two clock reads and 16 bytes (range) or 248 bytes (operator) each. The file is written with zeros
 * before it is stored into, 128 KiB or 2 MiB at a time; the first store maps what the kernel maps
 * at once. `ahead`: another thread writes and maps 128 KiB at a time, up to 2 MiB ahead. */
void bench_run_range_in_128_kib(long count);
void bench_run_range_in_2_mib(long count);
void bench_run_range_ahead(long count);
void bench_run_operator_in_128_kib(long count);
void bench_run_operator_in_2_mib(long count);
void bench_run_operator_ahead(long count);

#endif
