/* SPDX-License-Identifier: Apache-2.0 */
/* gpus.h — the GPUs that a program may see, and what NVIDIA's driver says of each of them. Not
 * thread-safe. */
#ifndef VV_CLI_METRICS_GPUS_H
#define VV_CLI_METRICS_GPUS_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/metrics/numbering.h"
#include "cli/metrics/nvml.h"

#define VV_GPUS_MAX 64u
#define VV_GPU_METRICS_MAX 32u  /* of one GPU                                                    */
#define VV_GPU_TEXT_BYTES 96u   /* of identities and names                                       */
#define VV_GPU_TOTALS 4u        /* sums that the driver counts up, of which rates are made       */

struct vv_gpu {
    vv_nvml_device whole; /* has power, clocks …                                                 */
    vv_nvml_device part;  /* has the memory: a MIG instance, or the same                         */
    uint32_t number;      /* as the program's CUDA numbers it                                    */
    bool is_part;
    uint64_t left_out;    /* groups of values that it does not have, as bits                     */
    struct { int64_t time_ns; uint64_t value; bool is_known; } totals[VV_GPU_TOTALS];
};

struct vv_gpus {
    const struct vv_nvml *nvml;
    struct vv_gpu items[VV_GPUS_MAX];
    size_t count;
};

/* Finds those that CUDA_VISIBLE_DEVICES (NULL = not set) lets a program see, in its order. CUDA
 * itself stops at the first entry that names none. VARVE_NOT_FOUND: there is none. */
enum varve_code vv_gpus_find(struct vv_gpus *gpus, const struct vv_nvml *nvml, const char *visible,
                             struct varve_error *error);

/* True: CUDA may number them otherwise than NVIDIA's driver does, which only CUDA can say. */
bool vv_gpus_are_mixed(const struct vv_gpus *gpus, const char *visible);
/* Takes those that CUDA numbers instead, and those alone; where the driver knows no identity of
 * CUDA's, nothing changes. */
void vv_gpus_number(struct vv_gpus *gpus, const struct vv_cuda_numbers *numbers);

/* Of the part where it is one; "": not known. */
void vv_gpu_identity(const struct vv_gpus *gpus, size_t index, char out_text[VV_GPU_TEXT_BYTES]);
void vv_gpu_name(const struct vv_gpus *gpus, size_t index, char out_text[VV_GPU_TEXT_BYTES]);

struct vv_gpu_value {
    const char *name; /* "power (W)"                                                             */
    bool is_of_part;  /* of a MIG instance, not of the whole GPU                                 */
    int64_t time_ns;  /* CLOCK_MONOTONIC                                                         */
    double value;
};

/* Reads the chosen metrics (VV_METRIC_… of wishes.h). What the GPU does not have is in left_out
 * from then on. Returns the number of values. A rate is there from the second reading on. */
size_t vv_gpu_read(struct vv_gpus *gpus, size_t number, uint32_t metrics,
                   struct vv_gpu_value out_values[VV_GPU_METRICS_MAX]);

/* The names of the groups of values; NULL beyond the last. */
const char *vv_gpu_group_name(size_t group);

#endif
