/* SPDX-License-Identifier: Apache-2.0 */
/* launches.c — launches that are under way are few, so that the table holds the last ones: a place
 * in a set of four for each, and the oldest of a set makes room. */
#include "collect/process/launches.h"

#include <stddef.h>
#include <string.h>

#include "base/try_lock.h"

#define SETS 1024u /* a power of two                                                             */
#define PLACES 4u
#define TRIES 200

static struct {
    uint32_t correlation; /* 0: free                                                             */
    uint32_t age;
    struct vv_launch_collective collective;
} told[SETS][PLACES];
static uint32_t ages;   /* with the turn                                                         */
static int turn;        /* base/try_lock.h                                                       */
static bool are_wanted; /* atomic                                                                */

static _Thread_local uint32_t last; /* launch of this thread                                     */

void vv_launches_want(void)
{
    __atomic_store_n(&are_wanted, true, __ATOMIC_RELAXED);
}

bool vv_launches_are_wanted(void)
{
    return __atomic_load_n(&are_wanted, __ATOMIC_RELAXED);
}

void vv_launch_note(const char *kernel, uint32_t correlation)
{
    if (kernel != NULL && strstr(kernel, "nccl") != NULL) /* mangled or not                      */
        last = correlation;
}

uint32_t vv_launch_take(void)
{
    uint32_t taken = last;
    last = 0;
    return taken;
}

static bool take_turn(void)
{
    for (int i = 0; i < TRIES; i++)
        if (vv_turn_take(&turn))
            return true;
    return false;
}

/* Correlations are counted up, so that neighbours are in different sets. */
static size_t set_of(uint32_t correlation)
{
    return correlation % SETS;
}

void vv_launch_tell(uint32_t correlation, const struct vv_launch_collective *collective)
{
    size_t set = set_of(correlation), place = 0;
    if (correlation == 0 || !take_turn())
        return;
    for (size_t i = 0; i < PLACES; i++) {
        bool is_same = told[set][i].correlation == correlation;
        bool is_older = told[set][place].correlation != 0 &&
                        (told[set][i].correlation == 0 ||
                         (int32_t)(told[set][i].age - told[set][place].age) < 0);
        if (is_same || is_older)
            place = i;
        if (is_same)
            break;
    }
    told[set][place].correlation = correlation;
    told[set][place].age = ages++;
    told[set][place].collective = *collective;
    vv_turn_give(&turn);
}

bool vv_launch_told(uint32_t correlation, struct vv_launch_collective *out_collective)
{
    size_t set = set_of(correlation);
    bool is_told = false;
    if (correlation == 0 || !vv_launches_are_wanted() || !take_turn())
        return false;
    for (size_t i = 0; i < PLACES && !is_told; i++) {
        is_told = told[set][i].correlation == correlation;
        if (is_told) {
            *out_collective = told[set][i].collective;
            told[set][i].correlation = 0;
        }
    }
    vv_turn_give(&turn);
    return is_told;
}
