/* SPDX-License-Identifier: Apache-2.0 */
/* launches.c — launches that are under way are few, so that the table holds the last ones: a place
 * in a set of four for each, and the oldest of a set makes room. Each set has a turn of its own: a
 * thread that loses its processor while it has the turn holds up no launch but those of its set. */
#include "collect/process/launches.h"

#include <stddef.h>
#include <string.h>

#include "base/try_lock.h"

#define SETS 1024u /* a power of two                                                             */
#define PLACES 4u
#define TRIES 200

static struct set {
    int turn;      /* base/try_lock.h                                                            */
    uint32_t ages; /* with the turn                                                              */
    struct {
        uint32_t correlation; /* 0: free                                                         */
        uint32_t age;
        struct vv_launch_collective collective;
    } places[PLACES];
} sets[SETS];
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

bool vv_launch_communicates(const char *kernel)
{
    return strstr(kernel, "nccl") != NULL;
}

void vv_launch_note(const char *kernel, uint32_t correlation)
{
    if (kernel != NULL && vv_launch_communicates(kernel))
        last = correlation;
}

void vv_launch_note_unnamed(uint32_t correlation)
{
    last = correlation;
}

uint32_t vv_launch_take(void)
{
    uint32_t taken = last;
    last = 0;
    return taken;
}

static bool take_turn(struct set *set)
{
    for (int i = 0; i < TRIES; i++)
        if (vv_turn_take(&set->turn))
            return true;
    return false;
}

/* Correlations are counted up, so that neighbours are in different sets. */
static struct set *set_of(uint32_t correlation)
{
    return &sets[correlation % SETS];
}

void vv_launch_tell(uint32_t correlation, const struct vv_launch_collective *collective)
{
    struct set *set = set_of(correlation);
    size_t place = 0;
    if (correlation == 0 || !take_turn(set))
        return;
    for (size_t i = 0; i < PLACES; i++) {
        bool is_same = set->places[i].correlation == correlation;
        bool is_older = set->places[place].correlation != 0 &&
                        (set->places[i].correlation == 0 ||
                         (int32_t)(set->places[i].age - set->places[place].age) < 0);
        if (is_same || is_older)
            place = i;
        if (is_same)
            break;
    }
    set->places[place].correlation = correlation;
    set->places[place].age = set->ages++;
    set->places[place].collective = *collective;
    vv_turn_give(&set->turn);
}

bool vv_launch_told(uint32_t correlation, struct vv_launch_collective *out_collective)
{
    struct set *set = set_of(correlation);
    bool is_told = false;
    if (correlation == 0 || !vv_launches_are_wanted() || !take_turn(set))
        return false;
    for (size_t i = 0; i < PLACES && !is_told; i++) {
        is_told = set->places[i].correlation == correlation;
        if (is_told) {
            *out_collective = set->places[i].collective;
            set->places[i].correlation = 0;
        }
    }
    vv_turn_give(&set->turn);
    return is_told;
}
