/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_time.h — the CPU time of the process, and the part of it that threads with records took. */
#ifndef VV_RECORD_SESSION_CPU_TIME_H
#define VV_RECORD_SESSION_CPU_TIME_H

/* Notes both as facts, "cpu_ns" and "recorded_cpu_ns" (doc/format.md §6). Called once, as the
 * process ends, without the lock. */
void vv_cpu_time_note(void);

#endif
