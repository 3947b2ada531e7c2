/* SPDX-License-Identifier: Apache-2.0 */
#include "record/control/switch_queue.h"

#include "ctf/control_page.h"

#define ROOM VV_CONTROL_KEPT

static struct vv_told_switch queue[ROOM]; /* untouched, and so without memory, until it is used */
static size_t first, count;

void vv_switch_queue_put(const struct vv_told_switch *new)
{
    struct vv_told_switch *last = &queue[(first + count - 1) % ROOM];
    uint64_t missed = count == ROOM ? last->missed + 1 : 0;
    if (count < ROOM)
        last = &queue[(first + count++) % ROOM];
    *last = *new;
    last->missed += missed;
}

bool vv_switch_queue_take(struct vv_told_switch *out)
{
    if (count == 0)
        return false;
    *out = queue[first];
    first = (first + 1) % ROOM;
    count--;
    return true;
}

size_t vv_switch_queue_count(void)
{
    return count;
}

void vv_switch_queue_clear(void)
{
    count = 0;
}
