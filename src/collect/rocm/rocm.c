/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/rocm/rocm.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/libc.h"
#include "base/system/os.h"
#include "collect/gpu/names.h"
#include "collect/gpu/records.h"
#include "collect/process/collector.h"
#include "collect/process/modules.h"
#include "collect/process/wishes.h"
#include "collect/rocm/agents.h"
#include "collect/rocm/calls.h"
#include "collect/rocm/layouts.h"
#include "collect/rocm/trace.h"
#include "collect/rocm/work.h"
#include "record/source_note.h"
#include "record/stream/hand_over.h"

#define NAME "rocm"

enum state { WAITING, ATTACHED, STOPPED, REFUSED, ENDED };

/* Written with the lock; `state` is atomic. */
static enum state state = WAITING;
static uint32_t sdk_version;
static uint32_t tools_before; /* that rocprofiler-sdk took in before this one                     */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool has_begun; /* atomic: HIP or HSA has, and nobody asked for the source                 */

static enum state state_now(void)
{
    return __atomic_load_n(&state, __ATOMIC_ACQUIRE);
}

static void become(enum state next)
{
    __atomic_store_n(&state, next, __ATOMIC_RELEASE);
}

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

static void refuse(const char *why)
{
    vv_collector_note(NAME, VV_COLLECTOR_REFUSED, why);
    become(REFUSED);
}

/* ---- ends ---- */

/* Without the lock: the library's thread reads what is handed over, and waits for nobody. */
static void hand_over(bool is_last)
{
    (void)is_last;
    enum state now = state_now();
    if (now != ATTACHED && now != STOPPED) /* what was begun before a stop may end after it */
        return;
    vv_gpu_names_look();
    vv_rocm_trace_flush();
    vv_rocm_devices_describe();
    if (now == ATTACHED)
        note_attached();
}

static void on_exit_of_program(void)
{
    hand_over(true);
}

static void on_quick_exit(void *ignored)
{
    (void)ignored;
    hand_over(true);
}

/* HIP does not work in a forked child, and a thread of the parent may have the lock. */
static void in_child(void)
{
    static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    enum state former = state_now();
    memcpy(&lock, &fresh, sizeof lock);
    if (former == REFUSED)
        return;
    vv_rocm_calls_end();
    become(ENDED);
    if (former == ATTACHED || former == STOPPED)
        vv_collector_note(NAME, VV_COLLECTOR_OFF, "a forked child cannot use its parent's ROCm");
}

/* Before the lock is taken for long. */
static void watch_forks(void)
{
    static bool is_done; /* atomic */
    if (!__atomic_exchange_n(&is_done, true, __ATOMIC_RELAXED))
        (void)vv_libc_at_fork(NULL, NULL, in_child);
}

static void watch_ends(void)
{
    (void)vv_hand_over_listen(hand_over);
    (void)!atexit(on_exit_of_program);
    (void)!vv_libc_at_quick_exit(on_quick_exit);
}

/* ---- rocprofiler-sdk takes its tools ---- */

static int initialize(void (*finalize)(void), void *data)
{
    char why[VV_COLLECTOR_TEXT_BYTES_MAX];
    (void)finalize;
    (void)data;
    int saved_errno = errno;
    vv_gpu_names_look();
    pthread_mutex_lock(&lock);
    bool is_on = state == WAITING && vv_rocm_trace_prepare(sdk_version, why, sizeof why) &&
                 vv_rocm_trace_start(why, sizeof why);
    if (is_on) {
        become(ATTACHED);
        watch_ends();
        note_attached();
    } else if (state == WAITING) {
        refuse(why);
    }
    pthread_mutex_unlock(&lock);
    errno = saved_errno;
    return is_on ? 0 : -1;
}

/* At the library's own end all work is complete. */
static void finalize(void *data)
{
    (void)data;
    int saved_errno = errno;
    hand_over(true);
    if (state_now() == ATTACHED || state_now() == STOPPED) {
        vv_rocm_calls_end();
        become(ENDED);
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
    if (vv_os_is_privileged() || !vv_wishes_have(NAME) || state_now() != WAITING)
        return NULL;
    int saved_errno = errno;
    watch_forks();
    pthread_mutex_lock(&lock);
    sdk_version = version;
    tools_before = priority;
    bool is_known = vv_rocp_layouts_of(version) != NULL;
    bool is_open = is_known && vv_rocp_open(why, sizeof why);
    if (!is_known) {
        snprintf(why, sizeof why, "rocprofiler-sdk %u.%u.%u: its records are known of ROCm 6.2 to "
                 "6.4 (0.4 to 0.6) and 7 (1)", version / 10000, version / 100 % 100,
                 version % 100);
        refuse(why);
    } else if (!is_open) {
        refuse(why);
    }
    pthread_mutex_unlock(&lock);
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
    watch_forks();
    pthread_mutex_lock(&lock);
    bool is_open = vv_rocp_open(why, sizeof why);
    if (!is_open && is_wanted && state == WAITING)
        refuse(why);
    pthread_mutex_unlock(&lock);
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
    pthread_mutex_lock(&lock);
    if (state == STOPPED) {
        if (vv_rocm_trace_start(why, sizeof why)) {
            become(ATTACHED);
            note_attached();
        } else {
            refuse(why);
        }
    } else if (state == WAITING &&
               (__atomic_load_n(&has_begun, __ATOMIC_RELAXED) || sdk_is_initialized())) {
        refuse("the program's ROCm had begun before: ask for rocm before HIP is used, or start the "
               "program with varve record");
    }
    pthread_mutex_unlock(&lock);
    errno = saved_errno;
}

static void leave(void)
{
    int saved_errno = errno;
    pthread_mutex_lock(&lock);
    if (state == ATTACHED) {
        vv_rocm_trace_stop();
        become(STOPPED);
        vv_collector_note(NAME, VV_COLLECTOR_OFF, "work of devices not recorded any more");
    }
    pthread_mutex_unlock(&lock);
    errno = saved_errno;
}

extern const struct vv_collector vv_collector_rocm;
const struct vv_collector vv_collector_rocm = { .look = look, .leave = leave };
