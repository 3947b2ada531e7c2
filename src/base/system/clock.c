/* SPDX-License-Identifier: Apache-2.0 */
#include "base/system/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/system/descriptor.h"

#define NS_PER_S UINT64_C(1000000000)

bool vv_clock_is_counter;

static int64_t read_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * (int64_t)NS_PER_S + now.tv_nsec;
}

uint64_t vv_clock_monotonic_ns(void)
{
    return (uint64_t)read_ns(CLOCK_MONOTONIC);
}

/* Did the kernel choose `source` as its clock source? */
static bool kernel_uses(const char *source)
{
    char chosen[32] = "";
    int file = vv_descriptor_open(AT_FDCWD, VV_CLOCK_SOURCE_FILE, O_RDONLY, 0);
    if (file < 0)
        return false;
    ssize_t length = read(file, chosen, sizeof chosen - 1);
    close(file);
    return length > 0 && strncmp(chosen, source, strlen(source)) == 0;
}

void vv_clock_init(void)
{
    static bool decided; /* set once, because threads may already read the clock */
    if (decided)
        return;
    const char *source = VV_COUNTER_KERNEL_SOURCE;
    int saved_errno = errno;
    vv_clock_is_counter = vv_counter_is_steady() && (source == NULL || kernel_uses(source));
    errno = saved_errno;
    decided = true;
}

const char *vv_clock_source(void)
{
    return vv_clock_is_counter ? VV_COUNTER_NAME : "monotonic";
}

void vv_clock_sample(struct vv_clock_sample *out_sample, uint64_t ticks_per_s_guess)
{
    uint64_t best_ticks = UINT64_MAX, best_ns = UINT64_MAX;
    int64_t realtime_offset_ns = 0;
    for (int i = 0; i < 50; i++) {
        uint64_t before = vv_clock_ticks();
        uint64_t monotonic_ns = vv_clock_monotonic_ns();
        uint64_t after = vv_clock_ticks();
        if (after - before < best_ticks) {
            best_ticks = after - before;
            out_sample->ticks = before + best_ticks / 2;
            out_sample->monotonic_ns = monotonic_ns;
        }
        uint64_t first_ns = vv_clock_monotonic_ns();
        int64_t realtime_ns = read_ns(CLOCK_REALTIME);
        uint64_t last_ns = vv_clock_monotonic_ns();
        if (last_ns - first_ns < best_ns) {
            best_ns = last_ns - first_ns;
            realtime_offset_ns = realtime_ns - (int64_t)(first_ns + best_ns / 2);
        }
    }
    out_sample->realtime_ns = (int64_t)out_sample->monotonic_ns + realtime_offset_ns;
    uint64_t bracket_ticks = best_ticks + 1; /* a slow counter may not have moved */
    uint64_t bracket_ns =
        ticks_per_s_guess != 0 ? bracket_ticks * NS_PER_S / ticks_per_s_guess : bracket_ticks;
    out_sample->uncertainty_ns = bracket_ns / 2 + best_ns / 2 + 1;
}

uint64_t vv_clock_frequency(const struct vv_clock_sample *from, const struct vv_clock_sample *to)
{
    uint64_t ns = to->monotonic_ns - from->monotonic_ns;
    if (to->monotonic_ns <= from->monotonic_ns || to->ticks <= from->ticks || ns < 100000)
        return 0;
    return (uint64_t)(((vv_u128)(to->ticks - from->ticks) * NS_PER_S + ns / 2) / ns);
}

uint64_t vv_clock_measure(void)
{
    if (!vv_clock_is_counter)
        return NS_PER_S;
    struct vv_clock_sample from, to;
    vv_clock_sample(&from, 0);
    while (vv_clock_monotonic_ns() - from.monotonic_ns < 1000000)
        continue;
    vv_clock_sample(&to, 0);
    return vv_clock_frequency(&from, &to);
}
