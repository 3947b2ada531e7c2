/* SPDX-License-Identifier: Apache-2.0 */
#include "torch_least.h"

#include <string.h>
#include <sys/mman.h>

#include "base/system/clock.h"
#include "new_pages.h"

#define RING_BYTES ((size_t)64 << 20) /* when a line comes again, no cache holds it              */
#define VALUES_MAX 64u                /* more inputs of one operator are not looked at           */
#define WORDS_MAX (1 + VALUES_MAX * (1 + VV_TORCH_INLINE_RANK))

long bench_least_counted;

static struct vv_torch_layout layout;
static uint64_t *ring;
static uint64_t *next, *limit; /* where the next words go; behind `limit` there may be no room   */
static bool are_pages_new;

bool bench_least_open(const struct vv_torch_layout *found, const char *trace)
{
    layout = *found;
    vv_clock_init();
    bench_new_pages_begin(trace);
    ring = mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (ring == MAP_FAILED)
        return false;
    memset(ring, 1, RING_BYTES);
    return true;
}

static __attribute__((noinline)) uint64_t *take_room(void)
{
    next = are_pages_new ? bench_next_window() : ring;
    limit = next + (are_pages_new ? BENCH_WINDOW_BYTES : RING_BYTES) / 8 - WORDS_MAX;
    return next;
}

void bench_least_use_new_pages(bool new_pages)
{
    are_pages_new = new_pages;
    take_room();
}

static inline uint64_t *place(void)
{
    return __builtin_expect(next < limit, 1) ? next : take_room();
}

void *bench_least_times(void **out_context, const void *guard)
{
    (void)guard;
    uint64_t *to = place();
    *out_context = NULL;
    *to = vv_clock_ticks();
    next = to + 1;
    return out_context;
}

void *bench_least_shapes(void **out_context, const void *guard)
{
    const struct vv_torch_value *values =
        (const struct vv_torch_value *)(uintptr_t)vv_torch_word(guard, layout.inputs.values);
    size_t count = vv_torch_word(guard, layout.inputs.values + 8u);
    uint64_t *to = place();
    *out_context = NULL;
    *to++ = vv_clock_ticks();
    count = count < VALUES_MAX ? count : VALUES_MAX;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *tensor = (const uint8_t *)(uintptr_t)values[i].payload;
        if (values[i].tag != VV_TORCH_TAG_TENSOR || tensor == NULL)
            continue;
        memcpy(to, tensor + layout.tensors.rank, 8 * (1 + VV_TORCH_INLINE_RANK));
        to += 1 + (*to <= VV_TORCH_INLINE_RANK ? *to : 0);
    }
    next = to;
    return out_context;
}

void bench_least_end(const void *guard, void *context)
{
    (void)guard;
    (void)context;
    uint64_t *to = place();
    *to = vv_clock_ticks();
    next = to + 1;
}

void *bench_least_count(void **out_context, const void *guard)
{
    (void)guard;
    *out_context = NULL;
    bench_least_counted++;
    return out_context;
}
