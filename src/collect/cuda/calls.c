/* SPDX-License-Identifier: Apache-2.0 */
/* calls.c — functions are chosen by the names that CUPTI gives to their numbers, so no table of
 * numbers can be wrong for a version.
 *
 * A call of the runtime may call the driver in turn, with a correlation of its own or with the same
 * one. Only the outer call is a range; an inner correlation counts as one of the outer call's. */
#include "collect/cuda/calls.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/system/clock.h"
#include "collect/cuda/driver.h"
#include "collect/process/launches.h"
#include "record/stream/hand_over.h"
#include "record/stream/recorder.h"
#include "varve/device.h"

#define DOMAINS 2
#define CALLS_MAX 1024u /* of a domain: 13.5 has 800                                             */
#define NAMES_BYTES (UINT32_C(128) * 1024)
#define SWITCHES 64u

/* Beginnings of names. */
static const char *const starts_or_waits[] = {
    "cudaLaunch", "cuLaunch", "cudaGraphLaunch", "cuGraphLaunch", "cudaMemcpy", "cuMemcpy",
    "cudaMemset", "cuMemset", "cudaMemPrefetch", "cuMemPrefetch", "cudaMalloc", "cuMemAlloc",
    "cudaFree", "cuMemFree", "cudaHostAlloc", "cuMemHostAlloc", "cudaHostRegister",
    "cuMemHostRegister", "cudaDeviceSynchronize", "cuCtxSynchronize", "cudaStreamSynchronize",
    "cuStreamSynchronize", "cudaEventSynchronize", "cuEventSynchronize", "cudaStreamWaitEvent",
    "cuStreamWaitEvent", "cudaEventRecord", "cuEventRecord", "cudaDeviceReset",
    "cuDevicePrimaryCtxReset", "cudaGraphInstantiate", "cuGraphInstantiate", "cuModuleLoad",
    "cuLibraryLoad",
};

static struct varve_site sites[DOMAINS][CALLS_MAX]; /* name NULL: not told of                    */
static char names[NAMES_BYTES];
static size_t name_bytes;
static uint64_t next_flush_ticks; /* atomic                                                      */
static bool has_ended;            /* atomic                                                      */

/* Since when calls are recorded, or not: by correlation, which CUPTI counts up. */
static struct { uint32_t correlation; bool is_on; } switches[SWITCHES]; /* atomic                 */
static uint32_t switch_count;                                           /* atomic                 */

static _Thread_local uint32_t depth; /* calls of this thread that have not returned               */

/* ---- what was recorded when ---- */

static void note_switch(uint32_t correlation, bool is_on)
{
    uint32_t count = __atomic_load_n(&switch_count, __ATOMIC_ACQUIRE);
    bool was_on = count == 0 || switches[(count - 1) % SWITCHES].is_on;
    if (is_on == was_on ||
        !__atomic_compare_exchange_n(&switch_count, &count, count + 1, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED))
        return;
    __atomic_store_n(&switches[count % SWITCHES].correlation, correlation, __ATOMIC_RELAXED);
    __atomic_store_n(&switches[count % SWITCHES].is_on, is_on, __ATOMIC_RELEASE);
    if (!is_on)
        vv_hand_over_ask();
}

bool vv_cuda_call_was_on(uint32_t correlation)
{
    uint32_t count = __atomic_load_n(&switch_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = count; i > 0 && count - i < SWITCHES; i--)
        if (__atomic_load_n(&switches[(i - 1) % SWITCHES].correlation, __ATOMIC_RELAXED) <=
            correlation)
            return __atomic_load_n(&switches[(i - 1) % SWITCHES].is_on, __ATOMIC_RELAXED);
    return true;
}

/* ---- a call ---- */

/* What begin and end of a call share: is the range open, and in which epoch did it begin? */
static uint64_t begin(struct varve_site *site, uint32_t correlation)
{
    uint32_t layers = varve_layers();
    bool is_on = (layers & VARVE_LAYER_DEVICE) != 0;
    note_switch(correlation, is_on);
    bool is_range = depth++ == 0 && (layers & VARVE_LAYER_RUNTIME) != 0;
    if (is_range)
        varve_begin(site);
    if (is_on)
        varve_emit_launch(correlation);
    return is_range ? (uint64_t)vv_epoch() << 1 | 1 : 0;
}

/* At most once a second, by one thread: CUPTI hands over what is complete, and waits for no
 * device. */
static void flush_now_and_then(void)
{
    uint64_t due = __atomic_load_n(&next_flush_ticks, __ATOMIC_RELAXED);
    if ((int64_t)(vv_clock_ticks() - due) < 0 ||
        !__atomic_compare_exchange_n(&next_flush_ticks, &due, vv_clock_in_a_second(), false,
                                     __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return;
    (void)vv_cupti.flush_all(0);
}

static void end(uint64_t begun)
{
    if ((begun & 1) != 0 && begun >> 1 == vv_epoch())
        varve_end();
    depth -= depth > 0;
    if (depth == 0) {
        flush_now_and_then();
        vv_hand_over_where_asked();
        vv_cuda_devices_describe();
    }
}

/* The name of a kernel is there in launches alone. */
static bool is_launch(const char *name)
{
    return strncmp(name, "cuLaunch", 8) == 0 || strncmp(name, "cudaLaunch", 10) == 0;
}

void vv_cuda_call(void *user, int domain, uint32_t id, const struct vv_cupti_call *call)
{
    (void)user;
    if (domain < VV_CUPTI_DRIVER || domain > VV_CUPTI_RUNTIME || id >= CALLS_MAX ||
        sites[domain - 1][id].name == NULL || __atomic_load_n(&has_ended, __ATOMIC_RELAXED) ||
        vv_cuda_driver_is_ours())
        return;
    int saved_errno = errno;
    if (call->site == 0 && depth == 0 && vv_launches_are_wanted() &&
        is_launch(sites[domain - 1][id].name))
        vv_launch_note(call->kernel, call->correlation);
    if (call->site == 0)
        *call->data = begin(&sites[domain - 1][id], call->correlation);
    else
        end(*call->data);
    errno = saved_errno;
}

void vv_cuda_calls_end(void)
{
    __atomic_store_n(&has_ended, true, __ATOMIC_RELAXED);
}

/* ---- which calls ---- */

static bool is_wanted(const char *name, bool all)
{
    for (size_t i = 0; i < sizeof starts_or_waits / sizeof *starts_or_waits && !all; i++)
        if (strncmp(name, starts_or_waits[i], strlen(starts_or_waits[i])) == 0)
            return true;
    return all;
}

/* The length of the name without what says the version of its parameters, and which stream is the
 * standard one: "_v3020", "_ptsz", "_ptds". */
static size_t plain_length(const char *name)
{
    size_t length = strlen(name), digits = length;
    while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9')
        digits--;
    if (digits < length && digits > 2 && strncmp(name + digits - 2, "_v", 2) == 0)
        length = digits - 2;
    if (length > 5 && (strncmp(name + length - 5, "_ptsz", 5) == 0 ||
                       strncmp(name + length - 5, "_ptds", 5) == 0))
        length -= 5;
    return length;
}

static bool make_site(struct varve_site *site, const char *name)
{
    size_t length = plain_length(name);
    if (site->name != NULL)
        return true;
    if (name_bytes + length + 1 > sizeof names)
        return false;
    char *text = memcpy(names + name_bytes, name, length);
    name_bytes += length + 1;
    site->layer = VARVE_LAYER_RUNTIME;
    site->name = text;
    return true;
}

uint32_t vv_cuda_calls_enable(void *subscriber, bool all)
{
    uint32_t count = 0;
    __atomic_store_n(&next_flush_ticks, vv_clock_in_a_second(), __ATOMIC_RELAXED);
    for (int domain = VV_CUPTI_DRIVER; domain <= VV_CUPTI_RUNTIME; domain++)
        for (uint32_t id = 1; id < CALLS_MAX; id++) {
            const char *name = NULL;
            if (vv_cupti.callback_name(domain, id, &name) == VV_CUPTI_SUCCESS && name != NULL &&
                is_wanted(name, all) && make_site(&sites[domain - 1][id], name))
                count += vv_cupti.enable_callback(1, subscriber, domain, id) == VV_CUPTI_SUCCESS;
        }
    return count;
}
