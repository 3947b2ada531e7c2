/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/gpu/source.h"

#include <stdlib.h>
#include <string.h>

#include "base/system/libc.h"
#include "collect/gpu/records.h"
#include "record/source_note.h"
#include "record/stream/hand_over.h"

#define SOURCES_MAX 2u /* vendors                                                                */

/* Handlers of forks and ends are told nothing, so they go through these. */
struct list {
    struct vv_gpu_source *items[SOURCES_MAX]; /* atomic                                          */
    uint32_t count;                           /* atomic                                          */
};

static struct list forking, ending;

/* True: it is the first one. */
static bool add(struct list *list, struct vv_gpu_source *source)
{
    uint32_t at = __atomic_fetch_add(&list->count, 1, __ATOMIC_RELAXED);
    if (at < SOURCES_MAX)
        __atomic_store_n(&list->items[at], source, __ATOMIC_RELEASE);
    return at == 0;
}

enum vv_gpu_state vv_gpu_source_state(const struct vv_gpu_source *source)
{
    return __atomic_load_n(&source->state, __ATOMIC_ACQUIRE);
}

void vv_gpu_source_become(struct vv_gpu_source *source, enum vv_gpu_state state)
{
    __atomic_store_n(&source->state, state, __ATOMIC_RELEASE);
}

void vv_gpu_source_refuse(struct vv_gpu_source *source, const char *why)
{
    vv_collector_note(source->name, VV_COLLECTOR_REFUSED, why);
    vv_gpu_source_become(source, VV_GPU_REFUSED);
}

/* ---- forks ---- */

static void end_in_child(struct vv_gpu_source *source)
{
    static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    enum vv_gpu_state former = vv_gpu_source_state(source);
    memcpy(&source->lock, &fresh, sizeof fresh);
    if (former == VV_GPU_REFUSED)
        return;
    source->end_calls();
    vv_gpu_source_become(source, VV_GPU_ENDED);
    if (former == VV_GPU_ATTACHED || former == VV_GPU_AWAY)
        vv_collector_note(source->name, VV_COLLECTOR_OFF, source->of_child);
}

/* A vendor's library does not work in a forked child, and a thread of the parent may have had a
 * lock. */
static void in_child(void)
{
    vv_gpu_records_end_in_child();
    for (uint32_t i = 0; i < SOURCES_MAX; i++) {
        struct vv_gpu_source *source = __atomic_load_n(&forking.items[i], __ATOMIC_ACQUIRE);
        if (source != NULL)
            end_in_child(source);
    }
}

void vv_gpu_source_watch_forks(struct vv_gpu_source *source)
{
    if (!__atomic_exchange_n(&source->watches_forks, true, __ATOMIC_RELAXED) &&
        add(&forking, source))
        (void)vv_libc_at_fork(NULL, NULL, in_child);
}

/* ---- ends ---- */

static void on_exit_of_program(void)
{
    for (uint32_t i = 0; i < SOURCES_MAX; i++) {
        struct vv_gpu_source *source = __atomic_load_n(&ending.items[i], __ATOMIC_ACQUIRE);
        if (source != NULL)
            source->hand_over(true);
    }
}

static void on_quick_exit(void *ignored)
{
    (void)ignored;
    on_exit_of_program();
}

void vv_gpu_source_watch_ends(struct vv_gpu_source *source)
{
    bool is_known = source->watches_ends;
    source->watches_ends = true;
    if (is_known)
        return;
    (void)vv_hand_over_listen(source->hand_over);
    if (!add(&ending, source))
        return;
    (void)!atexit(on_exit_of_program);
    (void)!vv_libc_at_quick_exit(on_quick_exit);
}
