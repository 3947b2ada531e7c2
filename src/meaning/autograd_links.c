/* SPDX-License-Identifier: Apache-2.0 */
#include "meaning/autograd_links.h"

#include <string.h>

#include "base/radix.h"
#include "model/id_map.h"
#include "numbers/pair_ids.h"

struct numbered { /* an operator with a sequence number                                           */
    int64_t sequence;
    uint32_t row;
    bool is_backward; /* it names the thread of a forward operator                              */
};

struct linking {
    const struct vv_model *model;
    struct vv_scratch *scratch; /* of this work                                                 */
    struct vv_scratch *out;     /* of the links                                                 */
    struct vv_autograd_link *links;
    size_t link_count, link_capacity;
    struct numbered *numbered;  /* in order of rows                                             */
    size_t numbered_count;
    uint32_t *forward_of;       /* slice -> its forward slice; VV_NONE                           */
    bool *is_drawn;             /* slice -> an arrow says so                                     */
    struct vv_id_map *on_track; /* (track, sequence) -> forward slice, the last so far           */
    struct vv_id_map *in_process; /* (process, sequence) -> the last forward slice of all */
    struct vv_id_map *tids;     /* (process, tid) -> track                                      */
    struct vv_groups threads;   /* (process, forward thread, as the producer numbers it)         */
    uint32_t *track_of;         /* group of `threads` -> track; VV_NONE                         */
    uint8_t *is_engine;         /* string -> 1 = no, 2 = an engine's range                      */
};

bool vv_is_engine_range(const char *name)
{
    static const char prefix[] = "autograd::engine::evaluate_function";
    return strncmp(name, prefix, sizeof prefix - 1) == 0;
}

bool vv_is_backward_name(const char *name)
{
    static const char word[] = "Backward";
    if (vv_is_engine_range(name))
        return true;
    const char *end = strstr(name, word);
    if (end == NULL || end == name)
        return false;
    end += sizeof word - 1;
    return *end != '\0' && end[strspn(end, "0123456789")] == '\0';
}

static bool is_engine(struct linking *linking, uint32_t slice)
{
    uint32_t name = linking->model->slices.name[slice];
    if (linking->is_engine[name] == 0)
        linking->is_engine[name] =
            vv_is_engine_range(vv_intern_text(&linking->model->strings, name)) ? 2 : 1;
    return linking->is_engine[name] == 2;
}

static uint32_t process_of(const struct vv_model *model, uint32_t slice)
{
    uint32_t process = model->tracks.process[model->slices.track[slice]];
    return process != VV_NONE ? process : 0;
}

static int64_t sequence_of(const struct vv_model *model, uint32_t slice)
{
    uint32_t op = model->slices.op[slice];
    return op != VV_NONE ? model->ops.sequence[op] : -1;
}

static bool is_forward(const struct vv_model *model, uint32_t slice)
{
    return sequence_of(model, slice) >= 0 && model->ops.forward_tid[model->slices.op[slice]] == 0;
}

static bool is_backward(const struct vv_model *model, uint32_t slice)
{
    return sequence_of(model, slice) >= 0 && model->ops.forward_tid[model->slices.op[slice]] != 0;
}

/* ---- by arrows ---- */

bool vv_is_autograd_arrow(const struct vv_model *model, uint64_t flow)
{
    const struct vv_flows *flows = &model->flows;
    return flows->kind[flow] == VV_FLOW_BACKWARD && flows->from_slice[flow] != VV_NONE &&
           flows->to_slice[flow] != VV_NONE;
}

/* Several slices may begin at an end of an arrow: returns the innermost with the right numbers. */
static uint32_t end_of_arrow(const struct vv_model *model, uint32_t slice, bool is_back,
                             int64_t sequence)
{
    for (uint32_t row = slice;
         row != VV_NONE && model->slices.begin_ns[row] == model->slices.begin_ns[slice];
         row = model->slices.parent[row])
        if ((is_back ? is_backward(model, row) : is_forward(model, row)) &&
            (sequence < 0 || sequence_of(model, row) == sequence))
            return row;
    return slice;
}

static void follow_arrows(struct linking *linking)
{
    const struct vv_model *model = linking->model;
    const struct vv_flows *flows = &model->flows;
    for (uint64_t f = 0; f < flows->table.count; f++) {
        if (!vv_is_autograd_arrow(model, f))
            continue;
        uint32_t backward = end_of_arrow(model, flows->to_slice[f], true, -1);
        linking->forward_of[backward] =
            end_of_arrow(model, flows->from_slice[f], false, sequence_of(model, backward));
        linking->is_drawn[backward] = true;
    }
}

/* ---- by numbers ---- */

static enum varve_code map_tids(struct linking *linking, struct varve_error *error)
{
    const struct vv_tracks *tracks = &linking->model->tracks;
    struct vv_id_range range = { 0 };
    for (uint32_t t = 0; t < tracks->table.count; t++)
        if (tracks->kind[t] == VV_TRACK_THREAD && tracks->process[t] != VV_NONE)
            vv_id_range_add(&range, tracks->process[t], (uint64_t)tracks->tid[t]);
    VV_TRY(vv_id_map_in(linking->scratch, &linking->tids, &range, error));
    for (uint32_t t = 0; t < tracks->table.count; t++)
        if (tracks->kind[t] == VV_TRACK_THREAD && tracks->process[t] != VV_NONE)
            *vv_id_map_put(linking->tids, tracks->process[t], (uint64_t)tracks->tid[t]) = t;
    return VARVE_OK;
}

static enum varve_code map_forwards(struct linking *linking, struct varve_error *error)
{
    const struct vv_model *model = linking->model;
    struct vv_id_range of_tracks = { 0 }, of_processes = { 0 };
    for (size_t i = 0; i < linking->numbered_count; i++) {
        const struct numbered *one = &linking->numbered[i];
        if (one->is_backward)
            continue;
        vv_id_range_add(&of_tracks, model->slices.track[one->row], (uint64_t)one->sequence);
        vv_id_range_add(&of_processes, process_of(model, one->row), (uint64_t)one->sequence);
    }
    VV_TRY(vv_id_map_in(linking->scratch, &linking->on_track, &of_tracks, error));
    VV_TRY(vv_id_map_in(linking->scratch, &linking->in_process, &of_processes, error));
    for (size_t i = 0; i < linking->numbered_count; i++) {
        uint32_t row = linking->numbered[i].row;
        if (linking->numbered[i].is_backward)
            continue;
        uint64_t sequence = (uint64_t)linking->numbered[i].sequence;
        uint32_t *last = vv_id_map_put(linking->in_process, process_of(model, row), sequence);
        if (*last == VV_NONE || model->slices.begin_ns[row] >= model->slices.begin_ns[*last])
            *last = row;
    }
    return VARVE_OK;
}

static uint32_t thread_number(const struct vv_model *model, uint32_t slice)
{
    uint64_t tid = model->ops.forward_tid[model->slices.op[slice]];
    return (uint32_t)(tid ^ tid >> 32);
}

/* Each backward operator votes for the track of the forward operator that has its number. */
static enum varve_code elect_tracks(struct linking *linking, struct varve_error *error)
{
    const struct vv_model *model = linking->model;
    struct vv_groups pairs = { .scratch = linking->scratch }; /* (thread, track) */
    uint32_t *votes = NULL, *most, thread, pair;
    size_t capacity = 0;
    for (size_t i = 0; i < linking->numbered_count; i++) {
        uint32_t row = linking->numbered[i].row;
        if (!linking->numbered[i].is_backward)
            continue;
        uint32_t process = process_of(model, row), known = pairs.count;
        VV_TRY(
            vv_groups_add(&linking->threads, process, thread_number(model, row), &thread, error));
        uint32_t forward =
            vv_id_map_find(linking->in_process, process, (uint64_t)sequence_of(model, row));
        if (forward == VV_NONE)
            continue;
        VV_TRY(vv_groups_add(&pairs, thread, model->slices.track[forward], &pair, error));
        VV_TRY(VV_SCRATCH_RESERVE(linking->scratch, &votes, &capacity, pairs.count, error));
        votes[pair] = (pair == known ? 0 : votes[pair]) + 1;
    }
    VV_TRY(VV_SCRATCH_ARRAY(linking->scratch, &linking->track_of, linking->threads.count, error));
    VV_TRY(VV_SCRATCH_ZEROS(linking->scratch, &most, linking->threads.count, error));
    for (uint32_t t = 0; t < linking->threads.count; t++)
        linking->track_of[t] = VV_NONE;
    for (uint32_t p = 0; p < pairs.count; p++) {
        if (votes[p] > most[pairs.names[p]]) {
            most[pairs.names[p]] = votes[p];
            linking->track_of[pairs.names[p]] = pairs.extras[p];
        }
    }
    return VARVE_OK;
}

static enum varve_code find_forward(struct linking *linking, uint32_t slice, uint32_t *out_forward,
                                    struct varve_error *error)
{
    const struct vv_model *model = linking->model;
    uint32_t process = process_of(model, slice), thread;
    uint64_t sequence = (uint64_t)sequence_of(model, slice);
    uint32_t track =
        vv_id_map_find(linking->tids, process, model->ops.forward_tid[model->slices.op[slice]]);
    *out_forward = track != VV_NONE ? vv_id_map_find(linking->on_track, track, sequence) : VV_NONE;
    if (*out_forward != VV_NONE)
        return VARVE_OK;
    VV_TRY(vv_groups_add(&linking->threads, process, thread_number(model, slice), &thread, error));
    track = linking->track_of[thread];
    *out_forward = track != VV_NONE ? vv_id_map_find(linking->on_track, track, sequence) : VV_NONE;
    return VARVE_OK;
}

/* Does a backward operator have no arrow? */
static bool has_undrawn(struct linking *linking)
{
    for (size_t i = 0; i < linking->numbered_count; i++) {
        uint32_t row = linking->numbered[i].row;
        if (linking->numbered[i].is_backward && !linking->is_drawn[row] && !is_engine(linking, row))
            return true;
    }
    return false;
}

/* Goes through the operators in order of time, so a number that is used again names the last
 * operator before. At one instant, forward operators come first. */
static enum varve_code follow_numbers(struct linking *linking, struct varve_error *error)
{
    const struct vv_model *model = linking->model;
    size_t count = 0;
    struct vv_keyed_row *keys;
    VV_TRY(VV_SCRATCH_ARRAY(linking->scratch, &keys, linking->numbered_count, error));
    for (int backwards = 0; backwards < 2; backwards++)
        for (size_t i = 0; i < linking->numbered_count; i++) {
            uint32_t row = linking->numbered[i].row;
            if (linking->numbered[i].is_backward == (backwards != 0))
                keys[count++] = (struct vv_keyed_row){
                    (uint64_t)model->slices.begin_ns[row] ^ UINT64_C(1) << 63, (uint32_t)i
                };
        }
    VV_TRY(vv_radix_sort(keys, count, error));
    for (size_t i = 0; i < count; i++) {
        const struct numbered *one = &linking->numbered[keys[i].row];
        uint32_t row = one->row;
        if (!one->is_backward)
            *vv_id_map_put(linking->on_track, model->slices.track[row], (uint64_t)one->sequence) =
                row;
        else if (!linking->is_drawn[row] && !is_engine(linking, row))
            VV_TRY(find_forward(linking, row, &linking->forward_of[row], error));
    }
    return VARVE_OK;
}

/* ---- all links ---- */

static enum varve_code link_slices(struct linking *linking, struct varve_error *error)
{
    const struct vv_model *model = linking->model;
    for (uint32_t row = 0; row < model->slices.table.count; row++) {
        uint32_t forward = linking->forward_of[row];
        if (forward == VV_NONE)
            continue;
        VV_TRY(VV_SCRATCH_RESERVE(linking->scratch, &linking->links, &linking->link_capacity,
                                  linking->link_count + 1, error));
        linking->links[linking->link_count++] =
            (struct vv_autograd_link){ .forward = forward, .backward = row,
                                       .is_drawn = linking->is_drawn[row] };
    }
    return VARVE_OK;
}

/* Sorts the links by the ends of the backward operators, and numbers those of each forward operator
 * from 1. */
static enum varve_code number_links(struct linking *linking, struct vv_autograd_links *out_links,
                                    struct varve_error *error)
{
    const struct vv_slices *slices = &linking->model->slices;
    const struct vv_autograd_link *links = linking->links;
    size_t count = linking->link_count;
    struct vv_keyed_row *keys;
    struct vv_autograd_link *items;
    VV_TRY(VV_SCRATCH_ARRAY(linking->scratch, &keys, count, error));
    VV_TRY(VV_SCRATCH_ARRAY(linking->out, &items, count, error));
    uint32_t *ordinals = linking->forward_of; /* which is no longer needed */
    for (size_t i = 0; i < count; i++) {
        uint32_t backward = links[i].backward;
        uint64_t end_ns =
            (uint64_t)slices->begin_ns[backward] + (uint64_t)slices->duration_ns[backward];
        keys[i] = (struct vv_keyed_row){ end_ns ^ UINT64_C(1) << 63, (uint32_t)i };
    }
    VV_TRY(vv_radix_sort(keys, count, error));
    memset(ordinals, 0, slices->table.count * sizeof *ordinals);
    for (size_t i = 0; i < count; i++) {
        items[i] = links[keys[i].row];
        items[i].ordinal = ++ordinals[items[i].forward];
    }
    *out_links = (struct vv_autograd_links){ items, count };
    return VARVE_OK;
}

static enum varve_code link_by_numbers(struct linking *linking, struct varve_error *error)
{
    VV_TRY(map_tids(linking, error));
    VV_TRY(map_forwards(linking, error));
    VV_TRY(elect_tracks(linking, error));
    return follow_numbers(linking, error);
}

static enum varve_code list_numbered(struct linking *linking, struct varve_error *error)
{
    const struct vv_model *model = linking->model;
    size_t capacity = 0;
    for (uint32_t row = 0; row < model->slices.table.count; row++) {
        int64_t sequence = sequence_of(model, row);
        if (sequence < 0)
            continue;
        VV_TRY(VV_SCRATCH_RESERVE(linking->scratch, &linking->numbered, &capacity,
                                  linking->numbered_count + 1, error));
        linking->numbered[linking->numbered_count++] =
            (struct numbered){ sequence, row, is_backward(model, row) };
    }
    return VARVE_OK;
}

static enum varve_code link_all(struct linking *linking, struct vv_autograd_links *out_links,
                                struct varve_error *error)
{
    const struct vv_model *model = linking->model;
    size_t rows = model->slices.table.count;
    VV_TRY(list_numbered(linking, error));
    if (linking->numbered_count == 0 && model->flows.table.count == 0)
        return VARVE_OK;
    VV_TRY(VV_SCRATCH_ARRAY(linking->scratch, &linking->forward_of, rows, error));
    VV_TRY(VV_SCRATCH_ZEROS(linking->scratch, &linking->is_drawn, rows, error));
    VV_TRY(VV_SCRATCH_ZEROS(linking->scratch, &linking->is_engine, model->strings.count, error));
    memset(linking->forward_of, 0xff, rows * sizeof *linking->forward_of);
    follow_arrows(linking);
    if (has_undrawn(linking))
        VV_TRY(link_by_numbers(linking, error));
    VV_TRY(link_slices(linking, error));
    return number_links(linking, out_links, error);
}

static enum varve_code find_links(const struct vv_model *model, struct vv_scratch *scratch,
                                  void *out_found, struct varve_error *error)
{
    if (model->ops.table.count == 0 && model->flows.table.count == 0)
        return VARVE_OK;
    struct vv_scratch own = { 0 };
    struct linking linking = { .model = model, .scratch = &own, .out = scratch,
                               .threads = { .scratch = &own } };
    enum varve_code code = link_all(&linking, out_found, error);
    vv_scratch_deinit(&own);
    return code;
}

enum varve_code vv_autograd_links(const struct vv_model *model, struct vv_autograd_links *out_links,
                                  struct varve_error *error)
{
    return vv_model_once(model, VV_ONCE_AUTOGRAD_LINKS, find_links, out_links, sizeof *out_links,
                         error);
}
