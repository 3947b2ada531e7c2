/* SPDX-License-Identifier: Apache-2.0 */
/* readings.c — the values of a GPU. They are read in groups: what one call of the driver says. */
#include <string.h>

#include "base/system/clock.h"
#include "cli/metrics/gpus.h"
#include "cli/metrics/wishes.h"
#include "meaning/hardware/throttle.h"

#define VALUES_MAX VV_THROTTLE_COUNT
#define NS_PER_S 1e9

/* A reading of a group: values that are not known are left out. */
struct reading {
    const struct vv_nvml *nvml;
    struct vv_gpu *gpu;
    int64_t time_ns;
    double values[VALUES_MAX];
    bool is_known[VALUES_MAX];
};

static void say(struct reading *reading, size_t place, double value)
{
    reading->values[place] = value;
    reading->is_known[place] = true;
}

/* The rate since the former reading of a sum that the driver counts up. */
static void say_rate(struct reading *reading, size_t place, size_t total, uint64_t value,
                     double scale)
{
    struct vv_gpu *gpu = reading->gpu;
    int64_t past_ns = reading->time_ns - gpu->totals[total].time_ns;
    if (gpu->totals[total].is_known && past_ns > 0 && value >= gpu->totals[total].value)
        say(reading, place,
            (double)(value - gpu->totals[total].value) * scale * NS_PER_S / (double)past_ns);
    gpu->totals[total].time_ns = reading->time_ns;
    gpu->totals[total].value = value;
    gpu->totals[total].is_known = true;
}

/* ---- groups ---- */

static unsigned read_power(struct reading *reading)
{
    unsigned mw = 0, code = VV_NVML_FUNCTION_NOT_FOUND;
    if (reading->nvml->power_mw != NULL)
        code = reading->nvml->power_mw(reading->gpu->whole, &mw);
    if (code == VV_NVML_SUCCESS)
        say(reading, 0, mw / 1000.0);
    return code;
}

static unsigned read_power_limit(struct reading *reading)
{
    unsigned mw = 0, code = VV_NVML_FUNCTION_NOT_FOUND;
    if (reading->nvml->power_limit_mw != NULL)
        code = reading->nvml->power_limit_mw(reading->gpu->whole, &mw);
    if (code == VV_NVML_SUCCESS)
        say(reading, 0, mw / 1000.0);
    return code;
}

static unsigned read_clocks(struct reading *reading)
{
    static const unsigned clocks[] = { VV_NVML_CLOCK_SM, VV_NVML_CLOCK_MEMORY };
    unsigned mhz = 0, code = VV_NVML_FUNCTION_NOT_FOUND;
    for (size_t i = 0; i < 2 && reading->nvml->clock_mhz != NULL; i++) {
        code = reading->nvml->clock_mhz(reading->gpu->whole, clocks[i], &mhz);
        if (code == VV_NVML_SUCCESS)
            say(reading, i, mhz);
    }
    return code;
}

static unsigned read_most_clock(struct reading *reading)
{
    unsigned mhz = 0, code = VV_NVML_FUNCTION_NOT_FOUND;
    if (reading->nvml->most_clock_mhz != NULL)
        code = reading->nvml->most_clock_mhz(reading->gpu->whole, VV_NVML_CLOCK_SM, &mhz);
    if (code == VV_NVML_SUCCESS)
        say(reading, 0, mhz);
    return code;
}

static unsigned read_temperature(struct reading *reading)
{
    unsigned celsius = 0, code = VV_NVML_FUNCTION_NOT_FOUND;
    if (reading->nvml->temperature != NULL)
        code = reading->nvml->temperature(reading->gpu->whole, VV_NVML_TEMPERATURE_GPU, &celsius);
    if (code == VV_NVML_SUCCESS)
        say(reading, 0, celsius);
    return code;
}

/* The second version leaves out what the driver keeps for itself. */
static unsigned read_memory(struct reading *reading)
{
    struct vv_nvml_memory_2 second = { .version = VV_NVML_MEMORY_2 };
    struct vv_nvml_memory first = { 0 };
    unsigned code = VV_NVML_FUNCTION_NOT_FOUND;
    if (reading->nvml->memory_2 != NULL)
        code = reading->nvml->memory_2(reading->gpu->part, &second);
    if (code == VV_NVML_SUCCESS) {
        say(reading, 0, (double)second.used);
        return code;
    }
    if (reading->nvml->memory != NULL)
        code = reading->nvml->memory(reading->gpu->part, &first);
    if (code == VV_NVML_SUCCESS)
        say(reading, 0, (double)first.used);
    return code;
}

static unsigned read_utilization(struct reading *reading)
{
    struct vv_nvml_utilization rates = { 0 };
    unsigned code = VV_NVML_FUNCTION_NOT_FOUND;
    if (reading->nvml->utilization != NULL)
        code = reading->nvml->utilization(reading->gpu->whole, &rates);
    if (code == VV_NVML_SUCCESS) {
        say(reading, 0, rates.gpu);
        say(reading, 1, rates.memory);
    }
    return code;
}

/* A 32-bit sum of bytes goes round within a tenth of a second: it says nothing. */
static bool take_sum(const struct vv_nvml_field *field, uint64_t *out_value)
{
    *out_value = field->value.unsigned_64;
    return field->code == VV_NVML_SUCCESS &&
           (field->type == VV_NVML_UNSIGNED_LONG || field->type == VV_NVML_UNSIGNED_LONG_LONG ||
            (field->type == VV_NVML_SIGNED_LONG_LONG && field->value.signed_64 >= 0));
}

/* Two sums: sent and received. */
static unsigned read_sums(struct reading *reading, const struct vv_nvml_field asked[2],
                          size_t first_total, double scale)
{
    struct vv_nvml_field fields[2] = { asked[0], asked[1] };
    uint64_t sums[2];
    if (reading->nvml->fields == NULL)
        return VV_NVML_FUNCTION_NOT_FOUND;
    unsigned code = reading->nvml->fields(reading->gpu->whole, 2, fields);
    if (code != VV_NVML_SUCCESS)
        return code;
    for (size_t i = 0; i < 2; i++)
        if (!take_sum(&fields[i], &sums[i]))
            return fields[i].code != VV_NVML_SUCCESS ? fields[i].code : VV_NVML_NOT_SUPPORTED;
    for (size_t i = 0; i < 2; i++)
        say_rate(reading, i, first_total + i, sums[i], scale);
    return VV_NVML_SUCCESS;
}

static unsigned read_nvlink(struct reading *reading)
{
    static const struct vv_nvml_field asked[2] = {
        { .number = VV_NVML_NVLINK_SENT_KIB, .scope = VV_NVML_ALL_LINKS },
        { .number = VV_NVML_NVLINK_RECEIVED_KIB, .scope = VV_NVML_ALL_LINKS },
    };
    return read_sums(reading, asked, 0, 1024);
}

/* GPUs before Hopper have no sums. The driver then looks for 20 ms in each direction. */
static unsigned read_pcie(struct reading *reading)
{
    static const struct vv_nvml_field asked[2] = { { .number = VV_NVML_PCIE_SENT_BYTES },
                                                   { .number = VV_NVML_PCIE_RECEIVED_BYTES } };
    static const unsigned ways[] = { VV_NVML_PCIE_SENT, VV_NVML_PCIE_RECEIVED };
    unsigned kb_per_s = 0, code = read_sums(reading, asked, 2, 1);
    for (size_t i = 0;
         i < 2 && reading->nvml->pcie_kb_per_s != NULL && (i > 0 || code != VV_NVML_SUCCESS); i++) {
        code = reading->nvml->pcie_kb_per_s(reading->gpu->whole, ways[i], &kb_per_s);
        if (code != VV_NVML_SUCCESS)
            break;
        say(reading, i, kb_per_s * 1000.0);
    }
    return code;
}

static unsigned read_throttling(struct reading *reading)
{
    const struct vv_nvml *nvml = reading->nvml;
    uint64_t word = 0;
    unsigned code = VV_NVML_FUNCTION_NOT_FOUND;
    if (nvml->reasons != NULL)
        code = nvml->reasons(reading->gpu->whole, &word);
    else if (nvml->reasons_before_12_2 != NULL)
        code = nvml->reasons_before_12_2(reading->gpu->whole, &word);
    for (unsigned reason = 0; reason < VV_THROTTLE_COUNT && code == VV_NVML_SUCCESS; reason++)
        say(reading, reason, vv_throttle_holds(reason, word));
    return code;
}

/* ---- all ---- */

static const struct {
    uint32_t metric;
    unsigned (*read)(struct reading *reading);
    const char *name;
    const char *values[2];    /* NULL = the reasons of throttling                                */
    size_t count;
    bool is_of_part;
} groups[] = {
    { VV_METRIC_power, read_power, "power", { VV_COUNTER_POWER }, 1, false },
    { VV_METRIC_power, read_power_limit, "power limit", { VV_COUNTER_POWER_LIMIT }, 1, false },
    { VV_METRIC_clocks, read_clocks, "clocks", { VV_COUNTER_CLOCK, "memory clock (MHz)" }, 2,
      false },
    { VV_METRIC_clocks, read_most_clock, "greatest clock", { VV_COUNTER_GREATEST_CLOCK }, 1,
      false },
    { VV_METRIC_temperature, read_temperature, "temperature", { VV_COUNTER_TEMPERATURE }, 1,
      false },
    { VV_METRIC_used_memory, read_memory, "used memory", { "used memory (bytes)" }, 1, true },
    { VV_METRIC_utilization, read_utilization, "utilization",
      { "GPU utilization (%)", "memory utilization (%)" }, 2, false },
    { VV_METRIC_nvlink, read_nvlink, "NVLink",
      { "NVLink sent (bytes/s)", "NVLink received (bytes/s)" }, 2, false },
    { VV_METRIC_pcie, read_pcie, "PCIe", { "PCIe sent (bytes/s)", "PCIe received (bytes/s)" }, 2,
      false },
    { VV_METRIC_throttling, read_throttling, "throttling", { NULL }, VV_THROTTLE_COUNT, false },
};
enum { GROUPS = sizeof groups / sizeof *groups };

const char *vv_gpu_group_name(size_t group)
{
    return group < GROUPS ? groups[group].name : NULL;
}

/* A failure that says what the GPU is like, not what it does now. */
static bool is_for_good(unsigned code)
{
    enum { NO_PERMISSION = 4, INVALID_ARGUMENT = 2, ARGUMENT_VERSION_MISMATCH = 25 };
    return code == VV_NVML_NOT_SUPPORTED || code == VV_NVML_FUNCTION_NOT_FOUND ||
           code == NO_PERMISSION || code == INVALID_ARGUMENT || code == ARGUMENT_VERSION_MISMATCH;
}

size_t vv_gpu_read(struct vv_gpus *gpus, size_t number, uint32_t metrics,
                   struct vv_gpu_value out_values[VV_GPU_METRICS_MAX])
{
    struct vv_gpu *gpu = &gpus->items[number];
    size_t count = 0;
    for (size_t g = 0; g < GROUPS; g++) {
        if ((groups[g].metric & metrics) == 0 || (gpu->left_out & UINT64_C(1) << g) != 0)
            continue;
        struct reading reading = { .nvml = gpus->nvml, .gpu = gpu,
                                   .time_ns = (int64_t)vv_clock_monotonic_ns() };
        if (is_for_good(groups[g].read(&reading)))
            gpu->left_out |= UINT64_C(1) << g;
        for (size_t i = 0; i < groups[g].count; i++)
            if (reading.is_known[i])
                out_values[count++] = (struct vv_gpu_value){
                    groups[g].values[0] != NULL ? groups[g].values[i] : vv_throttle_counters[i],
                    groups[g].is_of_part && gpu->is_part, reading.time_ns, reading.values[i],
                };
    }
    return count;
}
