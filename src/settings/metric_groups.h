/* SPDX-License-Identifier: Apache-2.0 */
/* metric_groups.h — the groups of hardware counters that GE's option aic_metrics names, as far as a
 * host's processor has such counters. Used by the library in the program and by the command.
 *
 * An Ascend core has a matrix unit, a vector unit and buffers; a processor has none of these. So
 * each group counts what comes nearest to it, and a counter has the name of what it counts. */
#ifndef VV_SETTINGS_METRIC_GROUPS_H
#define VV_SETTINGS_METRIC_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Counters that every Linux has, before those of the group. */
#define VV_SOFTWARE_COUNTERS 5u
/* A processor has few counters for programs; more events would take turns. */
#define VV_HARDWARE_COUNTERS_MAX 4u
#define VV_COUNTERS_MAX (VV_SOFTWARE_COUNTERS + VV_HARDWARE_COUNTERS_MAX)
#define VV_COUNTER_NAME_BYTES 32u

/* The name begins with "Custom:" in place of a group: codes of the processor's own events. */
#define VV_METRICS_CUSTOM "Custom:"

struct vv_hardware_counter {
    char name[VV_COUNTER_NAME_BYTES];
    uint32_t type;   /* PERF_TYPE_…: perf_event_open(2)                                           */
    uint64_t config;
};

/* Their names, in order: the time of the processor in ns, page faults without and with reading from
 * a disk, and how often the thread left the processor to wait, or for others. */
extern const char *const vv_software_counters[VV_SOFTWARE_COUNTERS];

/* A counter of a process, told every 10 ms while ranges are counted: the CPU time in ns of its
 * threads that record nothing, since the process began. */
#define VV_SILENT_CPU_COUNTER "CPU time of threads without records (ns)"

/* The groups' names; NULL at the end. */
extern const char *const vv_metric_groups[];

/* Writes the group's counters on this machine, and returns their number. VARVE_INVALID: no group is
 * called `name`, or a code of "Custom:…" is wrong; the message names the nearest group. `error` may
 * be NULL. */
enum varve_code vv_metric_group_find(const char *name, struct vv_hardware_counter *out_counters,
                                     size_t *out_count, struct varve_error *error);

#endif
