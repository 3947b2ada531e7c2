/* SPDX-License-Identifier: Apache-2.0 */
#include "import/rows/device_clock.h"

#include "base/binary_search.h"

__extension__ typedef __int128 wide;

#define NS_PER_S 1000000000

enum varve_code vv_device_clock_pair(struct vv_device_clock *clock, int64_t value, int64_t time_ns,
                                     uint64_t uncertainty_ns, struct varve_error *error)
{
    size_t count = clock->pairs.count;
    const struct vv_clock_pair *last = count == 0 ? NULL : &clock->pairs.items[count - 1];
    if (last != NULL && (value <= last->value || time_ns < last->time_ns)) {
        clock->left_out += value != last->value;
        return VARVE_OK;
    }
    VV_TRY(vv_array_reserve(&clock->pairs.items, &clock->pairs.capacity, count + 1,
                            sizeof *clock->pairs.items, error));
    clock->pairs.items[clock->pairs.count++] = (struct vv_clock_pair){ value, time_ns };
    if (uncertainty_ns > clock->uncertainty_ns)
        clock->uncertainty_ns = uncertainty_ns;
    return VARVE_OK;
}

/* from->time_ns + floor((value - from->value) * ns / values). */
static bool place(int64_t value, const struct vv_clock_pair *from, wide ns, wide values,
                  int64_t *out_ns)
{
    wide scaled, distance = (wide)value - from->value;
    if (__builtin_mul_overflow(distance, ns, &scaled))
        return false;
    wide instant = from->time_ns + scaled / values - (scaled % values < 0);
    *out_ns = (int64_t)instant;
    return instant == *out_ns && vv_is_instant(*out_ns);
}

bool vv_device_clock_ns(const struct vv_device_clock *clock, int64_t value, int64_t *out_ns)
{
    const struct vv_clock_pair *pairs = clock->pairs.items;
    size_t count = clock->pairs.count;
    if (count == 0)
        return false;
    if (count == 1)
        return place(value, &pairs[0], NS_PER_S,
                     clock->frequency_hz == 0 ? NS_PER_S : (wide)clock->frequency_hz, out_ns);
    size_t after = VV_FIRST_NOT(i, 0, count, pairs[i].value <= value);
    bool is_inside = after > 0 && after < count;
    const struct vv_clock_pair *near = &pairs[after == 0 ? 0 : after - 1],
                               *from = is_inside ? near : &pairs[0],
                               *to = is_inside ? &pairs[after] : &pairs[count - 1];
    return place(value, near, (wide)to->time_ns - from->time_ns, (wide)to->value - from->value,
                 out_ns);
}
