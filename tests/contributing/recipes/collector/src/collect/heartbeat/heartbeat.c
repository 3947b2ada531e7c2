/* SPDX-License-Identifier: Apache-2.0 */
/* heartbeat.c — says that the process is there, once. */
#include "collect/process/collector.h"
#include "record/source_note.h"

static void look(void)
{
    vv_collector_note("heartbeat", VV_COLLECTOR_ATTACHED, "beats");
}

extern const struct vv_collector vv_collector_heartbeat;
const struct vv_collector vv_collector_heartbeat = { .look = look };
