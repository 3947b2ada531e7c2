/* SPDX-License-Identifier: Apache-2.0 */
/* sampling_parameters.h — parameters of CUPTI's functions that sample hardware counters, declared
 * here: no header of NVIDIA's is needed. They are those of 12.9, and CUPTI up to 13.5 only added
 * fields at their ends (tests/live/test_cupti_layouts.py). `bytes` says which fields there are. */
#ifndef VV_CLI_METRICS_SAMPLING_PARAMETERS_H
#define VV_CLI_METRICS_SAMPLING_PARAMETERS_H

#include <stddef.h>
#include <stdint.h>

/* PARAMETERS(name, last field, NVIDIA's name, fields): the last field ends what CUPTI reads. */
#define VV_SAMPLING_PARAMETERS(P)                                                                  \
    P(begin, unused, "Profiler_Initialize", )                                                      \
    P(chip, name, "Device_GetChipName", size_t device; const char *name;)                          \
    P(available, image, "PmSampling_GetCounterAvailability",                                       \
      size_t device; size_t image_bytes; uint8_t *image;)                                          \
    P(host_begin, host, "Profiler_Host_Initialize",                                                \
      int purpose; const char *chip; const uint8_t *available; void *host;)                        \
    P(host_end, host, "Profiler_Host_Deinitialize", void *host;)                                   \
    P(add, count, "Profiler_Host_ConfigAddMetrics",                                                \
      void *host; const char **names; size_t count;)                                               \
    P(image_size, image_bytes, "Profiler_Host_GetConfigImageSize",                                 \
      void *host; size_t image_bytes;)                                                             \
    P(image, image, "Profiler_Host_GetConfigImage",                                                \
      void *host; size_t image_bytes; uint8_t *image;)                                             \
    P(passes, count, "Profiler_Host_GetNumOfPasses",                                               \
      size_t image_bytes; uint8_t *image; size_t count;)                                           \
    P(enable, sampler, "PmSampling_Enable", size_t device; void *sampler;)                         \
    P(configure, append, "PmSampling_SetConfig",                                                   \
      void *sampler; size_t image_bytes; const uint8_t *image; size_t buffer_bytes;                \
      uint64_t interval; int trigger; int append;)                                                 \
    P(data_size, data_bytes, "PmSampling_GetCounterDataSize",                                      \
      void *sampler; const char **names; size_t count; uint32_t samples; size_t data_bytes;)       \
    P(data_begin, data, "PmSampling_CounterDataImage_Initialize",                                  \
      void *sampler; size_t data_bytes; uint8_t *data;)                                            \
    P(start, sampler, "PmSampling_Start", void *sampler;)                                          \
    P(stop, sampler, "PmSampling_Stop", void *sampler;)                                            \
    P(decode, overflow, "PmSampling_DecodeData",                                                   \
      void *sampler; uint8_t *data; size_t data_bytes; int reason; uint8_t overflow;)              \
    P(info, completed, "PmSampling_GetCounterDataInfo",                                            \
      const uint8_t *data; size_t data_bytes; size_t total; size_t populated; size_t completed;)   \
    P(sample, end, "PmSampling_CounterData_GetSampleInfo",                                         \
      void *sampler; const uint8_t *data; size_t data_bytes; size_t number; uint64_t start;        \
      uint64_t end;)                                                                               \
    P(evaluate, values, "Profiler_Host_EvaluateToGpuValues",                                       \
      void *host; const uint8_t *data; size_t data_bytes; size_t number; const char **names;       \
      size_t count; double *values;)

#define VV_DECLARE(name, last, nvidia, fields)                                                     \
    struct vv_cupti_##name { size_t bytes; void *unused; fields };
VV_SAMPLING_PARAMETERS(VV_DECLARE)
#undef VV_DECLARE

#define VV_FIELD_BYTES(type, field) (offsetof(type, field) + sizeof(((type *)0)->field))

enum { VV_SAMPLING_HOST_PURPOSE = 1, VV_SAMPLING_DATA_FULL = 1, VV_SAMPLING_KEEP_OLDEST = 0 };
enum { VV_SAMPLING_BY_SYSTEM_CLOCK = 0, VV_SAMPLING_BY_TIME = 1 };

#endif
