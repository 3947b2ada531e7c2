/* SPDX-License-Identifier: Apache-2.0 */
/* thread_names.c — finds threads whose name does not tell them apart: another thread, of any
 * process, has the same name and another number. */
#include <stdlib.h>

#include "model/build/build.h"

struct named { uint32_t name, track; int64_t tid; };

static int in_order(const void *a, const void *b)
{
    const struct named *left = a, *right = b;
    if (left->name != right->name)
        return left->name < right->name ? -1 : 1;
    return (left->tid > right->tid) - (left->tid < right->tid);
}

/* A number below 0 stands for a text, and says nothing. */
static bool is_named(const struct vv_tracks *tracks, uint32_t track)
{
    return tracks->kind[track] == VV_TRACK_THREAD && tracks->name[track] != 0 &&
           tracks->tid[track] >= 0;
}

enum varve_code vv_build_thread_names(struct vv_model *model, struct varve_error *error)
{
    struct vv_tracks *tracks = &model->tracks;
    struct named *threads = calloc((size_t)tracks->table.count + 1, sizeof *threads);
    size_t count = 0;
    if (threads == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the names of %llu threads",
                (unsigned long long)tracks->table.count);
    for (uint32_t track = 0; track < tracks->table.count; track++)
        if (is_named(tracks, track))
            threads[count++] =
                (struct named){ tracks->name[track], track, tracks->tid[track] };
    qsort(threads, count, sizeof *threads, in_order);
    for (size_t first = 0, last; first < count; first = last) {
        for (last = first; last < count && threads[last].name == threads[first].name; last++)
            ;
        for (size_t i = first; i < last; i++)
            tracks->shares_name[threads[i].track] = threads[first].tid != threads[last - 1].tid;
    }
    free(threads);
    return VARVE_OK;
}
