/* SPDX-License-Identifier: Apache-2.0 */
/* cupti.h — NVIDIA's CUPTI, opened at run time beside the program to sample hardware counters. Not
 * thread-safe. */
#ifndef VV_CLI_METRICS_CUPTI_H
#define VV_CLI_METRICS_CUPTI_H

#include "base/error.h"
#include "cli/metrics/numbering.h"
#include "cli/metrics/sampling_parameters.h"

enum { VV_CUPTI_DONE = 0, VV_CUPTI_NO_MEMORY = 8, VV_CUPTI_NOT_SUPPORTED = 27 };

/* CUPTI(name, symbol): functions of the parameters of that name. */
#define VV_CUPTI_SAMPLING_FUNCTIONS(CUPTI)                                                         \
    CUPTI(begin, "cuptiProfilerInitialize")                                                        \
    CUPTI(chip, "cuptiDeviceGetChipName")                                                          \
    CUPTI(available, "cuptiPmSamplingGetCounterAvailability")                                      \
    CUPTI(host_begin, "cuptiProfilerHostInitialize")                                               \
    CUPTI(host_end, "cuptiProfilerHostDeinitialize")                                               \
    CUPTI(add, "cuptiProfilerHostConfigAddMetrics")                                                \
    CUPTI(image_size, "cuptiProfilerHostGetConfigImageSize")                                       \
    CUPTI(image, "cuptiProfilerHostGetConfigImage")                                                \
    CUPTI(passes, "cuptiProfilerHostGetNumOfPasses")                                               \
    CUPTI(enable, "cuptiPmSamplingEnable")                                                         \
    CUPTI(configure, "cuptiPmSamplingSetConfig")                                                   \
    CUPTI(data_size, "cuptiPmSamplingGetCounterDataSize")                                          \
    CUPTI(data_begin, "cuptiPmSamplingCounterDataImageInitialize")                                 \
    CUPTI(start, "cuptiPmSamplingStart")                                                           \
    CUPTI(stop, "cuptiPmSamplingStop")                                                             \
    CUPTI(decode, "cuptiPmSamplingDecodeData")                                                     \
    CUPTI(info, "cuptiPmSamplingGetCounterDataInfo")                                               \
    CUPTI(sample, "cuptiPmSamplingCounterDataGetSampleInfo")                                       \
    CUPTI(evaluate, "cuptiProfilerHostEvaluateToGpuValues")

struct vv_cupti_sampling {
#define VV_MEMBER(name, symbol) int (*name)(struct vv_cupti_##name *);
    VV_CUPTI_SAMPLING_FUNCTIONS(VV_MEMBER)
#undef VV_MEMBER
    int (*timestamp)(uint64_t *);
    int (*result_name)(int, const char **);
    struct vv_cuda_numbers cuda; /* of this process                                               */
};

/* Calls a function of CUPTI's with the sizes that the parameters have. */
#define VV_CUPTI_CALL(cupti, name, last, parameters)                                               \
    ((parameters)->bytes = VV_FIELD_BYTES(struct vv_cupti_##name, last),                        \
     (cupti)->name(parameters))

/* Initialises CUDA in this process, and opens the CUPTI of the path in VARVE_CUPTI, of the loader,
 * of a toolkit, or of the Python that runs `program` (NULL: of the one in PATH).
 * VARVE_UNSUPPORTED, VARVE_NOT_FOUND: the message says what is missing, and what to do. */
enum varve_code vv_cupti_sampling_open(const char *program, struct vv_cupti_sampling *out_cupti,
                                       struct varve_error *error);

/* "cuda:0: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (35): …", and what to do. */
enum varve_code vv_cupti_refuses(const struct vv_cupti_sampling *cupti, unsigned device, int result,
                                 struct varve_error *error);

#endif
