/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx.c — reads NVTX_EVENTS of an Nsight Systems export: ranges and marks, and among them the
 * names of domains, categories and threads. */
#include "import/nsys/nsys.h"

#ifdef VV_HAVE_SQLITE

#include <stdio.h>
#include <string.h>

#include "import/rows/torch_range.h"
#include "varve/varve.h"

/* Values of eventType. */
enum { CATEGORY = 33, MARK = 34, THREAD = 39, PUSH_POP = 59, START_END = 60, DOMAIN = 75,
       DOMAIN_END = 76 };

struct words { uint32_t nvtx, domain, category; };

static int64_t value_or(const struct vv_nsys_row *row, enum vv_nsys_role role, int64_t otherwise)
{
    return row->values[role] == VV_SPAN_ABSENT ? otherwise : row->values[role];
}

static uint32_t text_of(const struct vv_nsys_row *row)
{
    return (uint32_t)value_or(row, VV_NSYS_TEXT, value_or(row, VV_NSYS_NAME, 0));
}

static struct vv_row_key domain_key(const struct vv_nsys_row *row)
{
    return (struct vv_row_key){ { value_or(row, VV_NSYS_DOMAIN, 0),
                                  value_or(row, VV_NSYS_TID, 0) >> 24, 0, VV_NSYS_KEY_DOMAIN } };
}

static struct vv_row_key category_key(const struct vv_nsys_row *row)
{
    return (struct vv_row_key){ { value_or(row, VV_NSYS_CATEGORY, 0),
                                  value_or(row, VV_NSYS_DOMAIN, 0),
                                  value_or(row, VV_NSYS_TID, 0) >> 24, VV_NSYS_KEY_CATEGORY } };
}

static enum varve_code keep_name(struct vv_nsys *nsys, struct vv_row_key key, uint32_t name,
                                 struct varve_error *error)
{
    uint32_t *place;
    bool is_new;
    VV_TRY(vv_row_map_at(&nsys->rows, &key, &place, &is_new, error));
    *place = name;
    return VARVE_OK;
}

/* The MPI tool of Nsight Systems names its threads "MPI Rank 3". */
static void take_rank(struct vv_model *model, uint32_t track, uint32_t name)
{
    long long rank;
    char more;
    if (sscanf(vv_intern_text(&model->strings, name), "MPI Rank %lld%c", &rank, &more) == 1 &&
        rank >= 0)
        model->processes.rank[model->tracks.process[track]] = rank;
}

static enum varve_code take_name(struct vv_nsys *nsys, const struct vv_nsys_row *row,
                                 const void *context, struct varve_error *error)
{
    uint32_t track;
    (void)context;
    switch (value_or(row, VV_NSYS_EVENT_TYPE, 0)) {
    case DOMAIN:
        return keep_name(nsys, domain_key(row), text_of(row), error);
    case CATEGORY:
        return keep_name(nsys, category_key(row), text_of(row), error);
    case THREAD:
        VV_TRY(vv_nsys_thread(nsys, value_or(row, VV_NSYS_TID, 0), &track, error));
        nsys->model->tracks.name[track] = text_of(row);
        take_rank(nsys->model, track, text_of(row));
        return VARVE_OK;
    default:
        return VARVE_OK;
    }
}

/* Adds the name of a domain or category, or its number if it has no name. */
static enum varve_code add_words(struct vv_nsys *nsys, const struct vv_nsys_row *row,
                                 uint32_t slice, const struct words *words,
                                 struct varve_error *error)
{
    const struct vv_row_key domain = domain_key(row), category = category_key(row);
    uint32_t name;
    if (vv_row_map_find(&nsys->rows, &domain, &name))
        VV_TRY(vv_attribute_to_slice(nsys->model, slice, words->domain, vv_attribute_text(name),
                                     error));
    else if (value_or(row, VV_NSYS_DOMAIN, 0) != 0)
        VV_TRY(vv_attribute_to_slice(nsys->model, slice, words->domain,
                                     vv_attribute_int(row->values[VV_NSYS_DOMAIN]), error));
    if (value_or(row, VV_NSYS_CATEGORY, 0) == 0)
        return VARVE_OK;
    struct vv_attribute said = vv_row_map_find(&nsys->rows, &category, &name)
                                   ? vv_attribute_text(name)
                                   : vv_attribute_int(row->values[VV_NSYS_CATEGORY]);
    return vv_attribute_to_slice(nsys->model, slice, words->category, said, error);
}

static bool is_communication(const struct vv_nsys *nsys, const struct vv_nsys_row *row)
{
    static const char *const domains[] = { "MPI", "NCCL", "UCX", "NVSHMEM" };
    const struct vv_row_key key = domain_key(row);
    uint32_t name;
    if (!vv_row_map_find(&nsys->rows, &key, &name))
        return false;
    for (size_t i = 0; i < sizeof domains / sizeof *domains; i++)
        if (strcmp(vv_intern_text(&nsys->model->strings, name), domains[i]) == 0)
            return true;
    return false;
}

static enum varve_code add_range(struct vv_nsys *nsys, const struct vv_nsys_row *row,
                                 const struct words *words, struct varve_error *error)
{
    bool is_lane = value_or(row, VV_NSYS_EVENT_TYPE, 0) == START_END;
    struct vv_torch_range range;
    VV_TRY(vv_torch_range(nsys->model, text_of(row), &range, error));
    struct vv_span event = {
        .start_ns = row->values[VV_NSYS_START],
        .end_ns = row->values[VV_NSYS_END],
        .name = range.name,
        .category = words->nvtx,
        .layer = is_communication(nsys, row) ? VARVE_LAYER_COMM
                 : range.is_operator         ? VARVE_LAYER_OP
                                             : VARVE_LAYER_API,
    };
    uint32_t slice;
    int64_t global_tid = value_or(row, VV_NSYS_TID, 0);
    VV_TRY(is_lane ? vv_nsys_lane(nsys, global_tid, &event.track, error)
                   : vv_nsys_thread(nsys, global_tid, &event.track, error));
    VV_TRY(vv_spans_add(&nsys->spans, &event, &slice, error));
    VV_TRY(vv_torch_range_columns(nsys->model, slice, &range, error));
    VV_TRY(add_words(nsys, row, slice, words, error));
    return vv_nsys_arguments(nsys, row, slice, error);
}

static enum varve_code add_mark(struct vv_nsys *nsys, const struct vv_nsys_row *row,
                                const struct words *words, struct varve_error *error)
{
    struct vv_span at = { .start_ns = row->values[VV_NSYS_START], .name = text_of(row),
                          .category = words->nvtx, .layer = VARVE_LAYER_API };
    VV_TRY(vv_nsys_thread(nsys, value_or(row, VV_NSYS_TID, 0), &at.track, error));
    return vv_spans_add_mark(&nsys->spans, &at, error);
}

static enum varve_code take_event(struct vv_nsys *nsys, const struct vv_nsys_row *row,
                                  const void *context, struct varve_error *error)
{
    const struct words *words = context;
    switch (value_or(row, VV_NSYS_EVENT_TYPE, 0)) {
    case PUSH_POP:
    case START_END:
        return add_range(nsys, row, words, error);
    case MARK:
        return add_mark(nsys, row, words, error);
    case DOMAIN:
    case DOMAIN_END:
    case CATEGORY:
    case THREAD:
        return VARVE_OK;
    default:
        nsys->model->health.ignored++;
        return VARVE_OK;
    }
}

enum varve_code vv_nsys_read_nvtx(struct vv_nsys *nsys, struct varve_error *error)
{
    struct words words;
    VV_TRY(vv_model_text(nsys->model, "nvtx", &words.nvtx, error));
    VV_TRY(vv_model_text(nsys->model, "domain", &words.domain, error));
    VV_TRY(vv_model_text(nsys->model, "category", &words.category, error));
    VV_TRY(vv_nsys_each(nsys, "NVTX_EVENTS", take_name, NULL, error));
    return vv_nsys_each(nsys, "NVTX_EVENTS", take_event, &words, error);
}

#endif
