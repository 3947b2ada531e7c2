/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/metrics/sampling.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/system/clock.h"
#include "cli/metrics/cupti.h"
#include "meaning/hardware/sampled.h"

#define COUNTERS_MAX 8u
#define SAMPLES 4096u /* that are decoded at once                                                */
#define BUFFER_BYTES (UINT64_C(64) << 20)
#define FIRST_WAIT_MS 500
#define READINGS 8
#define READING_NS UINT64_C(2000)
#define SLACK_NS UINT64_C(1000000)
#define ROUNDS_MAX 64 /* of SAMPLES in one reading: a device cannot hold it up for ever           */
#define DEVICE_READ_NS UINT64_C(500000000) /* nor do all of them: watch.c waits for the end      */
#define IMAGE_BYTES_MAX (UINT64_C(1) << 30)

/* Names of CUPTI's, the first that the device has. Those that end in _realtime are made for
 * sampling. */
static const struct counter {
    uint32_t metric;
    const char *name;
    const char *sources[3];
} counters[] = {
    { VV_METRIC_sm_active, VV_COUNTER_SM_ACTIVE,
      { "sm__cycles_active.avg.pct_of_peak_sustained_elapsed" } },
    { VV_METRIC_sm_active, VV_COUNTER_SM_ISSUE,
      { "sm__inst_executed_realtime.avg.pct_of_peak_sustained_elapsed",
        "sm__inst_executed.avg.pct_of_peak_sustained_elapsed" } },
    { VV_METRIC_occupancy, VV_COUNTER_WARPS,
      { "tpc__warps_active_shader_cs_realtime.avg.pct_of_peak_sustained_elapsed",
        "sm__warps_active_realtime.avg.pct_of_peak_sustained_elapsed",
        "sm__warps_active.avg.pct_of_peak_sustained_elapsed" } },
    { VV_METRIC_tensor_cores, VV_COUNTER_TENSOR,
      { "sm__pipe_tensor_cycles_active_realtime.avg.pct_of_peak_sustained_elapsed",
        "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed" } },
    { VV_METRIC_dram, VV_COUNTER_DRAM_READ,
      { "dramc__read_throughput.avg.pct_of_peak_sustained_elapsed",
        "dram__read_throughput.avg.pct_of_peak_sustained_elapsed" } },
    { VV_METRIC_dram, VV_COUNTER_DRAM_WRITE,
      { "dramc__write_throughput.avg.pct_of_peak_sustained_elapsed",
        "dram__write_throughput.avg.pct_of_peak_sustained_elapsed" } },
};
enum { COUNTERS = sizeof counters / sizeof *counters };
_Static_assert(COUNTERS <= COUNTERS_MAX, "a bit and a place for each");

/* CUPTI says that samples have times of the CPU, and not of which clock. */
enum { OF_CUPTI, OF_REALTIME, OF_MONOTONIC, CLOCKS, CLOCK_UNKNOWN };
struct instant { uint64_t ns[CLOCKS]; };

struct device {
    unsigned number;
    uint8_t *available;        /* image of CUPTI's                                               */
    uint8_t *config, *data;
    size_t config_bytes, data_bytes;
    void *host, *sampler;
    const char *sources[COUNTERS_MAX];
    uint8_t counter[COUNTERS_MAX];
    size_t count;
    struct instant begin;
    int clock;
    uint64_t lost;             /* times that the device's buffer was full                        */
};

struct vv_sampling {
    struct vv_cupti_sampling cupti;
    uint32_t metrics;
    uint64_t period_ns;
    struct device devices[VV_SAMPLED_DEVICES];
    unsigned count;
};

/* All clocks at one instant: of some readings the one that took least. */
static struct instant now(const struct vv_sampling *sampling)
{
    struct instant best = { { 0 } };
    uint64_t least_ns = UINT64_MAX;
    for (int i = 0; i < READINGS && least_ns > READING_NS; i++) {
        struct instant at = { { 0 } };
        struct timespec real;
        uint64_t begin_ns = vv_clock_monotonic_ns();
        if (sampling->cupti.timestamp != NULL &&
            sampling->cupti.timestamp(&at.ns[OF_CUPTI]) != VV_CUPTI_DONE)
            at.ns[OF_CUPTI] = 0;
        clock_gettime(CLOCK_REALTIME, &real);
        uint64_t took_ns = vv_clock_monotonic_ns() - begin_ns;
        at.ns[OF_REALTIME] = (uint64_t)real.tv_sec * 1000000000u + (uint64_t)real.tv_nsec;
        at.ns[OF_MONOTONIC] = begin_ns + took_ns / 2;
        best = took_ns < least_ns ? at : best;
        least_ns = took_ns < least_ns ? took_ns : least_ns;
    }
    return best;
}

/* ---- what to sample ---- */

static void end_host(struct vv_sampling *sampling, struct device *device)
{
    struct vv_cupti_host_end end = { .host = device->host };
    if (device->host != NULL)
        (void)VV_CUPTI_CALL(&sampling->cupti, host_end, host, &end);
    device->host = NULL;
}

static int begin_host(struct vv_sampling *sampling, struct device *device, const char *chip)
{
    struct vv_cupti_host_begin host = { .purpose = VV_SAMPLING_HOST_PURPOSE, .chip = chip,
                                           .available = device->available };
    int result = VV_CUPTI_CALL(&sampling->cupti, host_begin, host, &host);
    device->host = result == VV_CUPTI_DONE ? host.host : NULL;
    return result;
}

static int make_config(struct vv_sampling *sampling, struct device *device)
{
    struct vv_cupti_image_size size = { .host = device->host };
    int result = VV_CUPTI_CALL(&sampling->cupti, image_size, image_bytes, &size);
    free(device->config);
    device->config = NULL;
    if (result != VV_CUPTI_DONE)
        return result;
    device->config_bytes = size.image_bytes;
    if (size.image_bytes < IMAGE_BYTES_MAX)
        device->config = calloc(1, size.image_bytes + 1);
    struct vv_cupti_image image = { .host = device->host, .image_bytes = size.image_bytes,
                                       .image = device->config };
    return device->config != NULL ? VV_CUPTI_CALL(&sampling->cupti, image, image, &image)
                                  : VV_CUPTI_NO_MEMORY;
}

/* True: the device counts what is in `sources`, all of it at once. The host object is made. */
static bool counts_at_once(struct vv_sampling *sampling, struct device *device, const char *chip)
{
    struct vv_cupti_passes passes = { .count = 0 };
    end_host(sampling, device);
    if (begin_host(sampling, device, chip) != VV_CUPTI_DONE)
        return false;
    struct vv_cupti_add add = { .host = device->host, .names = device->sources,
                                   .count = device->count };
    if (VV_CUPTI_CALL(&sampling->cupti, add, count, &add) != VV_CUPTI_DONE ||
        make_config(sampling, device) != VV_CUPTI_DONE)
        return false;
    passes.image = device->config;
    passes.image_bytes = device->config_bytes;
    return VV_CUPTI_CALL(&sampling->cupti, passes, count, &passes) == VV_CUPTI_DONE &&
           passes.count == 1;
}

static void choose_source(struct vv_sampling *sampling, struct device *device, const char *chip,
                          size_t number)
{
    const struct counter *counter = &counters[number];
    for (size_t i = 0; i < sizeof counter->sources / sizeof *counter->sources; i++) {
        if (counter->sources[i] == NULL)
            return;
        device->sources[device->count] = counter->sources[i];
        device->counter[device->count++] = (uint8_t)number;
        if (counts_at_once(sampling, device, chip))
            return;
        device->count--;
    }
}

static int choose_counters(struct vv_sampling *sampling, struct device *device, const char *chip)
{
    int result = begin_host(sampling, device, chip);
    for (size_t i = 0; i < COUNTERS && result == VV_CUPTI_DONE; i++)
        if ((counters[i].metric & sampling->metrics) != 0)
            choose_source(sampling, device, chip, i);
    if (result == VV_CUPTI_DONE && device->count == 0)
        return VV_CUPTI_NOT_SUPPORTED;
    if (result == VV_CUPTI_DONE && !counts_at_once(sampling, device, chip))
        return VV_CUPTI_NOT_SUPPORTED;
    return result;
}

static int ask_available(struct vv_sampling *sampling, struct device *device)
{
    struct vv_cupti_available asked = { .device = device->number };
    int result = VV_CUPTI_CALL(&sampling->cupti, available, image, &asked);
    if (result != VV_CUPTI_DONE)
        return result;
    if (asked.image_bytes < IMAGE_BYTES_MAX)
        device->available = calloc(1, asked.image_bytes + 1);
    asked.image = device->available;
    return device->available != NULL ? VV_CUPTI_CALL(&sampling->cupti, available, image, &asked)
                                     : VV_CUPTI_NO_MEMORY;
}

/* ---- begin ---- */

/* Turing and A100 have no trigger by time: there the period is in ticks of the system clock, which
 * is between 1 and 2 GHz. */
static int configure(struct vv_sampling *sampling, struct device *device)
{
    struct vv_cupti_configure configure = {
        .sampler = device->sampler, .image = device->config, .image_bytes = device->config_bytes,
        .buffer_bytes = BUFFER_BYTES, .interval = sampling->period_ns,
        .trigger = VV_SAMPLING_BY_TIME, .append = VV_SAMPLING_KEEP_OLDEST,
    };
    int result = VV_CUPTI_CALL(&sampling->cupti, configure, append, &configure);
    if (result == VV_CUPTI_DONE)
        return result;
    configure.trigger = VV_SAMPLING_BY_SYSTEM_CLOCK;
    return VV_CUPTI_CALL(&sampling->cupti, configure, append, &configure);
}

static int empty_data(struct vv_sampling *sampling, struct device *device)
{
    struct vv_cupti_data_begin begin = { .sampler = device->sampler, .data = device->data,
                                            .data_bytes = device->data_bytes };
    return VV_CUPTI_CALL(&sampling->cupti, data_begin, data, &begin);
}

static int make_data(struct vv_sampling *sampling, struct device *device)
{
    struct vv_cupti_data_size size = { .sampler = device->sampler, .names = device->sources,
                                          .count = device->count, .samples = SAMPLES };
    int result = VV_CUPTI_CALL(&sampling->cupti, data_size, data_bytes, &size);
    if (result != VV_CUPTI_DONE)
        return result;
    device->data_bytes = size.data_bytes;
    if (size.data_bytes < IMAGE_BYTES_MAX)
        device->data = calloc(1, size.data_bytes + 1);
    return device->data != NULL ? empty_data(sampling, device) : VV_CUPTI_NO_MEMORY;
}

static int start(struct vv_sampling *sampling, struct device *device)
{
    struct vv_cupti_chip chip = { .device = device->number };
    struct vv_cupti_enable enable = { .device = device->number };
    int result = VV_CUPTI_CALL(&sampling->cupti, chip, name, &chip);
    if (result == VV_CUPTI_DONE)
        result = ask_available(sampling, device);
    if (result == VV_CUPTI_DONE)
        result = choose_counters(sampling, device, chip.name);
    if (result == VV_CUPTI_DONE)
        result = VV_CUPTI_CALL(&sampling->cupti, enable, sampler, &enable);
    device->sampler = enable.sampler;
    if (result == VV_CUPTI_DONE)
        result = configure(sampling, device);
    if (result == VV_CUPTI_DONE)
        result = make_data(sampling, device);
    struct vv_cupti_start begin = { .sampler = device->sampler };
    device->begin = now(sampling);
    return result == VV_CUPTI_DONE ? VV_CUPTI_CALL(&sampling->cupti, start, sampler, &begin)
                                   : result;
}

/* ---- samples ---- */

struct reader {
    struct vv_sampling *sampling;
    struct device *device;
    struct instant now;
    vv_sampled_fn *tell;
    void *user;
};

/* The clock on which the sample began after sampling did, and has ended by now. */
static int clock_of(const struct reader *reader, const struct vv_cupti_sample *sample)
{
    for (int clock = 0; clock < CLOCKS; clock++)
        if (reader->device->begin.ns[clock] != 0 &&
            sample->start + SLACK_NS >= reader->device->begin.ns[clock] &&
            sample->end <= reader->now.ns[clock] + SLACK_NS)
            return clock;
    return CLOCK_UNKNOWN;
}

static void read_sample(struct reader *reader, size_t number)
{
    struct device *device = reader->device;
    double values[COUNTERS_MAX] = { 0 };
    struct vv_cupti_sample sample = { .sampler = device->sampler, .data = device->data,
                                         .data_bytes = device->data_bytes, .number = number };
    struct vv_cupti_evaluate evaluate = { .host = device->host, .data = device->data,
                                             .data_bytes = device->data_bytes, .number = number,
                                             .names = device->sources, .count = device->count,
                                             .values = values };
    if (VV_CUPTI_CALL(&reader->sampling->cupti, sample, end, &sample) != VV_CUPTI_DONE ||
        sample.end <= sample.start)
        return;
    if (device->clock == CLOCK_UNKNOWN)
        device->clock = clock_of(reader, &sample);
    if (device->clock == CLOCK_UNKNOWN || reader->tell == NULL ||
        VV_CUPTI_CALL(&reader->sampling->cupti, evaluate, values, &evaluate) != VV_CUPTI_DONE)
        return;
    int64_t time_ns = (int64_t)(sample.start + reader->now.ns[OF_MONOTONIC] -
                                reader->now.ns[device->clock]);
    for (size_t i = 0; i < device->count; i++)
        if (isfinite(values[i]))
            reader->tell(reader->user, device->number, counters[device->counter[i]].name, time_ns,
                         values[i]);
}

static void tell_lost(const struct reader *reader)
{
    if (reader->tell != NULL)
        reader->tell(reader->user, reader->device->number, VV_COUNTER_SAMPLES_LOST,
                     (int64_t)vv_clock_monotonic_ns(), (double)++reader->device->lost);
}

/* Returns whether there is more. */
static bool read_some(struct reader *reader)
{
    struct device *device = reader->device;
    struct vv_cupti_decode decode = { .sampler = device->sampler, .data = device->data,
                                         .data_bytes = device->data_bytes };
    struct vv_cupti_info info = { .data = device->data, .data_bytes = device->data_bytes };
    int result = VV_CUPTI_CALL(&reader->sampling->cupti, decode, overflow, &decode);
    reader->now = now(reader->sampling);
    if (result != VV_CUPTI_DONE || decode.overflow)
        tell_lost(reader);
    if ((result != VV_CUPTI_DONE && result != VV_CUPTI_NO_MEMORY) ||
        VV_CUPTI_CALL(&reader->sampling->cupti, info, completed, &info) != VV_CUPTI_DONE)
        return false;
    for (size_t i = 0; i < info.completed && i < SAMPLES; i++)
        read_sample(reader, i);
    return empty_data(reader->sampling, device) == VV_CUPTI_DONE &&
           decode.reason == VV_SAMPLING_DATA_FULL && result == VV_CUPTI_DONE;
}

/* What is left at the end is lost. */
static void read_all(struct vv_sampling *sampling, bool is_last, vv_sampled_fn *tell, void *user)
{
    for (unsigned i = 0; i < sampling->count; i++) {
        struct reader reader = { .sampling = sampling, .device = &sampling->devices[i],
                                 .tell = tell, .user = user };
        uint64_t end_ns = vv_clock_monotonic_ns() + DEVICE_READ_NS / sampling->count;
        bool has_more = true;
        for (int round = 0; round < ROUNDS_MAX && has_more && vv_clock_monotonic_ns() <= end_ns;
             round++)
            has_more = read_some(&reader);
        if (is_last && has_more)
            tell_lost(&reader);
    }
}

void vv_sampling_read(struct vv_sampling *sampling, vv_sampled_fn *tell, void *user)
{
    read_all(sampling, false, tell, user);
}

/* ---- all devices ---- */

static bool know_their_clocks(const struct vv_sampling *sampling)
{
    for (unsigned i = 0; i < sampling->count; i++)
        if (sampling->devices[i].clock == CLOCK_UNKNOWN)
            return false;
    return true;
}

static enum varve_code await_first(struct vv_sampling *sampling, struct varve_error *error)
{
    const struct timespec pause = { 0, 2000000 };
    uint64_t end_ns = vv_clock_monotonic_ns() + FIRST_WAIT_MS * UINT64_C(1000000) +
                      2 * sampling->period_ns;
    while (!know_their_clocks(sampling) && vv_clock_monotonic_ns() < end_ns) {
        nanosleep(&pause, NULL);
        vv_sampling_read(sampling, NULL, NULL);
    }
    if (!know_their_clocks(sampling))
        VV_FAIL(error, VARVE_UNSUPPORTED,
                "CUPTI gives no samples of hardware counters here, or with times of a clock that "
                "is not known: leave them out of --metrics");
    return VARVE_OK;
}

static enum varve_code start_all(struct vv_sampling *sampling, struct varve_error *error)
{
    struct vv_cupti_begin begin = { 0 };
    int result = VV_CUPTI_CALL(&sampling->cupti, begin, unused, &begin);
    if (result != VV_CUPTI_DONE)
        return vv_cupti_refuses(&sampling->cupti, 0, result, error);
    for (unsigned i = 0; i < sampling->cupti.cuda.device_count && i < VV_SAMPLED_DEVICES; i++) {
        struct device *device = &sampling->devices[sampling->count++];
        *device = (struct device){ .number = i, .clock = CLOCK_UNKNOWN };
        result = start(sampling, device);
        if (result != VV_CUPTI_DONE)
            return vv_cupti_refuses(&sampling->cupti, i, result, error);
    }
    return await_first(sampling, error);
}

enum varve_code vv_sampling_begin(const struct vv_metric_wishes *wishes,
                                  struct vv_sampling **out_sampling, struct varve_error *error)
{
    struct vv_sampling *sampling = calloc(1, sizeof *sampling);
    if (sampling == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for hardware counters");
    sampling->metrics = wishes->metrics;
    sampling->period_ns = wishes->sample_period_ns;
    enum varve_code code = vv_cupti_sampling_open(wishes->program, &sampling->cupti, error);
    if (code == VARVE_OK)
        code = start_all(sampling, error);
    if (code == VARVE_OK)
        *out_sampling = sampling;
    else
        free(sampling); /* the process ends, and its samplers with it                            */
    return code;
}

const struct vv_cuda_numbers *vv_sampling_numbers(const struct vv_sampling *sampling)
{
    return &sampling->cupti.cuda;
}

unsigned vv_sampling_devices(const struct vv_sampling *sampling)
{
    return sampling->count;
}

bool vv_sampling_lacks(const struct vv_sampling *sampling, unsigned device, char *out_text,
                       size_t bytes)
{
    const struct device *of = &sampling->devices[device];
    size_t length = 0;
    out_text[0] = '\0';
    for (size_t i = 0; i < COUNTERS; i++) {
        bool has = (counters[i].metric & sampling->metrics) == 0;
        for (size_t k = 0; k < of->count; k++)
            has |= of->counter[k] == i;
        if (!has && length < bytes)
            length += (size_t)snprintf(out_text + length, bytes - length, "%s%s",
                                       length > 0 ? ", " : "", counters[i].name);
    }
    return length > 0;
}

void vv_sampling_end(struct vv_sampling *sampling, vv_sampled_fn *tell, void *user)
{
    for (unsigned i = 0; i < sampling->count; i++) {
        struct vv_cupti_stop stop = { .sampler = sampling->devices[i].sampler };
        (void)VV_CUPTI_CALL(&sampling->cupti, stop, sampler, &stop);
    }
    read_all(sampling, true, tell, user);
}
