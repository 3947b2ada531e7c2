/* SPDX-License-Identifier: Apache-2.0 */
#include "device/cuda/anchor.h"

#include <pthread.h>

#include "base/error.h"
#include "base/system/clock.h"

#define ANCHORS 64u /* of each device: four minutes                                              */
#define AGE_NS INT64_C(4000000000)
#define TRIES 4

struct anchor {
    CUevent event;
    int64_t ns;
};

static struct {
    CUstream stream;
    uint64_t newest; /* number of the newest anchor; 0 = none; atomic                            */
    struct anchor anchors[ANCHORS];
} devices[VARVE_BACKEND_DEVICES_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int64_t vv_cuda_ns(float ms)
{
    double ns = (double)ms * 1e6;
    return (int64_t)(ns < 0 ? ns - 0.5 : ns + 0.5);
}

static enum varve_code prepare(uint32_t device, struct anchor *anchor, struct varve_error *error)
{
    if (devices[device].stream == NULL)
        VV_CUDA_TRY(cuStreamCreate, &devices[device].stream, CU_STREAM_NON_BLOCKING);
    if (anchor->event == NULL)
        VV_CUDA_TRY(cuEventCreate, &anchor->event, CU_EVENT_DEFAULT);
    return VARVE_OK;
}

/* Of some tries the last one counts, and the closest try bounds how wrong it may be. Lock held. */
static enum varve_code make(uint32_t device, struct varve_clock_reading *out,
                            struct varve_error *error)
{
    uint64_t number = devices[device].newest + 1, least_ns = UINT64_MAX;
    struct anchor *anchor = &devices[device].anchors[number % ANCHORS];
    VV_TRY(prepare(device, anchor, error));
    for (int i = 0; i < TRIES; i++) {
        uint64_t before_ns = vv_clock_monotonic_ns(), before = vv_clock_ticks();
        VV_CUDA_TRY(cuEventRecord, anchor->event, devices[device].stream);
        VV_CUDA_TRY(cuEventSynchronize, anchor->event);
        uint64_t after = vv_clock_ticks(), after_ns = vv_clock_monotonic_ns();
        anchor->ns = (int64_t)(before_ns + (after_ns - before_ns) / 2);
        *out = (struct varve_clock_reading){ anchor->ns, before + (after - before) / 2,
                                             (after_ns - before_ns) / 2 + 1 };
        if (after_ns - before_ns <= least_ns && i > 0)
            break;
        least_ns = after_ns - before_ns;
    }
    __atomic_store_n(&devices[device].newest, number, __ATOMIC_RELEASE);
    return VARVE_OK;
}

enum varve_code vv_cuda_anchor_now(uint32_t device, struct varve_clock_reading *out_reading,
                                   struct varve_error *error)
{
    pthread_mutex_lock(&lock);
    enum varve_code code = make(device, out_reading, error);
    pthread_mutex_unlock(&lock);
    return code;
}

static bool is_fresh(uint32_t device, uint64_t number)
{
    return number != 0 && (int64_t)vv_clock_monotonic_ns() -
                                  devices[device].anchors[number % ANCHORS].ns < AGE_NS;
}

enum varve_code vv_cuda_anchor(uint32_t device, uint64_t *out_number, struct varve_error *error)
{
    struct varve_clock_reading unused;
    uint64_t number = __atomic_load_n(&devices[device].newest, __ATOMIC_ACQUIRE);
    if (!is_fresh(device, number)) {
        pthread_mutex_lock(&lock);
        enum varve_code code = VARVE_OK;
        if (!is_fresh(device, devices[device].newest))
            code = make(device, &unused, error);
        number = devices[device].newest;
        pthread_mutex_unlock(&lock);
        VV_TRY(code);
    }
    *out_number = number;
    return VARVE_OK;
}

enum varve_code vv_cuda_instant(uint32_t device, uint64_t number, CUevent event, int64_t *out_ns,
                                struct varve_error *error)
{
    float ms = 0;
    pthread_mutex_lock(&lock);
    bool is_there = devices[device].newest - number < ANCHORS;
    struct anchor anchor = devices[device].anchors[number % ANCHORS];
    CUresult result =
        is_there ? vv_cu.cuEventElapsedTime(&ms, anchor.event, event) : CUDA_SUCCESS;
    pthread_mutex_unlock(&lock);
    if (!is_there)
        VV_FAIL(error, VARVE_LIMIT, "cuda: an event is told too late: minutes after it was");
    if (result != CUDA_SUCCESS)
        return vv_cuda_fail("cuEventElapsedTime", result, error);
    *out_ns = anchor.ns + vv_cuda_ns(ms);
    return VARVE_OK;
}
