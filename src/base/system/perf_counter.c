/* SPDX-License-Identifier: Apache-2.0 */
#include "base/system/perf_counter.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/system/descriptor.h"

#define PAGE_BYTES 4096u

uint64_t vv_counter_instruction(uint32_t index)
{
#if defined(__x86_64__)
    uint32_t low, high;
    __asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index));
    return (uint64_t)high << 32 | low;
#else
    (void)index;
    return 0;
#endif
}

static bool is_readable(const struct perf_event_mmap_page *page)
{
#if defined(__x86_64__)
    return page->cap_user_rdpmc && page->pmc_width > 0 && page->pmc_width <= 64;
#else
    (void)page;
    return false;
#endif
}

int vv_perf_counter_open(uint32_t type, uint64_t config, struct perf_event_mmap_page **out_page)
{
    struct perf_event_attr attributes = {
        .size = sizeof attributes, .type = type, .config = config,
        .exclude_kernel = 1, .exclude_hv = 1,
    };
    int failure = 0, descriptor = vv_descriptor_event(&attributes);
    *out_page = NULL;
    if (descriptor < 0)
        return errno;
    void *page = mmap(NULL, PAGE_BYTES, PROT_READ, MAP_SHARED, descriptor, 0);
    if (page == MAP_FAILED)
        failure = errno;
    close(descriptor);
    if (failure == 0 && !is_readable(page)) {
        munmap(page, PAGE_BYTES);
        failure = EACCES;
    }
    if (failure == 0)
        *out_page = page;
    return failure;
}

void vv_perf_counter_close(struct perf_event_mmap_page *page)
{
    munmap(page, PAGE_BYTES);
}

const char *vv_perf_counter_reason(int failure)
{
    switch (failure) {
    case ENOENT:
    case EOPNOTSUPP:
    case ENODEV:
        return "no such counter in this processor or virtual machine";
    case EPERM:
    case EACCES:
        return "programs may not read it (kernel.perf_event_paranoid, rdpmc)";
    case ENOSYS:
        return "the kernel has no perf_event_open";
    default:
        return strerrordesc_np(failure) != NULL ? strerrordesc_np(failure) : "unknown error";
    }
}

/* The kernel changes the page while the thread is not running, and says so in `lock`. */
uint64_t vv_perf_counter_read(const struct perf_event_mmap_page *page, vv_read_counter *read)
{
    uint32_t sequence, index;
    uint64_t count;
    do {
        sequence = __atomic_load_n(&page->lock, __ATOMIC_ACQUIRE);
        index = page->index;
        count = (uint64_t)page->offset;
        if (index != 0) {
            const unsigned unused_bits = 64u - page->pmc_width;
            /* a counter has pmc_width bits, the highest one is its sign */
            count += (uint64_t)((int64_t)(read(index - 1) << unused_bits) >> unused_bits);
        }
        __atomic_signal_fence(__ATOMIC_ACQUIRE);
    } while (__atomic_load_n(&page->lock, __ATOMIC_ACQUIRE) != sequence);
    return index != 0 ? count : VV_COUNT_UNKNOWN;
}
