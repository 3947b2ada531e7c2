/* SPDX-License-Identifier: Apache-2.0 */
/* frequency.h — counters of clock frequencies: how fast a device, or the processors, ran meanwhile.
 *
 * A counter is one if its name or series speaks of a frequency, a clock, MHz or GHz. One that names the processors is
 * theirs, one that names a device is that device's, any other may be either's. Nobody says which processor a thread ran
 * on, so those of an input's processors are one source, their mean. Thread-compatible. */
#ifndef VV_MEANING_FREQUENCY_H
#define VV_MEANING_FREQUENCY_H

#include "model/model.h"

/* What is asked for a frequency: one counter, or all of the processors of an input. */
struct vv_frequency_source {
    uint32_t scope;
    uint32_t name;          /* string: of its first counter */
    int32_t device;         /* the number that the name has; -1 = any */
    bool is_of_host, is_of_device;
    uint32_t first, counters; /* its first counter, and how many */
};

struct vv_frequencies {
    const struct vv_model *model; /* borrowed */
    struct vv_frequency_source *sources;
    size_t source_count;
    uint32_t *source_of;          /* by counter */
    size_t *starts;               /* counter -> its first value; counter_count + 1 */
    size_t counter_count;
    int64_t *times_ns;            /* by counter, then in order */
    double *values, *sums;        /* a value holds until the next; the integral up to its time */
};

/* De-initialise also after a failure. None in the trace: source_count is 0. */
enum varve_code vv_frequencies_init(struct vv_frequencies *out, const struct vv_model *model, struct varve_error *error);
void vv_frequencies_deinit(struct vv_frequencies *frequencies);

/* May the slice have run at it? */
bool vv_frequency_is_of(const struct vv_frequencies *frequencies, size_t source, uint32_t slice);
/* The mean over the slice's time, in the counter's own unit; < 0: not known from its begin on. */
double vv_frequency_during(const struct vv_frequencies *frequencies, size_t source, uint32_t slice);

#endif
