/* SPDX-License-Identifier: Apache-2.0 */
#include "record/control.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/system/os.h"
#include "base/system/shared_page.h"
#include "record/stream/process_stream.h"
#include "record/stream/recorder.h"

static struct vv_own_folder home;       /* folder of the page's file; "" = private memory        */
static bool is_borrowed;                /* the file belongs to the parent                        */
static uint32_t recorded_layers;        /* layers that are recorded, as the trace says           */
static uint32_t own_steps;              /* varve_control_page.steps as this process stored it    */
static uint64_t noted;                  /* number of others' switches that the trace has         */

static uint32_t layers_now(void)
{
    return varve_layers() & VARVE_LAYER_ALL;
}

static void make_private(void)
{
    (void)vv_page_unshare(&varve_control_page);
    home.path[0] = '\0';
    is_borrowed = false;
}

/* Called before this process stores into its page: from then on the page is not the parent's. */
static void own_page(void)
{
    if (is_borrowed)
        make_private();
}

void vv_control_open(const struct vv_own_folder *folder, uint32_t layers)
{
    static struct varve_control content; /* static, under the lock: stacks may be small */
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
        own_page();
        noted = vv_control()->asked; /* switches of a former session, or of the parent */
        return;
    }
    vv_own_folder_copy(&home, folder);
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

void vv_control_set_layers(uint32_t layers)
{
    own_page();
    if (varve_layers() == 0 && layers != 0)
        __atomic_fetch_add(&varve_control_page.epoch, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&varve_control_page.layers, layers, __ATOMIC_RELEASE);
}

void vv_control_set_steps(uint32_t steps)
{
    own_steps = steps;
    if (__atomic_load_n(&varve_control_page.steps, __ATOMIC_RELAXED) == steps)
        return;
    own_page();
    __atomic_store_n(&varve_control_page.steps, steps, __ATOMIC_RELAXED);
}

uint32_t vv_control_switch(uint32_t layers)
{
    if (!vv_session.running)
        return 0;
    uint32_t former = varve_layers();
    if (vv_session.has_folder)
        vv_control_note();
    layers &= VARVE_LAYER_ALL;
    if (layers == 0)
        vv_control_set_layers(0); /* off first; then the record, where ranges end */
    if (vv_session.has_folder) {
        recorded_layers = layers;
        vv_process_stream_put_layers(layers, 0);
    }
    vv_control_set_layers(layers);
    return former;
}

/* Switches that other processes stored in the page, but that this process has not noted, are lost.
 * The epoch becomes that of the calling thread. At worst the other threads forget their open ranges
 * once. */
bool vv_control_lost(void)
{
    if (vv_os_replace_by_memory(&varve_control_page, sizeof varve_control_page) != 0)
        return false;
    __atomic_store_n(&varve_control_page.epoch,
                     vv_self.epoch - __atomic_load_n(&vv_birth_page.mark, __ATOMIC_RELAXED),
                     __ATOMIC_RELAXED);
    __atomic_store_n(&varve_control_page.steps, own_steps, __ATOMIC_RELAXED);
    __atomic_store_n(&varve_control_page.layers, recorded_layers, __ATOMIC_RELEASE);
    return true;
}

void vv_control_note(void)
{
    struct vv_control_page *page = vv_control();
    uint64_t asked = __atomic_load_n(&page->asked, __ATOMIC_ACQUIRE);
    if (is_borrowed || (layers_now() == recorded_layers && asked == noted))
        return;
    if (asked - noted > VV_CONTROL_SWITCHES) /* the file was damaged */
        noted = asked;
    for (; noted != asked; noted++) {
        const struct vv_control_switch *entry = &page->switches[noted % VV_CONTROL_SWITCHES];
        uint64_t ticks = __atomic_load_n(&entry->ticks, __ATOMIC_RELAXED);
        recorded_layers = __atomic_load_n(&entry->layers, __ATOMIC_RELAXED) & VARVE_LAYER_ALL;
        vv_process_stream_put_layers(recorded_layers, ticks <= vv_clock_ticks() ? ticks : 0);
    }
    __atomic_store_n(&page->noted, noted, __ATOMIC_RELEASE);
    uint32_t layers = layers_now();
    /* Others have stored the mask but have not added the switch yet, or found no room for it. */
    if (layers != recorded_layers) {
        recorded_layers = layers;
        vv_process_stream_put_layers(layers, 0);
    }
}
