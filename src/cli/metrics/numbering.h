/* SPDX-License-Identifier: Apache-2.0 */
/* numbering.h — the GPUs of this process as CUDA numbers them, and their identities. CUDA's numbers
 * are those of NVIDIA's driver (nvml.h) only where all GPUs are of one model, or
 * CUDA_DEVICE_ORDER=PCI_BUS_ID. Not thread-safe. */
#ifndef VV_CLI_METRICS_NUMBERING_H
#define VV_CLI_METRICS_NUMBERING_H

#include <stddef.h>

#include "base/error.h"

#define VV_CUDA_IDENTITY_BYTES 48u

struct vv_cuda_numbers {
    int (*handle)(int *, int);
    int (*uuid)(unsigned char *, int); /* NULL: this driver has none                              */
    int (*name)(char *, int, int);
    unsigned device_count; /* that a program may see under CUDA_VISIBLE_DEVICES                   */
    int major;             /* of the driver's CUDA                                                */
};

/* Initialises CUDA in this process, for good. VARVE_UNSUPPORTED, VARVE_NOT_FOUND: there is no
 * driver, or no GPU; the message speaks of hardware counters. */
enum varve_code vv_cuda_numbers_init(struct vv_cuda_numbers *out_numbers,
                                     struct varve_error *error);

/* "GPU-0badcafe-…", "MIG-…"; "": not known. */
void vv_cuda_identity(const struct vv_cuda_numbers *numbers, unsigned device,
                      char out_text[VV_CUDA_IDENTITY_BYTES]);

/* "NVIDIA H100"; "": not known. */
void vv_cuda_name(const struct vv_cuda_numbers *numbers, unsigned device, char *out_text,
                  size_t bytes);

#endif
