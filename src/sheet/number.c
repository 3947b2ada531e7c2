/* SPDX-License-Identifier: Apache-2.0 */
#include "sheet/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct vv_scale time_scale[] = {
    { "ns", 1 }, { "µs", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { NULL, 0 }
};
static const struct vv_scale byte_scale[] = {
    { "B", 1 }, { "kB", 1e3 }, { "MB", 1e6 }, { "GB", 1e9 }, { "TB", 1e12 }, { NULL, 0 }
};
static const struct vv_scale flop_scale[] = {
    { "FLOP", 1 },     { "kFLOP", 1e3 },  { "MFLOP", 1e6 }, { "GFLOP", 1e9 },
    { "TFLOP", 1e12 }, { "PFLOP", 1e15 }, { NULL, 0 }
};
static const struct vv_scale rate_scale[] = {
    { "FLOP/s", 1 },    { "kFLOP/s", 1e3 },  { "MFLOP/s", 1e6 }, { "GFLOP/s", 1e9 },
    { "TFLOP/s", 1e12 }, { "PFLOP/s", 1e15 }, { NULL, 0 }
};
static const struct vv_scale bandwidth_scale[] = {
    { "B/s", 1 },     { "kB/s", 1e3 },   { "MB/s", 1e6 }, { "GB/s", 1e9 }, { "TB/s", 1e12 },
    { NULL, 0 }
};
static const struct vv_scale no_scale[] = { { "", 1 }, { NULL, 0 } };
static const struct vv_scale percent_scale[] = { { "%", 0.01 }, { NULL, 0 } };

static const struct vv_scale *const scales[] = {
    [VV_UNIT_NONE] = no_scale,       [VV_UNIT_COUNT] = no_scale,
    [VV_UNIT_NS] = time_scale,       [VV_UNIT_TIME] = no_scale,
    [VV_UNIT_BYTES] = byte_scale,    [VV_UNIT_RATIO] = percent_scale,
    [VV_UNIT_FLOP] = flop_scale,     [VV_UNIT_FLOP_PER_S] = rate_scale,
    [VV_UNIT_BYTES_PER_S] = bandwidth_scale,
};

/* 999.5 of a step would be printed as 1000, so the next step begins there. */
struct vv_scale vv_scale_fitting(enum vv_unit unit, double largest)
{
    const struct vv_scale *step = scales[unit];
    while (step[1].name != NULL && fabs(largest) >= 999.5 * step->size)
        step++;
    return *step;
}

bool vv_scale_of_time(const char *name, struct vv_scale *out_scale)
{
    if (strcmp(name, "us") == 0)
        name = "µs";
    for (const struct vv_scale *step = time_scale; step->name != NULL; step++) {
        if (strcmp(step->name, name) == 0) {
            *out_scale = *step;
            return true;
        }
    }
    return false;
}

void vv_number_count(int64_t count, char *out_text, size_t capacity)
{
    snprintf(out_text, capacity, "%" PRId64, count);
}

void vv_number_decimal(double value, int decimals, char *out_text, size_t capacity)
{
    if (!isfinite(value) || fabs(value) >= 1e18)
        snprintf(out_text, capacity, "%.3g", value);
    else
        snprintf(out_text, capacity, "%.*f", decimals, value);
}

void vv_number_scaled(double value, enum vv_unit unit, char *out_text, size_t capacity)
{
    struct vv_scale scale = vv_scale_fitting(unit, value);
    double shown = value / scale.size, size = fabs(shown);
    int decimals = scale.size == 1 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
    char number[VV_NUMBER_BYTES];
    vv_number_decimal(shown, decimals, number, sizeof number);
    snprintf(out_text, capacity, "%s %s", number, scale.name);
}

void vv_number_duration(int64_t duration_ns, char *out_text, size_t capacity)
{
    vv_number_scaled((double)duration_ns, VV_UNIT_NS, out_text, capacity);
}

void vv_number_bytes(int64_t bytes, char *out_text, size_t capacity)
{
    vv_number_scaled((double)bytes, VV_UNIT_BYTES, out_text, capacity);
}

void vv_number_percent(double ratio, char *out_text, size_t capacity)
{
    char number[VV_NUMBER_BYTES];
    vv_number_decimal(ratio * 100, 1, number, sizeof number);
    snprintf(out_text, capacity, "%s %%", number);
}
