/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/rocm/rocm.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/os.h"
#include "collect/gpu/names.h"
#include "collect/gpu/records.h"
#include "collect/gpu/source.h"
#include "collect/process/collector.h"
#include "collect/process/modules.h"
#include "collect/process/wishes.h"
#include "collect/rocm/agents.h"
#include "collect/rocm/calls.h"
#include "collect/rocm/layouts.h"
#include "collect/rocm/trace.h"
#include "collect/rocm/work.h"
#include "record/source_note.h"

#define NAME "rocm"

static void hand_over(bool is_last);

static struct vv_gpu_source source = {
    .name = NAME, .of_child = "a forked child cannot use its parent's ROCm",
    .hand_over = hand_over, .end_calls = vv_rocm_calls_end, .lock = PTHREAD_MUTEX_INITIALIZER,
};

/* With the lock. */
static uint32_t sdk_version;
static uint32_t tools_before; /* that rocprofiler-sdk took in before this one                     */
static bool has_begun; /* atomic: HIP or HSA has, and nobody asked for the source                 */

/* ---- what the note of the process says ---- */

static void note_attached(void)
{
    char text[VV_COLLECTOR_TEXT_BYTES_MAX + 1], losses[160];
    bool is_lossy = vv_gpu_counts_text(vv_rocm_counts(), "rocprofiler-sdk", losses, sizeof losses);
    snprintf(text, sizeof text, "rocprofiler-sdk %u.%u.%u%s%.140s", sdk_version / 10000,
             sdk_version / 100 % 100, sdk_version % 100,
             tools_before > 0 ? ", beside another tool" : "", losses);
    vv_collector_note(NAME, is_lossy ? VV_COLLECTOR_PARTLY : VV_COLLECTOR_ATTACHED, text);
}

/* ---- ends ---- */

/* Without the lock: the library's thread reads what is handed over, and waits for nobody. */
static void hand_over(bool is_last)
{
    (void)is_last;
    enum vv_gpu_state now = vv_gpu_source_state(&source);
    if (now != VV_GPU_ATTACHED && now != VV_GPU_AWAY) /* work may end after a stop                */
        return;
    vv_gpu_names_look();
    vv_rocm_trace_flush();
    vv_rocm_devices_describe();
    if (now == VV_GPU_ATTACHED)
        note_attached();
}

/* ---- rocprofiler-sdk takes its tools ---- */

static int initialize(void (*finalize)(void), void *data)
{
    char why[VV_COLLECTOR_TEXT_BYTES_MAX];
    (void)finalize;
    (void)data;
    int saved_errno = errno;
    vv_gpu_names_look();
    pthread_mutex_lock(&source.lock);
    bool is_on = source.state == VV_GPU_WAITING &&
                 vv_rocm_trace_prepare(sdk_version, why, sizeof why) &&
                 vv_rocm_trace_start(why, sizeof why);
    if (is_on) {
        vv_gpu_source_become(&source, VV_GPU_ATTACHED);
        vv_gpu_source_watch_ends(&source);
        note_attached();
    } else if (source.state == VV_GPU_WAITING) {
        vv_gpu_source_refuse(&source, why);
    }
    pthread_mutex_unlock(&source.lock);
    errno = saved_errno;
    return is_on ? 0 : -1;
}

/* At the library's own end all work is complete. */
static void finalize(void *data)
{
    (void)data;
    int saved_errno = errno;
    hand_over(true);
    enum vv_gpu_state now = vv_gpu_source_state(&source);
    if (now == VV_GPU_ATTACHED || now == VV_GPU_AWAY) {
        vv_rocm_calls_end();
        vv_gpu_source_become(&source, VV_GPU_ENDED);
    }
    errno = saved_errno;
}

struct vv_rocp_tool *rocprofiler_configure(uint32_t version, const char *text, uint32_t priority,
                                           void *client)
{
    static struct vv_rocp_tool tool = { sizeof tool, initialize, finalize, NULL };
    char why[VV_COLLECTOR_TEXT_BYTES_MAX];
    (void)text;
    (void)client;
    if (vv_os_is_privileged() || !vv_wishes_have(NAME) ||
        vv_gpu_source_state(&source) != VV_GPU_WAITING)
        return NULL;
    int saved_errno = errno;
    vv_gpu_source_watch_forks(&source);
    pthread_mutex_lock(&source.lock);
    sdk_version = version;
    tools_before = priority;
    bool is_known = vv_rocp_layouts_of(version) != NULL;
    bool is_open = is_known && vv_rocp_open(why, sizeof why);
    if (!is_known) {
        snprintf(why, sizeof why, "rocprofiler-sdk %u.%u.%u: its records are known of ROCm 6.2 to "
                 "6.4 (0.4 to 0.6) and 7 (1)", version / 10000, version / 100 % 100,
                 version % 100);
        vv_gpu_source_refuse(&source, why);
    } else if (!is_open) {
        vv_gpu_source_refuse(&source, why);
    }
    pthread_mutex_unlock(&source.lock);
    errno = saved_errno;
    return is_open ? &tool : NULL;
}

/* ---- HIP and HSA begin ---- */

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && *value != '\0' && strcmp(value, "0") != 0;
}

/* Would rocprofiler-sdk be used without this library? Who has loaded it may use it later. */
static bool others_want_it(void)
{
    struct vv_module loaded;
    bool is_there = vv_module_find("librocprofiler-sdk.so", &loaded) ||
                    is_set("ROCP_TOOL_LIBRARIES") || is_set("ROCPROFILER_REGISTER_LIBRARY") ||
                    is_set("ROCPROFILER_REGISTER_FORCE_LOAD") ||
                    dlsym(RTLD_NEXT, "rocprofiler_configure") != NULL;
    if (!is_there)
        dlerror(); /* clears it: the program's next dlerror must not show it */
    return is_there;
}

/* False: there is none, or nobody asks for it. */
static bool open_sdk(void)
{
    char why[VV_COLLECTOR_TEXT_BYTES_MAX];
    bool is_wanted = vv_wishes_have(NAME) && !vv_os_is_privileged();
    if (!is_wanted)
        __atomic_store_n(&has_begun, true, __ATOMIC_RELAXED);
    if (!is_wanted && !others_want_it())
        return false;
    vv_gpu_source_watch_forks(&source);
    pthread_mutex_lock(&source.lock);
    bool is_open = vv_rocp_open(why, sizeof why);
    if (!is_open && is_wanted && source.state == VV_GPU_WAITING)
        vv_gpu_source_refuse(&source, why);
    pthread_mutex_unlock(&source.lock);
    return is_open;
}

/* 0: the runtime goes on. It would not mind a failure, but say so. */
int rocprofiler_set_api_table(const char *name, uint64_t version, uint64_t instance,
                              void **tables, uint64_t count)
{
    int saved_errno = errno;
    bool is_open = open_sdk();
    errno = saved_errno;
    return is_open && vv_rocp.set_table != rocprofiler_set_api_table
               ? vv_rocp.set_table(name, version, instance, tables, count)
               : 0;
}

/* ---- the source is asked for, or not any more ---- */

static bool sdk_is_initialized(void)
{
    struct vv_module library;
    int (*is_initialized)(int *), status = 0;
    void *handle =
        vv_module_find("librocprofiler-sdk.so", &library) ? vv_module_open(&library) : NULL;
    void *found = handle != NULL ? dlsym(handle, "rocprofiler_is_initialized") : NULL;
    if (handle != NULL && found == NULL)
        dlerror();
    memcpy(&is_initialized, &found, sizeof found);
    return found != NULL && is_initialized(&status) == VV_ROCP_SUCCESS && status > 0;
}

static void look(void)
{
    char why[VV_COLLECTOR_TEXT_BYTES_MAX];
    int saved_errno = errno;
    pthread_mutex_lock(&source.lock);
    if (source.state == VV_GPU_AWAY) {
        if (vv_rocm_trace_start(why, sizeof why)) {
            vv_gpu_source_become(&source, VV_GPU_ATTACHED);
            note_attached();
        } else {
            vv_gpu_source_refuse(&source, why);
        }
    } else if (source.state == VV_GPU_WAITING &&
               (__atomic_load_n(&has_begun, __ATOMIC_RELAXED) || sdk_is_initialized())) {
        vv_gpu_source_refuse(&source, "the program's ROCm had begun before: ask for rocm before "
                                      "HIP is used, or start the program with varve record");
    }
    pthread_mutex_unlock(&source.lock);
    errno = saved_errno;
}

static void leave(void)
{
    int saved_errno = errno;
    pthread_mutex_lock(&source.lock);
    if (source.state == VV_GPU_ATTACHED) {
        vv_rocm_trace_stop();
        vv_gpu_source_become(&source, VV_GPU_AWAY);
        vv_collector_note(NAME, VV_COLLECTOR_OFF, "work of devices not recorded any more");
    }
    pthread_mutex_unlock(&source.lock);
    errno = saved_errno;
}

extern const struct vv_collector vv_collector_rocm;
const struct vv_collector vv_collector_rocm = { .look = look, .leave = leave };
