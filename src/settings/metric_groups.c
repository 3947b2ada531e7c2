/* SPDX-License-Identifier: Apache-2.0 */
#include "settings/metric_groups.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/nearest.h"

#define GROUPS 9u
#define EVENTS_MAX 6u /* of a group, over all vendors */
#define CACHE(cache, operation, result) \
    ((cache) | (operation) << 8 | (result) << 16) /* perf_event_open(2) */
#define READS(cache) CACHE(cache, PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_ACCESS)
#define READ_MISSES(cache) \
    CACHE(cache, PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_MISS)
#define WRITES(cache) CACHE(cache, PERF_COUNT_HW_CACHE_OP_WRITE, PERF_COUNT_HW_CACHE_RESULT_ACCESS)

/* An event of all processors, or of those whose vendor is named (as /proc/cpuinfo has it). */
struct event {
    const char *vendor, *name;
    uint32_t type;
    uint64_t config;
};

#define HARDWARE(name, id) { NULL, name, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##id }
#define CACHED(name, config) { NULL, name, PERF_TYPE_HW_CACHE, config }
#define CYCLES HARDWARE("cycles", CPU_CYCLES)
#define INSTRUCTIONS HARDWARE("instructions", INSTRUCTIONS)

const char *const vv_software_counters[VV_SOFTWARE_COUNTERS] = {
    "cpu_ns", "page_faults", "page_faults_from_disk", "switches_to_wait", "switches_for_others",
};

const char *const vv_metric_groups[GROUPS + 1] = {
    "ArithmeticUtilization", "PipeUtilization", "Memory", "MemoryL0", "MemoryUB",
    "ResourceConflictRatio", "L2Cache", "MemoryAccess", "PipelineExecuteUtilization", NULL,
};

/* In the order of vv_metric_groups. A name of NULL ends a group. The codes of floating-point events
 * are from the vendors' manuals: AMD's PMCx003, all umasks of retired FLOPs; Intel's
 * FP_ARITH_INST_RETIRED, scalar and packed instructions. */
static const struct event groups[GROUPS][EVENTS_MAX] = {
    { CYCLES, INSTRUCTIONS,
      { "AuthenticAMD", "flop", PERF_TYPE_RAW, 0x0f03 },
      { "GenuineIntel", "fp_scalar_instructions", PERF_TYPE_RAW, 0x03c7 },
      { "GenuineIntel", "fp_packed_instructions", PERF_TYPE_RAW, 0xfcc7 } },
    { CYCLES, INSTRUCTIONS, HARDWARE("stalled_frontend_cycles", STALLED_CYCLES_FRONTEND),
      HARDWARE("stalled_backend_cycles", STALLED_CYCLES_BACKEND) },
    { CYCLES, CACHED("last_cache_reads", READS(PERF_COUNT_HW_CACHE_LL)),
      CACHED("last_cache_read_misses", READ_MISSES(PERF_COUNT_HW_CACHE_LL)) },
    { CYCLES, CACHED("l1_reads", READS(PERF_COUNT_HW_CACHE_L1D)),
      CACHED("l1_read_misses", READ_MISSES(PERF_COUNT_HW_CACHE_L1D)) },
    { CYCLES, CACHED("l1_reads", READS(PERF_COUNT_HW_CACHE_L1D)),
      CACHED("l1_writes", WRITES(PERF_COUNT_HW_CACHE_L1D)) },
    { CYCLES, HARDWARE("branches", BRANCH_INSTRUCTIONS), HARDWARE("branch_misses", BRANCH_MISSES),
      HARDWARE("stalled_frontend_cycles", STALLED_CYCLES_FRONTEND) },
    { CYCLES, HARDWARE("cache_references", CACHE_REFERENCES),
      HARDWARE("cache_misses", CACHE_MISSES) },
    { CYCLES, CACHED("page_table_reads", READS(PERF_COUNT_HW_CACHE_DTLB)),
      CACHED("page_table_read_misses", READ_MISSES(PERF_COUNT_HW_CACHE_DTLB)) },
    { CYCLES, INSTRUCTIONS, HARDWARE("reference_cycles", REF_CPU_CYCLES) },
};

static bool is_of(const char *vendor)
{
    char name[13] = "";
#if defined(__x86_64__)
    uint32_t words[4], eax = 0;
    __asm__("cpuid" : "+a"(eax), "=b"(words[0]), "=c"(words[2]), "=d"(words[1]) : "2"(0));
    memcpy(name, words, 12);
#endif
    return vendor == NULL || strcmp(vendor, name) == 0;
}

static void take(struct vv_hardware_counter *out, const char *name, uint32_t type, uint64_t config)
{
    snprintf(out->name, sizeof out->name, "%s", name);
    out->type = type;
    out->config = config;
}

/* "Custom:0x3c,0xc0": at most VV_HARDWARE_COUNTERS_MAX codes. */
static enum varve_code take_codes(const char *text, struct vv_hardware_counter *out_counters,
                                  size_t *out_count, struct varve_error *error)
{
    size_t count = 0;
    for (const char *at = text;; at++) {
        char *end, name[VV_COUNTER_NAME_BYTES];
        unsigned long long code = strtoull(at, &end, 0);
        if (end == at || *at == '-' || (*end != ',' && *end != '\0'))
            VV_FAIL(error, VARVE_INVALID, "'%.40s' is no code of an event, such as 0x3c", at);
        if (count == VV_HARDWARE_COUNTERS_MAX)
            VV_FAIL(error, VARVE_LIMIT, "at most %u codes of events",
                    VV_HARDWARE_COUNTERS_MAX);
        snprintf(name, sizeof name, "event_0x%llx", code);
        take(&out_counters[count++], name, PERF_TYPE_RAW, code);
        at = end;
        if (*at == '\0')
            break;
    }
    *out_count = count;
    return VARVE_OK;
}

enum varve_code vv_metric_group_find(const char *name, struct vv_hardware_counter *out_counters,
                                     size_t *out_count, struct varve_error *error)
{
    const size_t prefix = sizeof VV_METRICS_CUSTOM - 1;
    size_t group = 0, count = 0;
    if (strncmp(name, VV_METRICS_CUSTOM, prefix) == 0)
        return take_codes(name + prefix, out_counters, out_count, error);
    while (group < GROUPS && strcmp(vv_metric_groups[group], name) != 0)
        group++;
    if (group == GROUPS) {
        const char *nearest = vv_nearest(name, vv_metric_groups);
        VV_FAIL(error, VARVE_INVALID, "no group of counters is called '%.60s'%s%s", name,
                nearest != NULL ? "; nearest: " : "", nearest != NULL ? nearest : "");
    }
    for (size_t i = 0; i < EVENTS_MAX && groups[group][i].name != NULL; i++) {
        const struct event *event = &groups[group][i];
        if (is_of(event->vendor) && count < VV_HARDWARE_COUNTERS_MAX)
            take(&out_counters[count++], event->name, event->type, event->config);
    }
    *out_count = count;
    return VARVE_OK;
}
