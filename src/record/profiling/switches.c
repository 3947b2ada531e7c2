/* SPDX-License-Identifier: Apache-2.0 */
/* switches.c — holds the control API's state and lock, and tells callbacks of switches. */
#include <errno.h>

#include "base/system/os.h"
#include "base/system/signal_handler.h"
#include "record/control/control.h"
#include "record/profiling/callbacks.h"
#include "record/profiling/state.h"
#include "record/stream/recorder.h"
#include "varve/control.h"

struct vv_profiling vv_profiling;
pthread_mutex_t vv_profiling_lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;

struct varve_profiling_command vv_profiling_command(enum varve_profiling_event event,
                                                    uint32_t layers)
{
    static const struct varve_profiling_config none;
    const struct varve_profiling_config *config =
        vv_profiling.config != NULL ? vv_profiling.config : &none;
    return (struct varve_profiling_command){
        .struct_size = sizeof(struct varve_profiling_command),
        .event = event, .layers = layers,
        .device_count = config->device_count,
        .devices = vv_profiling.config != NULL ? config->devices : NULL,
        .metrics = config->metrics, .switches = config->switches,
        .options = vv_profiling.has_options ? vv_profiling.options.text : NULL,
        .time_ns = vv_clock_monotonic_ns(), .asked_by = VARVE_PROFILING_BY_PROGRAM,
    };
}

size_t vv_profiling_tell(void)
{
    struct vv_told_switch told;
    size_t count = 0, left = 0, rest = 0;
    while (vv_control_take(&told, count == 0 ? &left : &rest)) {
        struct varve_profiling_command command = vv_profiling_command(
            told.layers != 0 ? VARVE_PROFILING_START : VARVE_PROFILING_STOP, told.layers);
        command.time_ns = told.time_ns;
        command.asked_by = told.asker;
        command.asker_pid = told.pid;
        command.missed = told.missed;
        vv_callbacks_tell(&command);
        if (count++ == left)
            break;
    }
    return count;
}

/* If another thread tells, or this thread is in a callback, that one goes on telling. There is a
 * limit to the rounds because callbacks may cause switches. */
static void tell_now(void)
{
    int saved_errno = errno, cancel, rounds = 16;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    while (rounds-- > 0 && vv_control_has_news() &&
           pthread_mutex_trylock(&vv_profiling_lock) == 0) {
        if (vv_profiling_tell() == 0)
            rounds = 0;
        pthread_mutex_unlock(&vv_profiling_lock);
    }
    pthread_setcancelstate(cancel, NULL);
    errno = saved_errno;
}

void vv_profiling_on_safe_point(void)
{
    int saved_errno = errno;
    if (!vv_may_be_in_signal_handler())
        tell_now();
    errno = saved_errno;
}

VARVE_API void varve_emit_told(void)
{
    tell_now();
}

enum varve_code vv_profiling_enter(const char *call, struct varve_error *error)
{
    if (pthread_mutex_lock(&vv_profiling_lock) == EDEADLK)
        VV_FAIL(error, VARVE_STATE,
                "%s was called from a control callback: call it after that has returned", call);
    if (vv_control_has_news())
        (void)vv_profiling_tell();
    return VARVE_OK;
}

enum varve_code vv_profiling_leave(enum varve_code code)
{
    pthread_mutex_unlock(&vv_profiling_lock);
    tell_now();
    return code;
}
