/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_surroundings.h — what keeps a program from NVIDIA's GPUs here, and what to do: containers
 * without GPUs, without the driver's libraries or without rights, and GPUs in slices (MIG). From
 * files and variables alone; asks no driver. Thread-compatible. */
#ifndef VV_CLI_DOCTOR_GPU_SURROUNDINGS_H
#define VV_CLI_DOCTOR_GPU_SURROUNDINGS_H

#include <stdbool.h>
#include <stddef.h>

struct vv_gpu_surroundings {
    bool has_nodes;     /* /dev/nvidiactl, or WSL's /dev/dxg                                     */
    bool may_open;      /* the nodes may be read and written                                     */
    bool has_driver;    /* the kernel has NVIDIA's driver: /proc/driver/nvidia                   */
    bool in_container;
    bool needs_root;    /* hardware counters are for administrators alone, and we are none       */
    const char *given;  /* NVIDIA_VISIBLE_DEVICES; or NULL                                       */
    const char *shown;  /* CUDA_VISIBLE_DEVICES; or NULL                                         */
};

/* `root` is put before paths: "" but for tests. */
void vv_gpu_look(const char *root, struct vv_gpu_surroundings *out);

/* Why libcuda.so.1 is not here, and what to do. */
void vv_gpu_say_missing(const struct vv_gpu_surroundings *here, char *text, size_t bytes);

/* With libcuda.so.1: appends to the text what else is to be known, each part after "; ". */
void vv_gpu_say_more(const struct vv_gpu_surroundings *here, char *text, size_t bytes);

#endif
