/* SPDX-License-Identifier: Apache-2.0 */
/* state.h — the state of the control API, its lock, and telling callbacks of switches. Private to
 * this room.
 *
 * The lock guards all of it, is taken before the recorder's lock, and is held while callbacks
 * run. */
#ifndef VV_RECORD_PROFILING_STATE_H
#define VV_RECORD_PROFILING_STATE_H

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "record/options/options.h"
#include "record/profiling/config.h"

enum vv_profiling_state { VV_PROFILING_OFF, VV_PROFILING_READY, VV_PROFILING_STARTED };

struct vv_profiling {
    enum vv_profiling_state state;
    const struct varve_profiling_config *config; /* that was started; NULL = the options        */
    char output[PATH_MAX];                       /* "" = default                                */
    bool owns_session;   /* this API began the running session                                  */
    bool by_environment; /* begun at load; the program has not initialised yet                  */
    bool has_options;
    struct vv_options options;
};
extern struct vv_profiling vv_profiling;
extern pthread_mutex_t vv_profiling_lock; /* checks for errors: EDEADLK in a callback            */

/* Takes the lock for a call of the API, and tells of switches. VARVE_STATE: a callback makes the
 * call. */
enum varve_code vv_profiling_enter(const char *call, struct varve_error *error);
enum varve_code vv_profiling_leave(enum varve_code code); /* returns `code`                     */

/* What a callback is told of this event. The caller holds the lock. */
struct varve_profiling_command vv_profiling_command(enum varve_profiling_event event,
                                                    uint32_t layers);
/* Tells of the switches that there are. A callback may cause others, which wait for the next time.
 * Returns how many were told. The caller holds the lock. */
size_t vv_profiling_tell(void);
/* Takes the lock and tells, unless another thread does it. Keeps errno. Where a program may be in a
 * signal handler: vv_control_tell. */
void vv_profiling_on_safe_point(void);

#endif
