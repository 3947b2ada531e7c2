/* SPDX-License-Identifier: Apache-2.0 */
#include "record/stream/birth.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "base/system/os.h"
#include "base/system/shared_page.h"

_Alignas(VV_PAGE_BYTES) struct vv_birth vv_birth_page;
_Static_assert(sizeof vv_birth_page == VV_PAGE_BYTES, "nothing else is cleared with it");

/* Atomic. CLEARED is stored only after the first mark. */
static enum { UNTRIED, CLEARED, NOT_CLEARED } in_children;

static pid_t known;    /* atomic */
static bool observed; /* under the lock */

void vv_birth_certify(void)
{
    __atomic_store_n(&known, getpid(), __ATOMIC_RELAXED);
    if (in_children == UNTRIED && vv_page_clear_in_children(&vv_birth_page) != 0)
        in_children = NOT_CLEARED;
    if (in_children == NOT_CLEARED)
        return;
    __atomic_store_n(&vv_birth_page.word, VV_BIRTH_MARK | (observed ? VV_BIRTH_OBSERVED : 0),
                     __ATOMIC_RELAXED);
    __atomic_store_n(&in_children, CLEARED, __ATOMIC_RELEASE);
}

void vv_birth_observe(bool is_observed)
{
    observed = is_observed;
    if (observed)
        __atomic_fetch_or(&vv_birth_page.word, VV_BIRTH_OBSERVED, __ATOMIC_RELAXED);
    else
        __atomic_fetch_and(&vv_birth_page.word, ~VV_BIRTH_OBSERVED, __ATOMIC_RELAXED);
}

bool vv_birth_is_unknown(void)
{
    return __atomic_load_n(&in_children, __ATOMIC_ACQUIRE) == CLEARED &&
           (vv_birth_word() & VV_BIRTH_MARK) == 0;
}

uint64_t vv_birth_pid(void)
{
    return (uint64_t)__atomic_load_n(&known, __ATOMIC_RELAXED);
}

/* libc knows the thread that the memory belongs to: the id of that thread's clock contains its
 * number. */
uint64_t vv_birth_tid(void)
{
    clockid_t clock;
    if ((uint64_t)getpid() == vv_birth_pid() || pthread_getcpuclockid(pthread_self(), &clock) != 0)
        return vv_os_tid();
    return (uint64_t)~(clock >> 3);
}
