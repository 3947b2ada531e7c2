/* SPDX-License-Identifier: Apache-2.0 */
/* observation.h — what the recorder tells src/observe: the marks of a program while it has
 * observers (vv_is_observed), and a fork.
 *
 * The recorder is below src/observe, so src/observe hands it these functions before the process has
 * its first observer. They are called on the thread that marks, without the recorder's lock; only
 * `forked` is called with it, in the child. */
#ifndef VV_RECORD_STREAM_OBSERVATION_H
#define VV_RECORD_STREAM_OBSERVATION_H

#include <stdint.h>

#include "varve/varve.h"

struct vv_observation {
    void (*begin)(const struct varve_site *site);
    void (*begin_name)(const char *name, uint32_t layer);
    void (*end)(void);
    void (*step_begin)(int64_t index);
    void (*step_end)(void);
    void (*forked)(void);
};

/* NULL: there was never an observer. Atomic. */
extern const struct vv_observation *vv_observation;

static inline const struct vv_observation *vv_observation_get(void)
{
    return __atomic_load_n(&vv_observation, __ATOMIC_ACQUIRE);
}

#endif
