/* SPDX-License-Identifier: Apache-2.0 */
#include "record/session/control.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/system/os.h"
#include "base/system/shared_page.h"
#include "record/session/schedule.h"
#include "record/stream/recorder.h"

static struct vv_own_folder home;       /* of the file behind the page; "" = private memory      */
static bool is_borrowed;                /* the file is the parent's                              */
static uint32_t recorded_layers;        /* what the trace says is recorded                       */
static uint64_t noted;                  /* switches by others that are in the trace              */

static uint32_t layers_now(void)
{
    return varve_layers() & VARVE_LAYER_ALL;
}

void vv_control_recorded(uint32_t layers)
{
    recorded_layers = layers;
}

void vv_control_open(const struct vv_own_folder *folder, uint32_t layers)
{
    static struct varve_control content; /* under the lock: stacks may be small */
    recorded_layers = layers;
    memcpy(&content, &varve_control_page, sizeof content);
    struct vv_control_page *page = (struct vv_control_page *)(void *)&content;
    page->version = VV_CONTROL_VERSION;
    page->magic = VV_CONTROL_MAGIC;
    page->pid = vv_birth_pid();
    page->clock_is_counter = vv_clock_is_counter;
    page->wanted = vv_session.wanted_layers;
    page->asked = page->noted = noted = 0;
    if (vv_own_share_page(folder, VV_CONTROL_FILE, &varve_control_page, &content) != 0) {
        vv_control_own();
        noted = vv_control()->asked; /* of a former session, or of the parent */
        return;
    }
    vv_own_folder_copy(&home, folder);
    is_borrowed = false;
}

static void make_private(void)
{
    (void)vv_page_unshare(&varve_control_page);
    home.path[0] = '\0';
    is_borrowed = false;
}

void vv_control_close(void)
{
    vv_control_forget();
    if (home.path[0] != '\0')
        make_private();
}

void vv_control_forget(void)
{
    if (home.path[0] != '\0' && !is_borrowed)
        vv_own_remove(&home, VV_CONTROL_FILE);
}

void vv_control_forked(void)
{
    is_borrowed = home.path[0] != '\0';
}

void vv_control_own(void)
{
    if (is_borrowed)
        make_private();
}

/* What was stored into the page by others since is lost with it; the epoch is that of the thread that finds out:
 * the others, at worst, forget once what they have open. */
bool vv_control_lost(void)
{
    if (vv_os_replace_by_memory(&varve_control_page, sizeof varve_control_page) != 0)
        return false;
    __atomic_store_n(&varve_control_page.epoch, vv_self.epoch - __atomic_load_n(&vv_birth_page.mark, __ATOMIC_RELAXED),
                     __ATOMIC_RELAXED);
    __atomic_store_n(&varve_control_page.steps, vv_schedule_steps(), __ATOMIC_RELAXED);
    __atomic_store_n(&varve_control_page.layers, recorded_layers, __ATOMIC_RELEASE);
    return true;
}

void vv_control_note(void)
{
    struct vv_control_page *page = vv_control();
    uint64_t asked = __atomic_load_n(&page->asked, __ATOMIC_ACQUIRE);
    if (is_borrowed || (layers_now() == recorded_layers && asked == noted))
        return;
    if (asked - noted > VV_CONTROL_SWITCHES) /* nonsense in the file */
        noted = asked;
    for (; noted != asked; noted++) {
        const struct vv_control_switch *entry = &page->switches[noted % VV_CONTROL_SWITCHES];
        uint64_t ticks = __atomic_load_n(&entry->ticks, __ATOMIC_RELAXED);
        recorded_layers = __atomic_load_n(&entry->layers, __ATOMIC_RELAXED) & VARVE_LAYER_ALL;
        vv_session_put_layers(recorded_layers, ticks <= vv_clock_ticks() ? ticks : 0);
    }
    __atomic_store_n(&page->noted, noted, __ATOMIC_RELEASE);
    uint32_t layers = layers_now();
    if (layers != recorded_layers) { /* others have stored, and have not said so yet, or found no room */
        recorded_layers = layers;
        vv_session_put_layers(layers, 0);
    }
}
