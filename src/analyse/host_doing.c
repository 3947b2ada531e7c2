/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/host_doing.h"

#include <stdlib.h>

#include "analyse/scope.h"
#include "base/array.h"
#include "base/search.h"

enum varve_code vv_host_doing_init(struct vv_host_doing *out_doing, const struct vv_model *model,
                                   struct varve_error *error)
{
    *out_doing = (struct vv_host_doing){ 0 };
    return vv_host_roles_init(&out_doing->roles, model, error);
}

void vv_host_doing_deinit(struct vv_host_doing *doing)
{
    vv_host_roles_deinit(&doing->roles);
    free(doing->stack);
    free(doing->path);
    *doing = (struct vv_host_doing){ 0 };
}

static bool is_telling(enum vv_host_role role)
{
    return role == VV_HOST_SYNC || role == VV_HOST_ALLOCATION || (role >= VV_HOST_GC && role <= VV_HOST_COMM);
}

static enum varve_code open_slice(struct vv_host_doing *doing, uint32_t slice, struct varve_error *error)
{
    const struct vv_slices *slices = &doing->roles.model->slices;
    enum vv_host_role around = doing->depth > 0 ? doing->stack[doing->depth - 1].role : VV_HOST_NONE;
    enum vv_host_role role = vv_host_role_of(&doing->roles, slice);
    if (!is_telling(role) && (is_telling(around) || role == VV_HOST_NONE))
        role = around;
    VV_TRY(vv_array_reserve(&doing->stack, &doing->capacity, doing->depth + 1, sizeof *doing->stack, error));
    doing->stack[doing->depth++] =
        (struct vv_open_slice){ slices->begin_ns[slice] + slices->duration_ns[slice], (uint8_t)role };
    return VARVE_OK;
}

/* Those around the slice, and itself, that are open at an instant; the outermost first. */
static enum varve_code open_around(struct vv_host_doing *doing, uint32_t slice, int64_t at_ns,
                                   struct varve_error *error)
{
    const struct vv_slices *slices = &doing->roles.model->slices;
    size_t height = slice != VV_NONE ? slices->depth[slice] + 1 : 0;
    VV_TRY(vv_array_reserve(&doing->path, &doing->path_capacity, height, sizeof *doing->path, error));
    for (size_t i = height; i > 0; i--, slice = slices->parent[slice])
        doing->path[i - 1] = slice;
    doing->depth = 0;
    for (size_t i = 0; i < height; i++)
        if (slices->begin_ns[doing->path[i]] + slices->duration_ns[doing->path[i]] > at_ns)
            VV_TRY(open_slice(doing, doing->path[i], error));
    return VARVE_OK;
}

/* Hands out the time from now_ns to until_ns. Returns until_ns. */
static int64_t advance(struct vv_host_doing *doing, int64_t now_ns, int64_t until_ns, int64_t *by_role_ns)
{
    while (now_ns < until_ns && doing->depth > 0) {
        struct vv_open_slice top = doing->stack[doing->depth - 1];
        int64_t stop_ns = top.end_ns < until_ns ? top.end_ns : until_ns;
        if (stop_ns > now_ns) {
            by_role_ns[top.role] += stop_ns - now_ns;
            now_ns = stop_ns;
        }
        doing->depth -= top.end_ns <= now_ns;
    }
    by_role_ns[VV_HOST_NONE] += until_ns - now_ns;
    return until_ns;
}

/* The first row of the track that begins after an instant. */
static uint32_t first_after(const struct vv_slices *slices, uint32_t first, uint32_t last, int64_t at_ns)
{
    return VV_FIRST_NOT(i, first, last, slices->begin_ns[i] <= at_ns);
}

enum varve_code vv_host_doing_add(struct vv_host_doing *doing, uint32_t track, struct vv_interval window,
                                  int64_t *by_role_ns, struct varve_error *error)
{
    const struct vv_model *model = doing->roles.model;
    int64_t now_ns = window.begin_ns;
    uint32_t first, last;
    if (window.end_ns <= window.begin_ns)
        return VARVE_OK;
    vv_track_rows(model, track, &first, &last);
    uint32_t next = first_after(&model->slices, first, last, window.begin_ns);
    VV_TRY(open_around(doing, next > first ? next - 1 : VV_NONE, window.begin_ns, error));
    for (; next < last && model->slices.begin_ns[next] < window.end_ns; next++) {
        now_ns = advance(doing, now_ns, model->slices.begin_ns[next], by_role_ns);
        VV_TRY(open_slice(doing, next, error));
    }
    advance(doing, now_ns, window.end_ns, by_role_ns);
    return VARVE_OK;
}
