/* SPDX-License-Identifier: Apache-2.0 */
#include "record/session/cpu_time.h"

#include <stdio.h>

#include "base/system/os.h"
#include "record/source_note.h"
#include "record/thread.h"

static void note(const char *name, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    vv_collector_note(name, VV_COLLECTOR_NOTE, text);
}

void vv_cpu_time_note(void)
{
    uint64_t all_ns = vv_os_cpu_ns(0);
    if (!vv_recorder_lock())
        return;
    uint64_t recorded_ns = vv_thread_recorded_cpu_ns();
    vv_recorder_unlock();
    note(VV_FACT_PREFIX "cpu_ns", all_ns);
    note(VV_FACT_PREFIX "recorded_cpu_ns", recorded_ns);
    uint64_t threads = vv_os_thread_count();
    if (threads > 0)
        note(VV_FACT_PREFIX "threads", threads);
}
