/* SPDX-License-Identifier: Apache-2.0 */
#include "record/counts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/clock.h"
#include "base/system/os.h"
#include "record/counters/counters.h"
#include "record/source_note.h"
#include "record/stream/process_stream.h"
#include "record/thread.h"

#define SILENT_CPU_EVERY_NS UINT64_C(10000000)
#define NOTE "counters" /* as the trace's table of collectors calls them */

static void note(const char *group, const char *why)
{
    char text[VV_COLLECTOR_TEXT_BYTES_MAX];
    if (*why == '\0') {
        snprintf(text, sizeof text, "%.40s", group);
        vv_collector_note(NOTE, VV_COLLECTOR_ATTACHED, text);
        return;
    }
    bool has_hardware =
        __atomic_load_n(&vv_counter_count, __ATOMIC_RELAXED) > VV_SOFTWARE_COUNTERS;
    snprintf(text, sizeof text, "%.40s, %s: %.120s", group,
             has_hardware ? "in part" : "software counters alone", why);
    vv_collector_note(NOTE, VV_COLLECTOR_PARTLY, text);
}

void vv_counts_begin(const char *group)
{
    char why[VV_COLLECTOR_TEXT_BYTES_MAX];
    struct varve_error error;
    if (group == NULL || *group == '\0')
        group = getenv("VARVE_METRICS");
    bool is_asked = group != NULL && *group != '\0';
    if (!is_asked && !vv_is_counting())
        return;
    if (vv_counters_choose(group, why, sizeof why, &error) != VARVE_OK)
        vv_collector_note(NOTE, VV_COLLECTOR_REFUSED, error.message);
    else if (is_asked)
        note(group, why);
    __atomic_store_n(&vv_ranges_are_counted,
                     __atomic_load_n(&vv_counter_count, __ATOMIC_RELAXED) != 0, __ATOMIC_RELEASE);
    if (!vv_recorder_lock())
        return;
    if (vv_session.running && vv_session.has_folder)
        vv_counts_write_names();
    vv_recorder_unlock();
}

void vv_counts_write_names(void)
{
    uint32_t count = __atomic_load_n(&vv_counter_count, __ATOMIC_RELAXED), choice;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t name = vv_string_id(vv_counter_name(i, &choice));
        const uint64_t record[] = { VV_EVENT_COUNTER_NAME, name << 32 | i, choice };
        if (name == 0 || !vv_process_stream_put(record, 3))
            vv_thread_discard(&vv_self, 1);
    }
}

/* What others than the threads with records use, a pool's threads above all, is told as a counter
 * of the process: often enough to be divided among steps. */
static void put_silent_cpu(void)
{
    VARVE_SITE(site, VV_SILENT_CPU_COUNTER, VARVE_LAYER_METRIC);
    static uint64_t due_ns; /* atomic */
    uint64_t now_ns = vv_clock_monotonic_ns(), due = __atomic_load_n(&due_ns, __ATOMIC_RELAXED);
    if (now_ns < due ||
        !__atomic_compare_exchange_n(&due_ns, &due, now_ns + SILENT_CPU_EVERY_NS, false,
                                     __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
        !vv_recorder_lock())
        return;
    uint64_t all_ns = vv_os_cpu_ns(0), recorded_ns = vv_thread_recorded_cpu_ns();
    vv_recorder_unlock();
    varve_counter(&site, all_ns > recorded_ns ? (double)(all_ns - recorded_ns) : 0);
}

void vv_put_counts(struct vv_self *self)
{
    uint64_t fields[1 + VV_COUNTERS_MAX];
    uint32_t choice, count = vv_counters_read(fields + 1, &choice);
    fields[0] = (uint64_t)count << 32 | choice;
    if (count != 0 && self->depth != 0)
        vv_put_fields(self, VV_EVENT_COUNTS, fields, 1 + count);
    put_silent_cpu();
}
