/* SPDX-License-Identifier: Apache-2.0 */
#include "model/steps/anchors.h"

#include <stdlib.h>
#include <string.h>

#define OPTIMIZERS_MAX 8u

/* ---- steps ---- */

/* Steps do not include pauses: returns the last instant up to `to_ns` at which recording resumed,
 * or `from_ns` if that is later. *next is the first row to test; on one track, instants must grow
 * from call to call. */
static int64_t skip_pauses(const struct vv_model *model, uint32_t process, uint64_t *next,
                           int64_t from_ns, int64_t to_ns)
{
    const struct vv_resumes *resumes = &model->resumes;
    for (; *next < resumes->table.count; (*next)++) {
        if (resumes->process[*next] != process)
            continue;
        if (resumes->time_ns[*next] > to_ns)
            break;
        from_ns = resumes->time_ns[*next] > from_ns ? resumes->time_ns[*next] : from_ns;
    }
    return from_ns;
}

static bool has_loader(const struct vv_model *model, const uint8_t *words)
{
    return memchr(words, VV_LOOP_LOADER, model->strings.count) != NULL;
}

static enum varve_code add_steps(struct vv_model *model, const struct vv_anchors *anchors,
                                 const int64_t *begins_ns, struct varve_error *error)
{
    for (size_t i = 0; i < anchors->count; i++) {
        const struct vv_anchor *anchor = &anchors->items[i];
        uint32_t row;
        VV_TRY(vv_model_add_step(model, &row, error));
        VV_TRY(vv_model_text(model, anchors->name, &model->steps.name[row], error));
        model->steps.index[row] = anchor->number >= 0 ? anchor->number : (int64_t)i;
        model->steps.begin_ns[row] = begins_ns[i];
        model->steps.duration_ns[row] = anchor->end_ns - begins_ns[i];
        model->steps.track[row] = anchors->track;
        model->steps.origin[row] = VV_STEP_ANCHOR;
    }
    return VARVE_OK;
}

enum varve_code vv_add_anchored_steps(struct vv_model *model, const struct vv_anchors *anchors,
                                      struct varve_error *error)
{
    uint32_t process = model->tracks.process[anchors->track];
    int64_t from_ns = anchors->from_ns;
    uint64_t next_resume = 0;
    int64_t *begins_ns = malloc((anchors->count + 1) * sizeof *begins_ns);
    enum varve_code code = VARVE_OK;
    if (begins_ns == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %zu steps", anchors->count);
    for (size_t i = 0; i < anchors->count; i++) {
        const struct vv_anchor *anchor = &anchors->items[i];
        begins_ns[i] = skip_pauses(model, process, &next_resume, from_ns, anchor->begin_ns);
        from_ns = anchor->end_ns;
    }
    if (anchors->words != NULL && has_loader(model, anchors->words))
        code = vv_leave_out_evaluations(model, anchors->words, anchors, begins_ns, error);
    if (code == VARVE_OK && anchors->words != NULL)
        code = vv_leave_out_graphless(model, anchors, begins_ns, error);
    if (code == VARVE_OK)
        code = add_steps(model, anchors, begins_ns, error);
    free(begins_ns);
    return code;
}

/* ---- several optimizers ---- */

static int64_t end_of(const struct vv_model *model, uint32_t slice)
{
    return model->slices.begin_ns[slice] + model->slices.duration_ns[slice];
}

/* The parameters of an optimizer: the shapes of what its update takes, as a set of bits. */
struct parameters {
    uint64_t shapes;
    uint32_t name;
};

static uint64_t shape_bits(const struct vv_model *model, uint32_t op)
{
    uint64_t bits = 0;
    for (uint32_t t = 0; t < model->ops.tensor_count[op]; t++) {
        uint32_t tensor = model->ops.first_tensor[op] + t, rank = model->tensors.rank[tensor];
        uint64_t hash = rank;
        for (uint32_t d = 0; d < rank; d++)
            hash = (hash ^ (uint64_t)model->dims.size[model->tensors.first_dim[tensor] + d]) *
                   UINT64_C(0x9e3779b97f4a7c15);
        bits |= rank > 0 ? UINT64_C(1) << (hash >> 58) : 0;
    }
    return bits;
}

/* Operators with a sequence number are those of a closure: the update is what follows the last of
 * them. */
static struct parameters parameters_of(const struct vv_model *model, uint32_t slice)
{
    const struct vv_slices *slices = &model->slices;
    struct parameters found = { .name = slices->name[slice] };
    for (uint32_t row = slice + 1; row < slices->table.count &&
                                   slices->track[row] == slices->track[slice] &&
                                   slices->begin_ns[row] < end_of(model, slice);
         row++) {
        uint32_t op = slices->op[row];
        if (op != VV_NONE)
            found.shapes =
                model->ops.sequence[op] >= 0 ? 0 : found.shapes | shape_bits(model, op);
    }
    return found;
}

static bool is_same(const struct parameters *a, const struct parameters *b)
{
    return a->name == b->name && a->shapes == b->shapes;
}

static bool all_differ(const struct parameters *parameters, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (is_same(&parameters[i], &parameters[j]))
                return false;
    return true;
}

/* How many of the optimizers, from the first on, repeat `period` of them, which all differ. 0: they
 * do so less than three times, unless it is twice and they are all. The first of each may differ
 * from the later ones, as it makes its state. */
static size_t repeated(const struct parameters *parameters, size_t count, size_t period)
{
    size_t first = count >= 3 * period ? period : 0, end = first + period;
    if (count < 2 * period || !all_differ(&parameters[first], period))
        return 0;
    for (size_t i = 0; i < first; i++)
        if (parameters[i].name != parameters[i + period].name)
            return 0;
    while (end < count && is_same(&parameters[end - period], &parameters[end]))
        end++;
    return end >= 3 * period || (end == count && end >= 2 * period) ? end : 0;
}

enum varve_code vv_keep_last_optimizers(const struct vv_model *model, uint32_t *slices,
                                        size_t *count, struct varve_error *error)
{
    size_t kept = 0, all = *count;
    struct parameters *parameters = malloc((all + 1) * sizeof *parameters);
    if (parameters == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %zu optimizers", all);
    for (size_t i = 0; i < all; i++)
        parameters[i] = parameters_of(model, slices[i]);
    for (size_t i = 0, length = 1; i < all; i += length) {
        size_t period = 2;
        while (period <= OPTIMIZERS_MAX && repeated(&parameters[i], all - i, period) == 0)
            period++;
        period = period <= OPTIMIZERS_MAX ? period : 1;
        length = period > 1 ? repeated(&parameters[i], all - i, period) : 1;
        for (size_t last = period; last <= length; last += period)
            slices[kept++] = slices[i + last - 1];
    }
    *count = kept;
    free(parameters);
    return VARVE_OK;
}
