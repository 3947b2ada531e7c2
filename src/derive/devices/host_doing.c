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
    }
}

enum varve_code vv_host_doing_init(struct vv_host_doing *out_doing, const struct vv_model *model,
                                   struct vv_scratch *scratch, struct varve_error *error)
{
    *out_doing = (struct vv_host_doing){ 0 };
    VV_TRY(vv_host_roles_init(&out_doing->roles, model, scratch, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &out_doing->inherited, model->slices.table.count, error));
    inherit(out_doing);
    return VARVE_OK;
}

/* Adds the time from now_ns to until_ns to the roles, from *slice outwards. *slice becomes the
 * slice that is open afterwards. Returns until_ns. */
static int64_t advance(const struct vv_host_doing *doing, uint32_t *slice, int64_t now_ns,
                       int64_t until_ns, int64_t *by_role_ns)
{
    const struct vv_slices *slices = &doing->roles.model->slices;
    while (now_ns < until_ns && *slice != VV_NONE) {
        int64_t end_ns = slices->begin_ns[*slice] + slices->duration_ns[*slice];
        int64_t stop_ns = end_ns < until_ns ? end_ns : until_ns;
        if (stop_ns > now_ns) {
            by_role_ns[doing->inherited[*slice]] += stop_ns - now_ns;
            now_ns = stop_ns;
        }
        if (end_ns <= now_ns)
            *slice = vv_outward_open(doing->roles.model, *slice, now_ns);
    }
    by_role_ns[VV_HOST_NONE] += until_ns - now_ns;
    return until_ns;
}

void vv_host_doing_add(const struct vv_host_doing *doing, uint32_t track, struct vv_interval window,
                       int64_t *by_role_ns)
{
    const struct vv_model *model = doing->roles.model;
    const int64_t *begin_ns = model->slices.begin_ns;
    int64_t now_ns = window.begin_ns;
    uint32_t first, last, next, slice;
    if (window.end_ns <= window.begin_ns)
        return;
    vv_track_rows(model, track, &first, &last);
    next = VV_FIRST_NOT(i, first, last, begin_ns[i] <= window.begin_ns);
    slice = vv_outward_open(model, next > first ? next - 1 : VV_NONE, window.begin_ns);
    for (; next < last && begin_ns[next] < window.end_ns; next++) {
        now_ns = advance(doing, &slice, now_ns, begin_ns[next], by_role_ns);
        slice = next;
    }
    advance(doing, &slice, now_ns, window.end_ns, by_role_ns);
}
