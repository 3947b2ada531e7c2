/* SPDX-License-Identifier: Apache-2.0 */
/* standin_sampling.c — stands in for NVIDIA's driver and for the part of CUPTI that samples
 * hardware counters: one GPU, whose samples follow one another at the period that was asked for,
 * from the start on. It has structs of its own, as NVIDIA's headers declare them, and refuses
 * parameters whose size is another one. For tests. The environment says what it is like:
 *
 *     STANDIN_SAMPLING         "forbids": no rights; "old": CUPTI 12.6; "turing": no trigger by
 *                              time; "elsewhen": times of an unknown clock; "real": of
 *                              CLOCK_REALTIME; "full": the buffer runs over in each reading;
 *                              "endless": a stopped device has always more; "broken": a stopped
 *                              device cannot be read
 *     STANDIN_SAMPLING_LACKS   a part of a counter's name that it does not have
 *     STANDIN_CUDA_ORDER       "10": CUDA's device 0 is GPU 1, and 1 is 0, by the numbers of
 *                              standin_nvml.c; "0" unless said. GPU 1 counts half as much */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#pragma GCC visibility push(default)
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum { SUCCESS = 0, INVALID_PARAMETER = 1, INVALID_METRIC = 47, NOT_SUPPORTED = 27,
       FORBIDDEN = 35 };
enum { GPUS = 2, COUNTERS_MAX = 16, SAMPLES_MAX = 4096, END_OF_RECORDS = 2, DATA_FULL = 1 };

struct host { const char *names[COUNTERS_MAX]; size_t count; };
static struct sampler {
    uint64_t interval_ns, next_ns, stopped_ns;
    int is_running, gpu;
} samplers[GPUS];
struct data { size_t count; uint64_t first_ns; int gpu; };

static int is(const char *mode)
{
    const char *said = getenv("STANDIN_SAMPLING");
    return said != NULL && strcmp(said, mode) == 0;
}

static const char *order(void)
{
    const char *said = getenv("STANDIN_CUDA_ORDER");
    return said != NULL ? said : "0";
}

static int gpu_of(int device)
{
    return order()[device] == '1';
}

static uint64_t now_ns(void)
{
    struct timespec at;
    clock_gettime(is("real") ? CLOCK_REALTIME : CLOCK_MONOTONIC, &at);
    return (uint64_t)at.tv_sec * 1000000000u + (uint64_t)at.tv_nsec +
           (is("elsewhen") ? 7200000000000u : 0);
}

/* ---- the driver ---- */

int cuInit(unsigned flags)
{
    return flags == 0 ? SUCCESS : INVALID_PARAMETER;
}

int cuDeviceGetCount(int *out)
{
    *out = (int)strlen(order());
    return SUCCESS;
}

int cuDeviceGet(int *out, int number)
{
    *out = number;
    return SUCCESS;
}

int cuDeviceGetUuid_v2(unsigned char *out, int device)
{
    const unsigned char uuid[16] = { (unsigned char)(1 + 16 * gpu_of(device)), 0xd5, 0xcb, 0xa7 };
    memcpy(out, uuid, sizeof uuid);
    return SUCCESS;
}

int cuDriverGetVersion(int *out)
{
    *out = 12090;
    return SUCCESS;
}

/* ---- CUPTI ---- */

int cuptiGetVersion(uint32_t *out)
{
    *out = is("old") ? 24 : 27;
    return SUCCESS;
}

int cuptiGetResultString(int result, const char **out)
{
    *out = result == FORBIDDEN ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES" : "an error";
    return SUCCESS;
}

#define CHECK(at, last)                                                                            \
    if ((at)->size != offsetof(__typeof__(*(at)), last) + sizeof((at)->last) ||                    \
        (at)->none != NULL)                                                                        \
        return INVALID_PARAMETER

/* Parameters of each function: what is in, then what is out. */
#define PARAMETERS(name, ...) struct name { size_t size; void *none; __VA_ARGS__ }
struct nothing { size_t size; void *none; };
PARAMETERS(of_sampler, struct sampler *sampler;);
PARAMETERS(of_host, struct host *host;);
PARAMETERS(chip, size_t device; const char *name;);
PARAMETERS(available, size_t device; size_t bytes; uint8_t *image;);
PARAMETERS(host_begin, int purpose; const char *chip; const uint8_t *image; struct host *host;);
PARAMETERS(add, struct host *host; const char **names; size_t count;);
PARAMETERS(config_size, struct host *host; size_t bytes;);
PARAMETERS(config, struct host *host; size_t bytes; uint8_t *image;);
PARAMETERS(passes, size_t bytes; uint8_t *image; size_t passes;);
PARAMETERS(enable, size_t device; struct sampler *sampler;);
PARAMETERS(set, struct sampler *sampler; size_t bytes; const uint8_t *image; size_t buffer_bytes;
           uint64_t interval; int trigger; int append;);
PARAMETERS(data_size, struct sampler *sampler; const char **names; size_t count; uint32_t samples;
           size_t bytes;);
PARAMETERS(data_begin, struct sampler *sampler; size_t bytes; uint8_t *data;);
PARAMETERS(decode, struct sampler *sampler; uint8_t *data; size_t bytes; int reason;
           uint8_t overflow;);
PARAMETERS(info, const uint8_t *data; size_t bytes; size_t total, populated, completed;);
PARAMETERS(sample, struct sampler *sampler; const uint8_t *data; size_t bytes; size_t number;
           uint64_t start, end;);
PARAMETERS(evaluate, struct host *host; const uint8_t *data; size_t bytes; size_t number;
           const char **names; size_t count; double *values;);

/* What the counters say, by a part of their names. */
static const struct { const char *part; double value; } values[] = {
    { "cycles_active.", 80 }, { "inst_executed", 40 }, { "warps_active", 60 },
    { "tensor", 30 }, { "read", 20 }, { "write", 10 },
};

int cuptiProfilerInitialize(struct nothing *at)
{
    CHECK(at, none);
    return SUCCESS;
}

int cuptiDeviceGetChipName(struct chip *at)
{
    CHECK(at, name);
    at->name = "GH100";
    return SUCCESS;
}

int cuptiPmSamplingGetCounterAvailability(struct available *at)
{
    CHECK(at, image);
    if (is("forbids"))
        return FORBIDDEN;
    if (at->image == NULL)
        at->bytes = 64;
    else
        memset(at->image, 1, at->bytes);
    return SUCCESS;
}

int cuptiProfilerHostInitialize(struct host_begin *at)
{
    CHECK(at, host);
    if (at->purpose != 1 || strcmp(at->chip, "GH100") != 0 || at->image[63] != 1)
        return INVALID_PARAMETER;
    at->host = calloc(1, sizeof *at->host);
    return SUCCESS;
}

int cuptiProfilerHostDeinitialize(struct of_host *at)
{
    CHECK(at, host);
    free(at->host);
    return SUCCESS;
}

int cuptiProfilerHostConfigAddMetrics(struct add *at)
{
    const char *lacks = getenv("STANDIN_SAMPLING_LACKS");
    CHECK(at, count);
    for (size_t i = 0; i < at->count; i++) {
        if (at->host->count == COUNTERS_MAX ||
            (lacks != NULL && strstr(at->names[i], lacks) != NULL))
            return INVALID_METRIC;
        at->host->names[at->host->count++] = at->names[i];
    }
    return SUCCESS;
}

int cuptiProfilerHostGetConfigImageSize(struct config_size *at)
{
    CHECK(at, bytes);
    at->bytes = 16;
    return SUCCESS;
}

int cuptiProfilerHostGetConfigImage(struct config *at)
{
    CHECK(at, image);
    memset(at->image, (int)at->host->count, at->bytes);
    return SUCCESS;
}

int cuptiProfilerHostGetNumOfPasses(struct passes *at)
{
    CHECK(at, passes);
    at->passes = 1 + (at->image[0] > 6);
    return SUCCESS;
}

int cuptiPmSamplingEnable(struct enable *at)
{
    CHECK(at, sampler);
    at->sampler = &samplers[gpu_of((int)at->device)];
    at->sampler->gpu = gpu_of((int)at->device);
    return SUCCESS;
}

int cuptiPmSamplingSetConfig(struct set *at)
{
    CHECK(at, append);
    if (at->trigger == 1 && is("turing"))
        return NOT_SUPPORTED;
    at->sampler->interval_ns = at->interval;
    return SUCCESS;
}

int cuptiPmSamplingGetCounterDataSize(struct data_size *at)
{
    CHECK(at, bytes);
    at->bytes = sizeof(struct data);
    return at->samples <= SAMPLES_MAX ? SUCCESS : INVALID_PARAMETER;
}

int cuptiPmSamplingCounterDataImageInitialize(struct data_begin *at)
{
    CHECK(at, data);
    memset(at->data, 0, at->bytes);
    return SUCCESS;
}

int cuptiPmSamplingStart(struct of_sampler *at)
{
    CHECK(at, sampler);
    at->sampler->next_ns = now_ns();
    at->sampler->is_running = 1;
    return SUCCESS;
}

int cuptiPmSamplingStop(struct of_sampler *at)
{
    CHECK(at, sampler);
    at->sampler->stopped_ns = now_ns();
    at->sampler->is_running = 0;
    return SUCCESS;
}

/* At most a hundred samples at once. */
int cuptiPmSamplingDecodeData(struct decode *at)
{
    struct sampler *of = at->sampler;
    uint64_t until_ns = of->is_running ? now_ns() : of->stopped_ns;
    CHECK(at, overflow);
    if (is("broken") && !of->is_running)
        return INVALID_PARAMETER;
    struct data data = { (size_t)((until_ns - of->next_ns) / of->interval_ns), of->next_ns,
                         of->gpu };
    if (is("endless") && !of->is_running)
        data.count = 101;
    at->reason = data.count > 100 ? DATA_FULL : END_OF_RECORDS;
    data.count = data.count > 100 ? 100 : data.count;
    of->next_ns += data.count * of->interval_ns;
    memcpy(at->data, &data, sizeof data);
    at->overflow = (uint8_t)is("full");
    return SUCCESS;
}

int cuptiPmSamplingGetCounterDataInfo(struct info *at)
{
    CHECK(at, completed);
    at->total = SAMPLES_MAX;
    at->populated = at->completed = ((const struct data *)(const void *)at->data)->count;
    return SUCCESS;
}

int cuptiPmSamplingCounterDataGetSampleInfo(struct sample *at)
{
    CHECK(at, end);
    at->start = ((const struct data *)(const void *)at->data)->first_ns +
                at->number * at->sampler->interval_ns;
    at->end = at->start + at->sampler->interval_ns;
    return SUCCESS;
}

int cuptiProfilerHostEvaluateToGpuValues(struct evaluate *at)
{
    CHECK(at, values);
    for (size_t i = 0; i < at->count; i++)
        for (size_t k = sizeof values / sizeof *values; k-- > 0;)
            if (strstr(at->names[i], values[k].part) != NULL)
                at->values[i] =
                    values[k].value /
                    (1 + ((const struct data *)(const void *)at->data)->gpu);
    return SUCCESS;
}
