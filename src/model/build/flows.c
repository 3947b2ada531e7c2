/* SPDX-License-Identifier: Apache-2.0 */
/* flows.c — finds the slices that arrows lead from and to.
 *
 * If an importer took the instant from a slice, it named that slice's row; if rows have not moved
 * since, no search is needed. Otherwise: arrows come nearly in order of time on each track, so the
 * search begins where the last search on that track ended, and goes out in steps that double. Each
 * thread works on consecutive arrows, and keeps search positions of its own. */
#include <stdlib.h>
#include <string.h>

#include "base/binary_search.h"
#include "base/workers.h"
#include "model/build/build.h"
#include "model/outward.h"

#define PIECE_FLOWS 65536u /* smallest piece for a thread                                         */

struct track_rows {
    uint32_t first, limit; /* rows of its slices                                                */
    uint32_t last;         /* where the last search ended                                       */
};

/* Finds the rows of each track, and copies the list once for each piece. */
static enum varve_code find_tracks(const struct vv_model *model, size_t pieces,
                                   struct track_rows **out_rows, struct varve_error *error)
{
    uint64_t count = model->tracks.table.count;
    struct track_rows *rows = calloc(pieces * (count + 1), sizeof *rows);
    if (rows == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to link the flows of %llu tracks",
                (unsigned long long)count);
    for (uint32_t first = 0, next; first < model->slices.table.count; first = next) {
        uint32_t track = model->slices.track[first];
        for (next = first; next < model->slices.table.count && model->slices.track[next] == track;)
            next++;
        if (track < count)
            rows[track] = (struct track_rows){ first, next, first };
    }
    for (size_t i = 1; i < pieces; i++)
        memcpy(rows + i * (count + 1), rows, (count + 1) * sizeof *rows);
    *out_rows = rows;
    return VARVE_OK;
}

/* The last slice of the track that begins at time_ns, if `row` is one of them; or VV_NONE. */
static uint32_t last_beside(const struct vv_slices *slices, const struct track_rows *track,
                            uint32_t row, int64_t time_ns)
{
    if (row < track->first || row >= track->limit || slices->begin_ns[row] != time_ns)
        return VV_NONE;
    while (row + 1 < track->limit && slices->begin_ns[row + 1] == time_ns)
        row++;
    return row;
}

/* The last slice of the track that begins at or before time_ns; or VV_NONE. */
static uint32_t find_begin(const struct vv_slices *slices, struct track_rows *track,
                           int64_t time_ns)
{
    uint32_t low = track->first, high = track->limit, step = 1;
    if (low == high || slices->begin_ns[low] > time_ns)
        return VV_NONE;
    if (slices->begin_ns[track->last] <= time_ns) {
        low = track->last;
        while (track->limit - low > step && slices->begin_ns[low + step] <= time_ns) {
            low += step;
            step *= 2;
        }
        if (track->limit - low > step)
            high = low + step;
    } else {
        high = track->last;
        while (high - track->first > step && slices->begin_ns[high - step] > time_ns) {
            high -= step;
            step *= 2;
        }
        if (high - track->first > step)
            low = high - step;
    }
    track->last = VV_FIRST_NOT(i, low + 1, high, slices->begin_ns[i] <= time_ns) - 1;
    return track->last;
}

/* `row` is the slice that the importer named. */
static uint32_t find_from(const struct vv_model *model, struct track_rows *track, uint32_t row,
                          int64_t time_ns)
{
    uint32_t slice = last_beside(&model->slices, track, row, time_ns);
    return slice != VV_NONE
               ? slice
               : vv_outward_holding(model, find_begin(&model->slices, track, time_ns), time_ns);
}

static uint32_t find_to(const struct vv_model *model, struct track_rows *track, uint32_t row,
                        int64_t time_ns, bool to_next)
{
    const struct vv_slices *slices = &model->slices;
    uint32_t slice = last_beside(slices, track, row, time_ns);
    if (slice != VV_NONE)
        return slice;
    slice = find_begin(slices, track, time_ns);
    if (slice != VV_NONE && slices->begin_ns[slice] == time_ns)
        return slice;
    uint32_t next = slice == VV_NONE ? track->first : slice + 1;
    if (to_next && next < track->limit)
        return next;
    return vv_outward_holding(model, slice, time_ns);
}

struct linking {
    struct vv_model *model;
    struct track_rows *tracks; /* a list for each piece, one after the other                     */
    size_t pieces;
};

static void link_piece(void *context, size_t piece)
{
    const struct linking *linking = context;
    struct vv_model *model = linking->model;
    struct vv_flows *flows = &model->flows;
    uint64_t count = flows->table.count, track_count = model->tracks.table.count;
    struct track_rows *tracks = linking->tracks + piece * (track_count + 1);
    uint64_t limit = count / linking->pieces * (piece + 1);
    if (piece + 1 == linking->pieces)
        limit = count;
    for (uint64_t i = count / linking->pieces * piece; i < limit; i++) {
        uint32_t from = flows->from_track[i], to = flows->to_track[i];
        if (from < track_count)
            flows->from_slice[i] =
                find_from(model, &tracks[from], flows->from_slice[i], flows->from_ns[i]);
        if (to < track_count)
            flows->to_slice[i] = find_to(model, &tracks[to], flows->to_slice[i], flows->to_ns[i],
                                         flows->to_next[i] != 0);
    }
}

enum varve_code vv_build_flows(struct vv_model *model, struct varve_error *error)
{
    struct linking linking = { .model = model };
    uint64_t count = model->flows.table.count;
    if (count == 0)
        return VARVE_OK;
    linking.pieces = model->threads == 0 ? 1 : model->threads;
    if (linking.pieces > count / PIECE_FLOWS + 1)
        linking.pieces = count / PIECE_FLOWS + 1;
    VV_TRY(find_tracks(model, linking.pieces, &linking.tracks, error));
    vv_workers_run(model->threads, linking.pieces, link_piece, &linking);
    free(linking.tracks);
    return VARVE_OK;
}
