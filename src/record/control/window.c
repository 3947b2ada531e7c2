/* SPDX-License-Identifier: Apache-2.0 */
#include "record/control/window.h"

#include <errno.h>
#include <stddef.h>

#include "base/system/signal_handler.h"
#include "record/stream/recorder.h"

static void (*listener)(bool ends); /* atomic */

void vv_window_listen(void (*change)(bool ends))
{
    __atomic_store_n(&listener, change, __ATOMIC_RELEASE);
}

bool vv_window_is_heard(void)
{
    return __atomic_load_n(&listener, __ATOMIC_RELAXED) != NULL;
}

static void tell(bool ends, enum vv_window_caller caller)
{
    void (*change)(bool) = __atomic_load_n(&listener, __ATOMIC_ACQUIRE);
    int saved_errno = errno;
    if (change != NULL && !vv_self.busy &&
        (caller == VV_WINDOW_BY_THREAD || !vv_may_be_in_signal_handler()))
        change(ends);
    errno = saved_errno;
}

void vv_window_switch(uint32_t former, uint32_t next, enum vv_window_caller caller)
{
    if (vv_window_is_heard() && ((former ^ next) & VARVE_LAYER_DEVICE) != 0)
        tell((former & VARVE_LAYER_DEVICE) != 0, caller);
}

void vv_window_phase(void)
{
    if (vv_window_is_heard())
        tell((varve_layers() & VARVE_LAYER_DEVICE) != 0, VV_WINDOW_BY_ANYBODY);
}
