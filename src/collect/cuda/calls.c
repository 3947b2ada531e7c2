/* SPDX-License-Identifier: Apache-2.0 */
/* calls.c — functions are chosen by the names that CUPTI gives to their numbers, so no table of
 * numbers can be wrong for a version. */
#include "collect/cuda/calls.h"

#include <errno.h>
#include <string.h>

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

static void flush(void)
{
    (void)vv_cupti.flush_all(0);
}

static struct varve_site sites[DOMAINS][CALLS_MAX]; /* name NULL: not told of                    */
static char names[NAMES_BYTES];
static struct vv_gpu_calls calls = { .flush = flush, .describe = vv_cuda_devices_describe,
                                     .names = names, .names_bytes = sizeof names,
                                     .numbers_are_short = true };

bool vv_cuda_call_was_on(uint32_t correlation)
{
    return vv_gpu_call_was_on(&calls, correlation);
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
    if (domain < VV_CUPTI_DRIVER || domain > VV_CUPTI_RUNTIME || id >= CALLS_MAX ||
        sites[domain - 1][id].name == NULL || vv_gpu_calls_have_ended(&calls) ||
        vv_cuda_driver_is_ours())
        return;
    int saved_errno = errno;
    if (call->site == 0 && vv_gpu_call_is_outer() && vv_launches_are_wanted() &&
        is_launch(sites[domain - 1][id].name))
        vv_launch_note(call->kernel, call->correlation);
    if (call->site == 0)
        *call->data = vv_gpu_call_begin(&calls, &sites[domain - 1][id], call->correlation);
    else
        vv_gpu_call_end(&calls, *call->data);
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
    for (int domain = VV_CUPTI_DRIVER; domain <= VV_CUPTI_RUNTIME; domain++)
        for (uint32_t id = 1; id < CALLS_MAX; id++) {
            const char *name = NULL;
            if (vv_cupti.callback_name(domain, id, &name) == VV_CUPTI_SUCCESS && name != NULL &&
                is_wanted(name, all) &&
                vv_gpu_call_name(&calls, &sites[domain - 1][id], name, plain_length(name)))
                count += vv_cupti.enable_callback(1, subscriber, domain, id) == VV_CUPTI_SUCCESS;
        }
    return count;
}
