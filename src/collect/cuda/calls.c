/* SPDX-License-Identifier: Apache-2.0 */
/* calls.c — functions are chosen by the names that CUPTI gives to their numbers, so no table of
 * numbers can be wrong for a version. */
#include "collect/cuda/calls.h"

#include <errno.h>
#include <string.h>

#include "base/system/clock.h"
#include "collect/cuda/driver.h"
#include "collect/gpu/calls.h"
#include "collect/process/launches.h"

#define DOMAINS 2
#define CALLS_MAX 1024u /* of a domain: 13.5 has 800                                             */
#define NAMES_BYTES (UINT32_C(128) * 1024)

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

static uint64_t last_told_ns; /* when CUPTI told of a call, within a second; atomic              */

static void flush(void)
{
    __atomic_store_n(&last_told_ns, vv_clock_monotonic_ns(), __ATOMIC_RELAXED);
    (void)vv_cupti.flush_all(0);
}

static struct varve_site sites[DOMAINS][CALLS_MAX]; /* name NULL: not told of                    */
static char names[NAMES_BYTES];
static struct vv_gpu_calls calls = { .flush = flush, .describe = vv_cuda_devices_describe,
                                     .names = names, .names_bytes = sizeof names };

/* ---- numbers ---- */

#define REACHED_STEP (UINT64_C(1) << 24)

static uint64_t reached; /* a number near those of now; 0: CUPTI begins, maybe anew; atomic       */
static uint64_t highest; /* number of a piece of work that is in the trace; atomic                */

/* After CUPTI was ended and begins anew, no number is one that is in the trace. */
static uint64_t first_number(uint32_t correlation)
{
    uint64_t before = __atomic_load_n(&highest, __ATOMIC_RELAXED);
    int64_t number = (int64_t)before + (int32_t)(correlation - (uint32_t)before);
    if (before == 0)
        return correlation;
    return (uint64_t)number > before ? (uint64_t)number : (uint64_t)number + (UINT64_C(1) << 32);
}

uint64_t vv_cuda_call_number(uint32_t correlation)
{
    uint64_t near = __atomic_load_n(&reached, __ATOMIC_RELAXED);
    if (near == 0) {
        uint64_t first = first_number(correlation);
        if (__atomic_compare_exchange_n(&reached, &near, first, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            near = first;
    }
    int64_t number = (int64_t)near + (int32_t)(correlation - (uint32_t)near);
    if (number > (int64_t)(near + REACHED_STEP))
        __atomic_store_n(&reached, (uint64_t)number, __ATOMIC_RELAXED);
    return number >= 0 ? (uint64_t)number : correlation;
}

void vv_cuda_call_has_work(uint64_t number)
{
    if (number > __atomic_load_n(&highest, __ATOMIC_RELAXED))
        __atomic_store_n(&highest, number, __ATOMIC_RELAXED);
}

bool vv_cuda_call_was_on(uint64_t number)
{
    return vv_gpu_call_was_on(&calls, number);
}

/* ---- does CUPTI still tell? ---- */

/* A call of this library's own, which only CUPTI can know of. */
#define PROBE "cuDriverGetVersion"

static enum { UNTRIED, WORKS, FAILS } probe; /* atomic */
static _Thread_local bool was_told;

static bool is_probe_told(void)
{
    was_told = false;
    return !vv_cuda_driver_call() || was_told;
}

/* In a call that CUPTI has told of. */
static void try_probe(void)
{
    __atomic_store_n(&last_told_ns, vv_clock_monotonic_ns(), __ATOMIC_RELAXED);
    __atomic_store_n(&probe, is_probe_told() ? WORKS : FAILS, __ATOMIC_RELAXED);
}

bool vv_cuda_calls_are_told(void)
{
    return __atomic_load_n(&probe, __ATOMIC_RELAXED) != WORKS || is_probe_told();
}

void vv_cuda_calls_disabled(void)
{
    __atomic_store_n(&probe, UNTRIED, __ATOMIC_RELAXED);
}

uint64_t vv_cuda_calls_last_ns(void)
{
    return __atomic_load_n(&last_told_ns, __ATOMIC_RELAXED);
}

/* ---- a call ---- */

/* The name of a kernel is there in launches alone. */
static bool is_launch(const char *name)
{
    return strncmp(name, "cuLaunch", 8) == 0 || strncmp(name, "cudaLaunch", 10) == 0;
}

void vv_cuda_call(void *user, int domain, uint32_t id, const struct vv_cupti_call *call)
{
    (void)user;
    if (vv_cuda_driver_is_ours()) {
        was_told = true;
        return;
    }
    if (domain < VV_CUPTI_DRIVER || domain > VV_CUPTI_RUNTIME || id >= CALLS_MAX ||
        sites[domain - 1][id].name == NULL || vv_gpu_calls_have_ended(&calls))
        return;
    int saved_errno = errno;
    if (call->site == 0 && vv_gpu_call_is_outer() && vv_launches_are_wanted() &&
        is_launch(sites[domain - 1][id].name))
        vv_launch_note(call->kernel, call->correlation);
    if (call->site == 0)
        *call->data = vv_gpu_call_begin(&calls, &sites[domain - 1][id],
                                        vv_cuda_call_number(call->correlation));
    else
        vv_gpu_call_end(&calls, *call->data);
    if (__atomic_load_n(&probe, __ATOMIC_RELAXED) == UNTRIED)
        try_probe();
    errno = saved_errno;
}

void vv_cuda_calls_end(void)
{
    vv_gpu_calls_end(&calls);
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

uint32_t vv_cuda_calls_enable(void *subscriber, bool all)
{
    uint32_t count = 0;
    vv_gpu_calls_begin(&calls);
    __atomic_store_n(&reached, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&probe, UNTRIED, __ATOMIC_RELAXED);
    for (int domain = VV_CUPTI_DRIVER; domain <= VV_CUPTI_RUNTIME; domain++)
        for (uint32_t id = 1; id < CALLS_MAX; id++) {
            const char *name = NULL;
            if (vv_cupti.callback_name(domain, id, &name) == VV_CUPTI_SUCCESS && name != NULL &&
                is_wanted(name, all) &&
                vv_gpu_call_name(&calls, &sites[domain - 1][id], name, plain_length(name)))
                count += vv_cupti.enable_callback(1, subscriber, domain, id) == VV_CUPTI_SUCCESS;
            else if (name != NULL && strcmp(name, PROBE) == 0)
                (void)vv_cupti.enable_callback(1, subscriber, domain, id);
        }
    return count;
}
