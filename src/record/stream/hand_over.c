/* SPDX-License-Identifier: Apache-2.0 */
#include "record/stream/hand_over.h"

#include <errno.h>
#include <stddef.h>
#include <unistd.h>

#include "base/try_lock.h"

static void (*givers[VV_HAND_OVER_GIVERS])(bool is_last); /* atomic                              */
static int turn;

static struct vv_control_page *page(void)
{
    return (struct vv_control_page *)(void *)&varve_control_page;
}

bool vv_hand_over_listen(void (*give)(bool is_last))
{
    for (size_t i = 0; i < VV_HAND_OVER_GIVERS; i++) {
        void (*none)(bool) = NULL;
        if (__atomic_compare_exchange_n(&givers[i], &none, give, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE) ||
            none == give) {
            __atomic_store_n(&page()->giver, (uint32_t)getpid(), __ATOMIC_RELEASE);
            return true;
        }
    }
    return false;
}

void vv_hand_over(bool is_last)
{
    int saved_errno = errno;
    for (size_t i = 0; i < VV_HAND_OVER_GIVERS; i++) {
        void (*give)(bool) = __atomic_load_n(&givers[i], __ATOMIC_ACQUIRE);
        if (give != NULL)
            give(is_last);
    }
    errno = saved_errno;
}

void vv_hand_over_ask(void)
{
    if (__atomic_load_n(&givers[0], __ATOMIC_ACQUIRE) != NULL)
        __atomic_fetch_add(&page()->hand_overs_asked, 1, __ATOMIC_RELEASE);
}

void vv_hand_over_where_asked(void)
{
    if (!vv_hand_over_is_asked() || !vv_turn_take(&turn))
        return;
    uint32_t asked = __atomic_load_n(&page()->hand_overs_asked, __ATOMIC_ACQUIRE);
    vv_hand_over(false);
    __atomic_store_n(&page()->hand_overs_done, asked, __ATOMIC_RELEASE);
    vv_turn_give(&turn);
}
