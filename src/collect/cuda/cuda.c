/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/cuda/cuda.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/system/clock.h"
#include "base/system/os.h"
#include "collect/cuda/buffers.h"
#include "collect/cuda/calls.h"
#include "collect/cuda/cupti.h"
#include "collect/cuda/driver.h"
#include "collect/cuda/layouts.h"
#include "collect/cuda/work.h"
#include "collect/gpu/names.h"
#include "collect/gpu/source.h"
#include "collect/process/collector.h"
#include "collect/process/wishes.h"
#include "record/source_note.h"
#include "varve/device.h"

#define NAME "cuda"
#define FLUSH_MS 1000u
#define INJECTION "CUDA_INJECTION64_PATH"

VARVE_API int InitializeInjection(void);

static void hand_over(bool is_last);

static struct vv_gpu_source source = {
    .name = NAME, .of_child = "a forked child cannot use its parent's CUDA",
    .hand_over = hand_over, .end_calls = vv_cuda_calls_end, .lock = PTHREAD_MUTEX_INITIALIZER,
};

/* With the lock. */
static void *subscriber;
static const char *tool; /* for which it stepped aside                                           */
static uint64_t aside_since_ns;
static uint32_t clock_number;

static const struct {
    int kind;
    bool is_needed;
    const char *unless; /* the source with which it is not asked for                             */
    const char *only;   /* the source without which it is not asked for                          */
} kinds[] = {
    { VV_CUPTI_CONTEXT, false, NULL, NULL },
    { VV_CUPTI_NAME, false, NULL, NULL },
    { VV_CUPTI_KERNEL, true, NULL, NULL },
    { VV_CUPTI_MEMCPY, false, NULL, NULL },
    { VV_CUPTI_MEMCPY_PEERS, false, NULL, NULL },
    { VV_CUPTI_MEMSET, false, NULL, NULL },
    { VV_CUPTI_SYNCHRONIZATION, false, NULL, NULL },
    { VV_CUPTI_EVENT, false, NULL, NULL },
    { VV_CUPTI_MEMORY, false, NULL, NULL },
    { VV_CUPTI_POOL, false, NULL, NULL },
    { VV_CUPTI_OVERHEAD, false, NULL, NULL },
    { VV_CUPTI_GRAPH, false, "cuda_nodes", NULL },
    { VV_CUPTI_UNIFIED, false, NULL, "cuda_unified" },
};
#define KINDS (sizeof kinds / sizeof *kinds)

/* ---- what the note of the process says ---- */

static void note_attached(void)
{
    char text[VV_COLLECTOR_TEXT_BYTES_MAX + 1], losses[160], version[32];
    bool is_lossy = vv_gpu_counts_text(vv_cuda_buffer_counts(), "CUPTI", losses, sizeof losses);
    vv_cupti_version_text(vv_cupti.version, version, sizeof version);
    snprintf(text, sizeof text, "CUPTI %s%s%.140s", version,
             clock_number == VARVE_CLOCK_MONOTONIC ? "" : ", by its own clock", losses);
    vv_collector_note(NAME, is_lossy ? VV_COLLECTOR_PARTLY : VV_COLLECTOR_ATTACHED, text);
}

/* ---- clocks ---- */

static uint64_t now_ns(void)
{
    return vv_clock_monotonic_ns();
}

static void pair_clocks(void)
{
    uint64_t value = 0, before = vv_clock_ticks(), before_ns = now_ns();
    if (clock_number == VARVE_CLOCK_MONOTONIC || vv_cupti.timestamp(&value) != VV_CUPTI_SUCCESS)
        return;
    uint64_t after_ns = now_ns(), after = vv_clock_ticks();
    varve_clock_pair(clock_number, (int64_t)value, before + (after - before) / 2,
                     (after_ns - before_ns) / 2 + 1);
}

/* CUPTI stamps with our clock where it takes one, before anything is enabled. Otherwise its own
 * clock is a clock of the trace. */
static void choose_clock(void)
{
    const struct varve_clock_info info = { sizeof info, 0, "CUPTI", 0, 0 };
    bool is_ours = vv_cupti.register_clock != NULL &&
                   vv_cupti.register_clock(now_ns) == VV_CUPTI_SUCCESS;
    if (is_ours)
        clock_number = VARVE_CLOCK_MONOTONIC;
    else if (clock_number <= VARVE_CLOCK_REALTIME &&
             varve_clock_add(&info, &clock_number, NULL) != VARVE_OK)
        clock_number = VARVE_CLOCK_REALTIME; /* what CUPTI uses by itself                        */
    pair_clocks();
    vv_cuda_work_begin(clock_number);
}

/* ---- CUPTI, with the lock ---- */

/* VV_CUPTI_TAKEN: out_why names who has it, where CUPTI can. */
static vv_cupti_result subscribe(char *out_why, size_t bytes)
{
    char holder[VV_CUPTI_HOLDER_BYTES] = "", said[VV_COLLECTOR_TEXT_BYTES_MAX];
    vv_cupti_result result = vv_cupti.subscribe(&subscriber, vv_cuda_call, NULL);
    if (result == VV_CUPTI_TAKEN && vv_cupti.subscribe_named != NULL) {
        struct vv_cupti_subscription asks = { offsetof(struct vv_cupti_subscription, padding),
                                              "Varve", holder, sizeof holder, 0, { 0 } };
        if (vv_cupti.subscribe_named(&subscriber, vv_cuda_call, NULL, &asks) ==
            VV_CUPTI_SUCCESS)
            return VV_CUPTI_SUCCESS;
    }
    vv_cupti_result_text(result, said, sizeof said);
    holder[sizeof holder - 1] = '\0';
    if (result == VV_CUPTI_TAKEN)
        snprintf(out_why, bytes, "%s has CUPTI, which has one user: no device work; record without "
                 "that tool", holder[0] != '\0' ? holder : "another profiler");
    else
        snprintf(out_why, bytes, "CUPTI refused: %.160s; no device work", said);
    return result;
}

/* Counters of unified memory are chosen before they are enabled; those of all devices, where CUPTI
 * can. */
static vv_cupti_result configure_unified(void)
{
    enum { ONE_DEVICE = 1, ALL_DEVICES = 2, KINDS_OF_COUNTERS = 8 };
    struct vv_cupti_unified asked[KINDS_OF_COUNTERS];
    vv_cupti_result result = VV_CUPTI_UNKNOWN;
    for (uint32_t scope = ALL_DEVICES; scope >= ONE_DEVICE && result != VV_CUPTI_SUCCESS &&
                                       vv_cupti.configure_unified != NULL; scope--) {
        for (uint32_t i = 0; i < KINDS_OF_COUNTERS; i++)
            asked[i] = (struct vv_cupti_unified){ scope, i + 1, 0, 1 };
        result = vv_cupti.configure_unified(asked, KINDS_OF_COUNTERS);
    }
    return result;
}

static vv_cupti_result enable(size_t number)
{
    char said[VV_COLLECTOR_TEXT_BYTES_MAX];
    bool is_unified = kinds[number].kind == VV_CUPTI_UNIFIED;
    vv_cupti_result result = is_unified ? configure_unified() : VV_CUPTI_SUCCESS;
    if (result == VV_CUPTI_SUCCESS)
        result = vv_cupti.enable(kinds[number].kind);
    if (is_unified && result != VV_CUPTI_SUCCESS) {
        vv_cupti_result_text(result, said, sizeof said);
        vv_collector_note("cuda_unified", VV_COLLECTOR_REFUSED, said);
    }
    return result;
}

static vv_cupti_result enable_kinds(void)
{
    vv_cupti_result worst = VV_CUPTI_SUCCESS;
    for (size_t i = 0; i < KINDS; i++) {
        if ((kinds[i].unless != NULL && vv_wishes_have(kinds[i].unless)) ||
            (kinds[i].only != NULL && !vv_wishes_have(kinds[i].only)))
            continue;
        vv_cupti_result result = enable(i);
        if (kinds[i].is_needed && result != VV_CUPTI_SUCCESS)
            worst = result;
    }
    return worst;
}

/* What another tool of this process ended, by cuptiFinalize, it may have begun anew for itself. */
static void note_ended(void)
{
    static unsigned stretches;
    static uint64_t total_ns;
    char text[VV_COLLECTOR_TEXT_BYTES_MAX];
    uint64_t since_ns = vv_cuda_calls_last_ns(), until_ns = now_ns();
    total_ns += until_ns - since_ns;
    vv_cuda_buffers_missing((int64_t)since_ns, (int64_t)until_ns,
                            "device work not recorded: another tool ended CUPTI");
    snprintf(text, sizeof text, "another tool of the program ended CUPTI: %u times, at most %llu "
             "ms of device work are missing", ++stretches, (unsigned long long)total_ns / 1000000);
    vv_collector_note("cuda ended", VV_COLLECTOR_PARTLY, text);
}

static void let_go(void)
{
    bool is_held = vv_cuda_calls_are_told();
    vv_cuda_calls_disabled();
    if (!is_held) {
        note_ended();
        subscriber = NULL;
        return;
    }
    (void)vv_cupti.flush_all(VV_CUPTI_FLUSH_FORCED);
    for (size_t i = 0; i < KINDS; i++)
        (void)vv_cupti.disable(kinds[i].kind);
    (void)vv_cupti.unsubscribe(subscriber);
    subscriber = NULL;
}

/* False, and why: nothing is attached then. */
static bool take_hold(char *out_why, size_t bytes)
{
    char said[VV_COLLECTOR_TEXT_BYTES_MAX];
    if (subscribe(out_why, bytes) != VV_CUPTI_SUCCESS)
        return false;
    if (vv_cupti.number_threads != NULL)
        (void)vv_cupti.number_threads(VV_CUPTI_SYSTEM_THREADS);
    choose_clock();
    vv_cupti_result result =
        vv_cupti.register_buffers(vv_cuda_buffer_request, vv_cuda_buffer_complete);
    if (result == VV_CUPTI_SUCCESS)
        result = enable_kinds();
    if (result != VV_CUPTI_SUCCESS) {
        vv_cupti_result_text(result, said, sizeof said);
        snprintf(out_why, bytes, "CUPTI records no kernels here: %.160s", said);
        let_go();
        return false;
    }
    if (vv_cupti.flush_period != NULL)
        (void)vv_cupti.flush_period(FLUSH_MS);
    (void)vv_cuda_calls_enable(subscriber, vv_wishes_have("cuda_calls"));
    return true;
}

/* Nobody is waited for who has the lock: CUPTI may have one of its own on this thread. */
static void begin_anew(bool is_last)
{
    char why[VV_COLLECTOR_TEXT_BYTES_MAX] = "record without it", text[VV_COLLECTOR_TEXT_BYTES_MAX];
    if (pthread_mutex_trylock(&source.lock) != 0)
        return;
    if (source.state == VV_GPU_ATTACHED && !vv_cuda_calls_are_told()) {
        let_go();
        if (!is_last && take_hold(why, sizeof why)) {
            note_attached();
        } else {
            snprintf(text, sizeof text, "another tool ended CUPTI (cuptiFinalize): no device work "
                     "from then on; %.120s", why);
            vv_collector_note(NAME, VV_COLLECTOR_PARTLY, text);
            vv_gpu_source_become(&source, VV_GPU_REFUSED);
        }
    }
    pthread_mutex_unlock(&source.lock);
}

/* Without the lock: CUPTI gives buffers back on this thread, and whoever ends the collector
 * meanwhile does the same. */
static void hand_over(bool is_last)
{
    if (vv_gpu_source_state(&source) != VV_GPU_ATTACHED)
        return;
    if (!vv_cuda_calls_are_told()) {
        begin_anew(is_last);
        return;
    }
    pair_clocks();
    vv_gpu_names_look();
    (void)vv_cupti.flush_all(is_last ? VV_CUPTI_FLUSH_FORCED : 0);
    if (is_last)
        vv_cuda_buffers_settle();
    vv_cuda_devices_describe();
    note_attached();
}

/* ---- attach and detach ---- */

static void attach(void)
{
    char why[VV_COLLECTOR_TEXT_BYTES_MAX];
    int saved_errno = errno;
    vv_gpu_names_look();
    vv_gpu_source_watch_forks(&source);
    pthread_mutex_lock(&source.lock);
    if (source.state == VV_GPU_WAITING) {
        if (vv_cupti_open(vv_cuda_driver_version(), why, sizeof why) &&
            take_hold(why, sizeof why)) {
            vv_gpu_source_become(&source, VV_GPU_ATTACHED);
            vv_gpu_source_watch_ends(&source);
            note_attached();
        } else {
            vv_gpu_source_refuse(&source, why);
        }
    }
    pthread_mutex_unlock(&source.lock);
    errno = saved_errno;
}

/* The driver calls this within cuInit if CUDA_INJECTION64_PATH names this library. */
int InitializeInjection(void)
{
    if (!vv_os_is_privileged() && vv_wishes_have(NAME) &&
        vv_gpu_source_state(&source) == VV_GPU_WAITING)
        attach();
    return 1;
}

/* By whatever name: the file may have several. */
static bool is_our_injection(const char *path)
{
    Dl_info ours;
    struct stat here, there;
    return dladdr((void *)(uintptr_t)InitializeInjection, &ours) != 0 &&
           stat(ours.dli_fname, &here) == 0 && stat(path, &there) == 0 &&
           here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

static void look(void)
{
    const char *injected = getenv(INJECTION);
    char why[VV_COLLECTOR_TEXT_BYTES_MAX];
    if (vv_gpu_source_state(&source) != VV_GPU_WAITING || !vv_cuda_driver_is_loaded())
        return;
    if (injected != NULL && *injected != '\0' && !is_our_injection(injected)) {
        snprintf(why, sizeof why, INJECTION " names another tool, which was let: %.100s",
                 injected);
        vv_gpu_source_refuse(&source, why);
    } else if (vv_cuda_driver_is_initialised()) {
        attach();
    }
}

static void leave(void)
{
    int saved_errno = errno;
    pthread_mutex_lock(&source.lock);
    if (source.state == VV_GPU_ATTACHED) {
        let_go();
        vv_gpu_source_become(&source, VV_GPU_WAITING);
        vv_collector_note(NAME, VV_COLLECTOR_OFF, "work of devices not recorded any more");
    }
    pthread_mutex_unlock(&source.lock);
    errno = saved_errno;
}

/* ---- another profiler ---- */

void vv_cuda_step_aside(const char *name)
{
    int saved_errno = errno;
    pthread_mutex_lock(&source.lock);
    if (source.state == VV_GPU_ATTACHED) {
        let_go();
        tool = name;
        aside_since_ns = now_ns();
        vv_gpu_source_become(&source, VV_GPU_AWAY);
    }
    pthread_mutex_unlock(&source.lock);
    errno = saved_errno;
}

void vv_cuda_come_back(void)
{
    static unsigned stretches;
    static uint64_t total_ns;
    char why[VV_COLLECTOR_TEXT_BYTES_MAX], text[VV_COLLECTOR_TEXT_BYTES_MAX];
    int saved_errno = errno;
    pthread_mutex_lock(&source.lock);
    if (source.state == VV_GPU_AWAY) {
        uint64_t until_ns = now_ns();
        bool is_back = take_hold(why, sizeof why);
        total_ns += until_ns - aside_since_ns;
        snprintf(text, sizeof text, "device work not recorded: %s has CUPTI", tool);
        vv_cuda_buffers_missing((int64_t)aside_since_ns, (int64_t)until_ns, text);
        snprintf(text, sizeof text, "device work is missing while %s ran: %u times, %llu ms%s",
                 tool, ++stretches, (unsigned long long)total_ns / 1000000,
                 is_back ? "" : "; and from then on, because it keeps CUPTI");
        vv_collector_note("cuda aside", VV_COLLECTOR_NOTE, text);
        if (is_back)
            vv_gpu_source_become(&source, VV_GPU_ATTACHED);
        else
            vv_gpu_source_refuse(&source, why);
    }
    pthread_mutex_unlock(&source.lock);
    errno = saved_errno;
}

extern const struct vv_collector vv_collector_cuda;
const struct vv_collector vv_collector_cuda = { .look = look, .leave = leave };
