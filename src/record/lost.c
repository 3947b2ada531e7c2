/* SPDX-License-Identifier: Apache-2.0 */
#include "record/lost.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/system/os.h"
#include "base/system/shared_page.h"
#include "ctf/lost_page.h"
#include "record/stream/recorder.h"

/* Other threads count into `shared` at any time, also as a session ends and its page is left: all
 * stores into it are atomic. What they count after that moment concerns no session. */
static _Alignas(VV_PAGE_BYTES) union whole_page {
    struct vv_lost_page page;
    uint8_t bytes[VV_LOST_BYTES];
} shared;
static bool is_shared;    /* the page lies over the trace's file; changed under the lock or, as the
                             file is cut, in a handler                                           */
static bool has_counted;  /* this process is among page.processes                                */
static bool is_ours;      /* this process made the page's file; guarded by the lock              */

bool vv_lost_has_page(void)
{
    return __atomic_load_n(&is_shared, __ATOMIC_ACQUIRE);
}

static void leave_page(void)
{
    if (vv_lost_has_page() && vv_os_replace_by_memory(&shared, sizeof shared) == 0)
        __atomic_store_n(&is_shared, false, __ATOMIC_RELEASE);
}

/* The page is written, not only sized: so it has its block, and no later store can fault because
 * the disk is full. */
static bool make_page(const struct vv_own_folder *trace)
{
    static union whole_page content; /* under the lock: stacks may be small */
    struct vv_file_id id;
    vv_lost_page_init(&content.page);
    if (vv_own_create(trace, VV_LOST_FILE, VV_LOST_BYTES, NULL, &id) != 0)
        return false;
    if (vv_own_write(trace, VV_LOST_FILE, &id, &content, sizeof content, 0) == 0)
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
    is_ours = false;
    if (vv_lost_has_page())
        return;
    vv_lost_page_init(&head);
    snprintf(path, sizeof path, "%s/" VV_LOST_FILE, trace->path);
    is_ours = is_made && make_page(trace);
    __atomic_store_n(&has_counted, false, __ATOMIC_RELAXED);
    bool joined = vv_page_join(&shared, path, &head, offsetof(struct vv_lost_page, os_errno)) == 0;
    __atomic_store_n(&is_shared, joined, __ATOMIC_RELEASE);
}

void vv_lost_end(const struct vv_own_folder *trace)
{
    if (!is_ours && __atomic_load_n(&vv_session.running, __ATOMIC_RELAXED))
        return; /* the process ends, and may have forbidden itself mmap (doc/threading.md) */
    leave_page();
    if (is_ours && vv_lost_page_is_done(trace->path))
        vv_own_remove(trace, VV_LOST_FILE);
    is_ours = false;
}

void vv_lost_forked(void)
{
    is_ours = false;
    __atomic_store_n(&has_counted, false, __ATOMIC_RELAXED);
    vv_session_homeless = 0;
}

void vv_lost_because(int os_errno)
{
    if (!vv_lost_has_page())
        return;
    __atomic_store_n(&shared.page.pid, (uint64_t)getpid(), __ATOMIC_RELAXED);
    __atomic_store_n(&shared.page.os_errno, (uint32_t)os_errno, __ATOMIC_RELAXED);
}

void vv_lost_count(uint64_t records)
{
    if (!vv_lost_has_page() || __atomic_load_n(&vv_session.has_folder, __ATOMIC_ACQUIRE)) {
        __atomic_fetch_add(&vv_session_homeless, records, __ATOMIC_RELAXED);
        return;
    }
    if (!__atomic_exchange_n(&has_counted, true, __ATOMIC_RELAXED))
        __atomic_fetch_add(&shared.page.processes, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&shared.page.records, records, __ATOMIC_RELAXED);
}

bool vv_lost_heal(uintptr_t address)
{
    if (!vv_lost_has_page() || address - (uintptr_t)&shared >= sizeof shared)
        return false;
    leave_page();
    return !vv_lost_has_page();
}
