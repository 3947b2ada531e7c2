/* SPDX-License-Identifier: Apache-2.0 */
/* control_page.c — the controlling side of the control page: what `varve start` and `varve stop`
 * store. */
#include "ctf/control_page.h"

#include "base/system/clock.h"

/* Only the holder of the file's lock writes `asked`. If there is no room, the process itself
 * notices that the mask has changed, and records the time at which it noticed. */
static void publish(struct vv_control_page *page, uint64_t ticks, uint32_t layers)
{
    uint64_t asked = __atomic_load_n(&page->asked, __ATOMIC_RELAXED);
    if (asked - __atomic_load_n(&page->noted, __ATOMIC_ACQUIRE) >= VV_CONTROL_SWITCHES)
        return;
    struct vv_control_switch *entry = &page->switches[asked % VV_CONTROL_SWITCHES];
    __atomic_store_n(&entry->ticks, ticks, __ATOMIC_RELAXED);
    __atomic_store_n(&entry->layers, layers, __ATOMIC_RELAXED);
    __atomic_store_n(&page->asked, asked + 1, __ATOMIC_RELEASE);
}

static uint64_t ticks_of(const struct vv_control_page *page)
{
    vv_clock_init();
    return (page->clock_is_counter != 0) == vv_clock_is_counter ? vv_clock_ticks() : 0;
}

uint32_t vv_control_page_switch(struct vv_control_page *page, uint32_t layers)
{
    /* A start is timed before the store and a stop after it, so that every record lies between
     * them. */
    uint64_t before_ticks = ticks_of(page);
    __atomic_store_n(&page->steps, 0, __ATOMIC_RELAXED);
    uint32_t former = __atomic_load_n(&page->layers, __ATOMIC_RELAXED);
    if (former == 0 && layers != 0)
        __atomic_fetch_add(&page->epoch, 1, __ATOMIC_RELEASE);
    former = __atomic_exchange_n(&page->layers, layers, __ATOMIC_SEQ_CST);
    if (former != layers)
        publish(page, layers != 0 ? before_ticks : ticks_of(page), layers);
    return former;
}
