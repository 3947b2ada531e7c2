/* SPDX-License-Identifier: Apache-2.0 */
#include "record/lost.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/system/os.h"
#include "base/system/shared_page.h"
#include "ctf/lost_page.h"
#include "record/stream/recorder.h"

static _Alignas(VV_PAGE_BYTES) union {
    struct vv_lost_page page;
    uint8_t bytes[VV_LOST_BYTES];
} shared;
static bool is_shared;    /* the page lies over the trace's file                                 */
static bool is_ours;      /* this process made the page's file                                   */
static bool has_counted;  /* this process is among page.processes                                */

static void leave_page(void)
{
    if (is_shared && vv_os_replace_by_memory(&shared, sizeof shared) == 0)
        is_shared = false;
    is_ours = false;
}

/* The page is written, not only sized: so it has its block, and no later store can fault because
 * the disk is full. */
static bool make_page(const struct vv_own_folder *trace)
{
    struct vv_file_id id;
    if (vv_own_create(trace, VV_LOST_FILE, VV_LOST_BYTES, NULL, &id) != 0)
        return false;
    if (vv_own_write(trace, VV_LOST_FILE, &id, &shared, sizeof shared, 0) == 0)
        return true;
    vv_own_remove(trace, VV_LOST_FILE);
    return false;
}

void vv_lost_begin(const struct vv_own_folder *trace, bool is_made)
{
    /* static, under the lock: stacks may be small */
    static char path[VV_OWN_PATH_BYTES + sizeof "/" VV_LOST_FILE];
    struct vv_lost_page head;
    leave_page();
    if (is_shared)
        return;
    vv_lost_page_init(&head);
    vv_lost_page_init(&shared.page);
    snprintf(path, sizeof path, "%s/" VV_LOST_FILE, trace->path);
    is_ours = is_made && make_page(trace);
    is_shared = vv_page_join(&shared, path, &head, offsetof(struct vv_lost_page, os_errno)) == 0;
    has_counted = false;
}

void vv_lost_end(const struct vv_own_folder *trace)
{
    if (!is_ours || !is_shared || __atomic_load_n(&shared.page.records, __ATOMIC_RELAXED) != 0)
        return;
    leave_page();
    if (vv_lost_page_is_done(trace->path))
        vv_own_remove(trace, VV_LOST_FILE);
}

void vv_lost_forked(void)
{
    is_ours = has_counted = false;
    vv_session_homeless = 0;
}

bool vv_lost_has_page(void)
{
    return is_shared;
}

void vv_lost_because(int os_errno)
{
    if (!is_shared)
        return;
    __atomic_store_n(&shared.page.pid, (uint64_t)getpid(), __ATOMIC_RELAXED);
    __atomic_store_n(&shared.page.os_errno, (uint32_t)os_errno, __ATOMIC_RELAXED);
}

void vv_lost_count(uint64_t records)
{
    if (!is_shared || __atomic_load_n(&vv_session.has_folder, __ATOMIC_ACQUIRE)) {
        __atomic_fetch_add(&vv_session_homeless, records, __ATOMIC_RELAXED);
        return;
    }
    if (!__atomic_exchange_n(&has_counted, true, __ATOMIC_RELAXED))
        __atomic_fetch_add(&shared.page.processes, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&shared.page.records, records, __ATOMIC_RELAXED);
}

bool vv_lost_heal(uintptr_t address)
{
    if (!is_shared || address - (uintptr_t)&shared >= sizeof shared)
        return false;
    leave_page();
    return !is_shared;
}
