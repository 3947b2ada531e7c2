/* SPDX-License-Identifier: Apache-2.0 */
/* control_page.c — the controlling side of the control page: what `varve start` and `varve stop`
 * store. */
#include "ctf/control_page.h"

#include <unistd.h>

#include "base/system/clock.h"

/* Only the holder of the file's lock writes `asked`. If the entry cannot be written behind the
 * page, the process finds that it is missing. */
static void publish(struct vv_control_page *page, int file, uint64_t ticks, uint32_t layers)
{
    uint64_t asked = __atomic_load_n(&page->asked, __ATOMIC_RELAXED);
    const struct vv_control_switch new = { asked + 1, ticks, layers, (uint32_t)getpid() };
    if (asked - __atomic_load_n(&page->noted, __ATOMIC_ACQUIRE) >= VV_CONTROL_SWITCHES) {
        (void)!pwrite(file, &new, sizeof new, (off_t)vv_control_offset(new.number));
    } else {
        struct vv_control_switch *entry = &page->switches[asked % VV_CONTROL_SWITCHES];
        __atomic_store_n(&entry->number, new.number, __ATOMIC_RELAXED);
        __atomic_store_n(&entry->ticks, new.ticks, __ATOMIC_RELAXED);
        __atomic_store_n(&entry->layers, new.layers, __ATOMIC_RELAXED);
        __atomic_store_n(&entry->pid, new.pid, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&page->asked, new.number, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&page->listens, __ATOMIC_SEQ_CST) != 0)
        __atomic_fetch_or(&page->steps, VV_STEPS_TOLD, __ATOMIC_RELEASE);
}

static uint64_t ticks_of(const struct vv_control_page *page)
{
    vv_clock_init();
    return (page->clock_is_counter != 0) == vv_clock_is_counter ? vv_clock_ticks() : 0;
}

uint32_t vv_control_page_switch(struct vv_control_page *page, int file, uint32_t layers)
{
    /* A start is timed before the store and a stop after it, so that every record lies between
     * them. */
    uint64_t before_ticks = ticks_of(page);
    __atomic_fetch_and(&page->steps, ~VV_STEPS_COUNTED, __ATOMIC_RELAXED);
    uint32_t former = __atomic_load_n(&page->layers, __ATOMIC_RELAXED);
    if (former == 0 && layers != 0)
        __atomic_fetch_add(&page->epoch, 1, __ATOMIC_RELEASE);
    former = __atomic_exchange_n(&page->layers, layers, __ATOMIC_SEQ_CST);
    if (former != layers)
        publish(page, file, layers != 0 ? before_ticks : ticks_of(page), layers);
    return former;
}
