/* SPDX-License-Identifier: Apache-2.0 */
/* frequency.h — counters of clock frequencies: how fast a device or the processors ran during a
 * slice.
 *
 * A counter is one of these if its name or series contains a word for frequency, clock, MHz or GHz.
 * If the name mentions processors, it is theirs; if it mentions a device, it is that device's;
 * otherwise it may be either's. A trace does not say which processor a thread ran on. So the
 * counters of all processors of an input form one source, which is their mean.
 * Thread-compatible. */
#ifndef VV_MEANING_HARDWARE_FREQUENCY_H
#define VV_MEANING_HARDWARE_FREQUENCY_H

#include "model/model.h"

/* A source of a frequency: one counter, or all counters of an input's processors. */
struct vv_frequency_source {
    uint32_t scope;
    uint32_t name;          /* string: that of its first counter */
    int32_t device;         /* the device number in the name; -1 = any device */
    bool is_of_host, is_of_device;
    uint32_t first, counters; /* its first counter, and the number of counters */
};

struct vv_frequencies {
    const struct vv_model *model; /* borrowed */
    struct vv_frequency_source *sources;
    size_t source_count;
    uint32_t *source_of;          /* counter -> source */
    size_t *starts;               /* counter -> its first value; counter_count + 1 */
    size_t counter_count;
    int64_t *times_ns;            /* by counter, then in order of time */
    double *values, *sums;        /* a value holds until the next; the integral up to then */
};

/* If the trace has no such counter, source_count is 0. */
enum varve_code vv_frequencies_init(struct vv_frequencies *out, const struct vv_model *model,
                                    struct vv_scratch *scratch, struct varve_error *error);

/* May the slice have run at this source's frequency? */
bool vv_frequency_is_of(const struct vv_frequencies *frequencies, size_t source, uint32_t slice);
/* The mean over the slice's time, in the counter's own unit; < 0 if the source has no value at the
 * slice's begin. */
double vv_frequency_during(const struct vv_frequencies *frequencies, size_t source, uint32_t slice);

#endif
