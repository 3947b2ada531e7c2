/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/devices/host_doing.h"

#include "base/binary_search.h"
#include "derive/select/scope.h"
#include "model/outward.h"

static bool is_telling(enum vv_host_role role)
{
    return role == VV_HOST_SYNC || role == VV_HOST_ALLOCATION ||
           (role >= VV_HOST_GC && role <= VV_HOST_COMM);
}

/* A slice has a greater row than the slices around it. */
static void inherit(struct vv_host_doing *doing)
{
    const struct vv_slices *slices = &doing->roles.model->slices;
    for (uint32_t row = 0; row < slices->table.count; row++) {
        uint32_t parent = slices->parent[row];
        enum vv_host_role around =
            parent != VV_NONE ? (enum vv_host_role)doing->inherited[parent] : VV_HOST_NONE;
        enum vv_host_role role = vv_host_role_of(&doing->roles, row);
        bool is_hidden = !is_telling(role) && (is_telling(around) || role == VV_HOST_NONE);
        doing->inherited[row] = (uint8_t)(is_hidden ? around : role);
        doing->holder[row] = !is_hidden         ? row
                             : parent != VV_NONE ? doing->holder[parent]
                                                 : VV_NONE;
    }
}

enum varve_code vv_host_doing_init(struct vv_host_doing *out_doing, const struct vv_model *model,
                                   struct vv_scratch *scratch, struct varve_error *error)
{
    *out_doing = (struct vv_host_doing){ 0 };
    VV_TRY(vv_host_roles_init(&out_doing->roles, model, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &out_doing->inherited, model->slices.table.count, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &out_doing->holder, model->slices.table.count, error));
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &out_doing->recent, model->strings.count + 1, error));
    inherit(out_doing);
    return VARVE_OK;
}

struct adding {
    const struct vv_host_doing *doing;
    struct vv_host_stays *stays;
    int64_t *by_role_ns, now_ns;
    uint32_t first_key, slice; /* slice: the innermost that is open; VV_NONE                      */
};

static enum varve_code find_stay(const struct adding *adding, uint32_t name, uint32_t key,
                                 uint32_t *out_stay, struct varve_error *error)
{
    struct vv_host_stays *stays = adding->stays;
    size_t former = stays->capacity;
    VV_TRY(vv_groups_add(&stays->groups, name, key, out_stay, error));
    VV_TRY(VV_SCRATCH_RESERVE(stays->groups.scratch, &stays->stays, &stays->capacity,
                              (size_t)*out_stay + 1, error));
    for (; former < stays->capacity; former++)
        stays->stays[former] = (struct vv_host_stay){ 0 };
    adding->doing->recent[name].key = key;
    adding->doing->recent[name].stay = *out_stay + 1;
    return VARVE_OK;
}

static enum varve_code add_stay(const struct adding *adding, int64_t time_ns,
                                struct varve_error *error)
{
    const struct vv_host_doing *doing = adding->doing;
    uint32_t holder = doing->holder[adding->slice], row;
    if (holder == VV_NONE)
        return VARVE_OK;
    uint32_t name = doing->roles.model->slices.name[holder];
    uint32_t key = adding->first_key + doing->inherited[adding->slice];
    if (doing->recent[name].stay != 0 && doing->recent[name].key == key)
        row = doing->recent[name].stay - 1;
    else
        VV_TRY(find_stay(adding, name, key, &row, error));
    struct vv_host_stay *stay = &adding->stays->stays[row];
    stay->time_ns += time_ns;
    if (time_ns > stay->longest_ns) {
        stay->longest_ns = time_ns;
        stay->slice = holder;
    }
    return VARVE_OK;
}

/* Adds the time up to until_ns, from the open slice outwards. */
static enum varve_code advance(struct adding *adding, int64_t until_ns, struct varve_error *error)
{
    const struct vv_model *model = adding->doing->roles.model;
    const struct vv_slices *slices = &model->slices;
    while (adding->now_ns < until_ns && adding->slice != VV_NONE) {
        int64_t end_ns = slices->begin_ns[adding->slice] + slices->duration_ns[adding->slice];
        int64_t stop_ns = end_ns < until_ns ? end_ns : until_ns;
        if (stop_ns > adding->now_ns) {
            int64_t time_ns = stop_ns - adding->now_ns;
            adding->by_role_ns[adding->doing->inherited[adding->slice]] += time_ns;
            VV_TRY(add_stay(adding, time_ns, error));
            adding->now_ns = stop_ns;
        }
        if (end_ns <= adding->now_ns)
            adding->slice = vv_outward_open(model, adding->slice, adding->now_ns);
    }
    adding->by_role_ns[VV_HOST_NONE] += until_ns - adding->now_ns;
    adding->now_ns = until_ns;
    return VARVE_OK;
}

enum varve_code vv_host_doing_add(const struct vv_host_doing *doing,
                                  const struct vv_host_window *in, struct vv_host_stays *stays,
                                  int64_t *by_role_ns, struct varve_error *error)
{
    const struct vv_model *model = doing->roles.model;
    const int64_t *begin_ns = model->slices.begin_ns;
    struct adding adding = { .doing = doing, .stays = stays, .by_role_ns = by_role_ns,
                             .now_ns = in->time.begin_ns, .first_key = in->first_key };
    uint32_t first, last, next;
    if (in->time.end_ns <= in->time.begin_ns)
        return VARVE_OK;
    vv_track_rows(model, in->track, &first, &last);
    next = VV_FIRST_NOT(i, first, last, begin_ns[i] <= in->time.begin_ns);
    adding.slice = vv_outward_open(model, next > first ? next - 1 : VV_NONE, in->time.begin_ns);
    for (; next < last && begin_ns[next] < in->time.end_ns; next++) {
        VV_TRY(advance(&adding, begin_ns[next], error));
        adding.slice = next;
    }
    return advance(&adding, in->time.end_ns, error);
}
