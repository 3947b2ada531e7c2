/* SPDX-License-Identifier: Apache-2.0 */
/* calls.c — calls are chosen by the names that the library gives to their numbers, so no table of
 * numbers can be wrong for a version. */
#include "collect/rocm/calls.h"

#include <errno.h>
#include <string.h>

#include "collect/gpu/calls.h"
#include "collect/process/launches.h"
#include "collect/rocm/agents.h"

#define NAMES_BYTES (UINT32_C(64) * 1024)

/* Beginnings of names: those of calls that launch a kernel come first. */
#define KERNEL_LAUNCHES 5
static const char *const starts_or_waits[] = {
    "hipLaunch", "hipExtLaunch", "hipModuleLaunch", "hipExtModuleLaunch", "hipHccModuleLaunch",
    "hipGraphLaunch", "hipGraphInstantiate", "hipMemcpy", "hipMemset", "hipMemPrefetch",
    "hipMalloc", "hipExtMalloc", "hipMemAlloc", "hipFree", "hipHostMalloc", "hipHostAlloc",
    "hipHostFree", "hipHostRegister", "hipDeviceSynchronize", "hipStreamSynchronize",
    "hipEventSynchronize", "hipStreamWaitEvent", "hipEventRecord", "hipDeviceReset",
    "hipModuleLoad", "hipLibraryLoad",
};

static struct varve_site sites[VV_ROCM_CALLS_MAX]; /* name NULL: not told of                     */
static bool launches[VV_ROCM_CALLS_MAX];           /* a kernel                                    */
static char names[NAMES_BYTES];
static struct vv_gpu_calls calls = { .describe = vv_rocm_devices_describe, .names = names,
                                     .names_bytes = sizeof names };

static _Thread_local uint64_t stream; /* number + 1                                              */

/* Does the name begin with one of the first `count`? */
static bool begins_with_any(const char *name, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(name, starts_or_waits[i], strlen(starts_or_waits[i])) == 0)
            return true;
    return false;
}

static bool is_wanted(const char *name, bool all)
{
    return all || begins_with_any(name, sizeof starts_or_waits / sizeof *starts_or_waits);
}

size_t vv_rocm_calls_choose(int kind, bool all, int32_t out_calls[VV_ROCM_CALLS_MAX])
{
    size_t count = 0;
    for (int32_t id = 0; id < (int32_t)VV_ROCM_CALLS_MAX; id++) {
        const char *name = NULL;
        uint64_t length = 0;
        if (vv_rocp.callback_name(kind, id, &name, &length) == VV_ROCP_SUCCESS && name != NULL &&
            is_wanted(name, all) && vv_gpu_call_name(&calls, &sites[id], name, strlen(name)))
            out_calls[count++] = id;
        launches[id] = sites[id].name != NULL && begins_with_any(name, KERNEL_LAUNCHES);
    }
    return count;
}

void vv_rocm_calls_begin(void (*flush)(void))
{
    calls.flush = flush;
    vv_gpu_calls_begin(&calls);
}

void vv_rocm_call(int32_t operation, uint32_t phase, uint64_t correlation, uint64_t *shared)
{
    if (operation < 0 || operation >= (int32_t)VV_ROCM_CALLS_MAX ||
        sites[operation].name == NULL || vv_gpu_calls_have_ended(&calls))
        return;
    int saved_errno = errno;
    if (phase == VV_ROCP_ENTER && launches[operation] && vv_launches_are_wanted())
        vv_launch_note_unnamed((uint32_t)correlation);
    if (phase == VV_ROCP_ENTER)
        *shared = vv_gpu_call_begin(&calls, &sites[operation], correlation);
    else
        vv_gpu_call_end(&calls, *shared);
    errno = saved_errno;
}

void vv_rocm_call_for(uint64_t of_stream, bool begins)
{
    stream = begins ? of_stream + 1 : VV_ROCM_NO_STREAM;
}

int vv_rocm_launch(uint64_t thread, uint64_t context, int kind, int32_t operation,
                   uint64_t internal, uint64_t *out_external)
{
    (void)thread;
    (void)context;
    (void)kind;
    (void)operation;
    *out_external = stream;
    if (vv_gpu_call_is_outer() && !vv_gpu_calls_have_ended(&calls)) {
        int saved_errno = errno;
        vv_gpu_launch_alone(&calls, internal);
        errno = saved_errno;
    }
    return 0;
}

bool vv_rocm_call_was_on(uint64_t correlation)
{
    return vv_gpu_call_was_on(&calls, correlation);
}

void vv_rocm_calls_end(void)
{
    vv_gpu_calls_end(&calls);
}
