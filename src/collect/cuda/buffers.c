/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/cuda/buffers.h"

#include <errno.h>
#include <time.h>

#include "base/system/os.h"
#include "collect/cuda/work.h"

#define SETTLING_NAPS 200 /* of 0.1 ms                                                          */

static struct {
    uint8_t *memory; /* set once; atomic                                                         */
    bool is_out;     /* CUPTI has it; atomic                                                     */
} buffers[VV_CUDA_BUFFERS];

static struct vv_gpu_counts counts;

const struct vv_gpu_counts *vv_cuda_buffer_counts(void)
{
    return &counts;
}

/* The slot is the caller's. NULL: there is no memory. */
static uint8_t *memory_of(size_t slot)
{
    uint8_t *memory = __atomic_load_n(&buffers[slot].memory, __ATOMIC_RELAXED);
    if (memory == NULL) {
        int saved_errno = errno;
        memory = vv_os_reserve(VV_CUDA_BUFFER_BYTES);
        errno = saved_errno;
        __atomic_store_n(&buffers[slot].memory, memory, __ATOMIC_RELEASE);
    }
    return memory;
}

void vv_cuda_buffer_request(uint8_t **out_buffer, size_t *out_bytes, size_t *out_records_max)
{
    *out_buffer = NULL;
    *out_bytes = *out_records_max = 0;
    for (size_t i = 0; i < VV_CUDA_BUFFERS && *out_buffer == NULL; i++) {
        if (__atomic_exchange_n(&buffers[i].is_out, true, __ATOMIC_ACQUIRE))
            continue;
        *out_buffer = memory_of(i);
        *out_bytes = *out_buffer != NULL ? VV_CUDA_BUFFER_BYTES : 0;
        if (*out_buffer == NULL) {
            __atomic_store_n(&buffers[i].is_out, false, __ATOMIC_RELEASE);
            return;
        }
    }
}

/* VV_CUDA_BUFFERS: the buffer is another tool's. */
static size_t slot_of(const uint8_t *buffer)
{
    size_t slot = buffer != NULL ? 0 : VV_CUDA_BUFFERS;
    while (slot < VV_CUDA_BUFFERS &&
           __atomic_load_n(&buffers[slot].memory, __ATOMIC_ACQUIRE) != buffer)
        slot++;
    return slot;
}

/* CUPTI does not say how long a record is: it ends where the next one begins. An address outside of
 * the buffer, or one that does not go on, ends the reading, and counts as one lost record. */
static void read_records(uint8_t *buffer, size_t valid_bytes)
{
    void *record = NULL, *next = NULL;
    bool is_there = vv_cupti.next_record(buffer, valid_bytes, &record) == VV_CUPTI_SUCCESS;
    while (is_there) {
        const uint8_t *at = record, *end = buffer + valid_bytes;
        if (at < buffer || at >= end) {
            vv_gpu_count(&counts, VV_GPU_SHORT);
            break;
        }
        next = record;
        is_there = vv_cupti.next_record(buffer, valid_bytes, &next) == VV_CUPTI_SUCCESS;
        const uint8_t *after = is_there ? next : end;
        if (after <= at || after > end) {
            vv_gpu_count(&counts, VV_GPU_SHORT);
            break;
        }
        vv_gpu_count(&counts, vv_cuda_work_take(at, (size_t)(after - at)));
        record = next;
    }
}

static void count_dropped(void)
{
    size_t dropped = 0;
    if (vv_cupti.dropped(NULL, 0, &dropped) == VV_CUPTI_SUCCESS)
        vv_gpu_count_dropped(&counts, dropped);
}

void vv_cuda_buffer_complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
                             size_t valid_bytes)
{
    (void)context;
    (void)stream;
    size_t slot = slot_of(buffer);
    if (slot == VV_CUDA_BUFFERS || valid_bytes > bytes || bytes > VV_CUDA_BUFFER_BYTES)
        return;
    int saved_errno = errno;
    if (!vv_gpu_records_have_ended()) {
        vv_gpu_records_lock();
        if (valid_bytes > 0)
            read_records(buffer, valid_bytes);
        count_dropped();
        vv_gpu_records_unlock();
    }
    errno = saved_errno;
    __atomic_store_n(&buffers[slot].is_out, false, __ATOMIC_RELEASE);
}

static bool is_any_out(void)
{
    size_t slot = 0;
    while (slot < VV_CUDA_BUFFERS && !__atomic_load_n(&buffers[slot].is_out, __ATOMIC_ACQUIRE))
        slot++;
    return slot < VV_CUDA_BUFFERS;
}

void vv_cuda_buffers_settle(void)
{
    const struct timespec nap = { 0, 100000 };
    for (int naps = 0; naps < SETTLING_NAPS && is_any_out(); naps++)
        nanosleep(&nap, NULL);
}

void vv_cuda_buffers_missing(int64_t begin_ns, int64_t end_ns, const char *why)
{
    vv_gpu_records_lock();
    vv_cuda_work_missing(begin_ns, end_ns, why);
    vv_gpu_records_unlock();
}
