/* SPDX-License-Identifier: Apache-2.0 */
#include "device/fork.h"

#include <stdbool.h>
#include <stddef.h>

#include "base/system/libc.h"
#include "device/pending.h"
#include "device/registry.h"

static void in_child(void)
{
    vv_pending_forked();
    vv_work_forked();
    vv_backends_forked();
}

void vv_device_fork_watch(void)
{
    static bool is_done;
    if (!__atomic_exchange_n(&is_done, true, __ATOMIC_RELAXED))
        (void)vv_libc_at_fork(NULL, NULL, in_child);
}
