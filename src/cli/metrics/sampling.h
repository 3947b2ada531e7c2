/* SPDX-License-Identifier: Apache-2.0 */
/* sampling.h — hardware counters of GPUs over the time, by CUPTI's PM sampling.
 *
 * The device writes its counters into a buffer at a fixed period; no kernel is run again, none
 * waits for another, and the program knows nothing of it. A sample has no kernel: it is of all that
 * the device did. Not thread-safe. */
#ifndef VV_CLI_METRICS_SAMPLING_H
#define VV_CLI_METRICS_SAMPLING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "cli/metrics/numbering.h"
#include "cli/metrics/wishes.h"

#define VV_SAMPLED_DEVICES 64u

struct vv_sampling;

/* Begins to sample every GPU that the program may see, and waits for the first samples, whose times
 * must be those of a clock that is known. VARVE_UNSUPPORTED, VARVE_NOT_FOUND: it cannot be; the
 * message says why and what to do. */
enum varve_code vv_sampling_begin(const struct vv_metric_wishes *wishes,
                                  struct vv_sampling **out_sampling, struct varve_error *error);

unsigned vv_sampling_devices(const struct vv_sampling *sampling);
/* Devices are numbered so. Valid until the end. */
const struct vv_cuda_numbers *vv_sampling_numbers(const struct vv_sampling *sampling);

/* "tensor_cores, dram": what the device does not have; false: it has all. */
bool vv_sampling_lacks(const struct vv_sampling *sampling, unsigned device, char *out_text,
                       size_t bytes);

/* The value is of the time from time_ns (CLOCK_MONOTONIC) to the next one's. */
typedef void vv_sampled_fn(void *user, unsigned device, const char *name, int64_t time_ns,
                           double value);

/* Tells what was sampled since. Samples that are lost are counted by a counter of their own. */
void vv_sampling_read(struct vv_sampling *sampling, vv_sampled_fn *tell, void *user);

/* Stops, and tells of the rest; what cannot be read in half a second is counted as lost. The
 * process is to end. */
void vv_sampling_end(struct vv_sampling *sampling, vv_sampled_fn *tell, void *user);

#endif
