/* SPDX-License-Identifier: Apache-2.0 */
/* anchors.c — the level by arguments. Equal layers have equal names, types and call stacks, but
 * each has weights of its own; and what comes behind a layer depends on more of them. Where another
 * level found several operations, the arguments choose. */
#include <string.h>

#include "mlir/match/matching.h"

/* The operations of the record's module, by their weights. */
static struct vv_mlir_ops owned_by(const struct vv_mlir_matching *matching,
                                   const struct vv_mlir_record *record)
{
    if (record->path == 0)
        return (struct vv_mlir_ops){ NULL, 0 };
    return vv_mlir_list_of(&matching->owned,
                           vv_intern_find(matching->texts,
                                          vv_mlir_record_text(matching, record->path),
                                          matching->profile->strings.lengths[record->path]));
}

enum varve_code vv_mlir_find_anchored(struct vv_mlir_matching *matching, uint32_t record,
                                      struct vv_mlir_ops *out_ops, struct varve_error *error)
{
    const struct vv_mlir_record *row = &matching->profile->records[record];
    uint32_t family = matching->type_of_record[record].family;
    (void)error;
    if (family == 0)
        return VARVE_OK;
    if (row->arguments_count == 1 && matching->has_one_entry)
        *out_ops = vv_mlir_ops_made_of(matching, family,
                                       &matching->profile->arguments[row->first_arguments]);
    if (out_ops->count == 0)
        *out_ops = owned_by(matching, row);
    return VARVE_OK;
}

/* ---- among several ---- */

/* How close the closest of the set is to one of the record's instructions; each one's closeness. */
static enum vv_mlir_closeness closest(const struct vv_mlir_matching *matching, uint32_t arguments,
                              struct vv_mlir_ops set, uint8_t *out_closeness)
{
    const struct vv_mlir_arguments *wanted = &matching->profile->arguments[arguments];
    enum vv_mlir_closeness best = VV_MLIR_OTHER_ARGUMENTS;
    for (size_t i = 0; i < set.count; i++) {
        enum vv_mlir_closeness one = vv_mlir_compare_made_of(matching, set.items[i], wanted);
        out_closeness[i] = (uint8_t)one;
        best = one > best ? one : best;
    }
    return best;
}

/* Those of the set that are as close as any of them. If one instruction of a fusion is equal to
 * operations, so must the others be, each to those that are closest to it. */
static enum varve_code choose_close(struct vv_mlir_matching *matching,
                                    const struct vv_mlir_record *record,
                                    const struct vv_mlir_set *of, struct vv_mlir_ops *out,
                                    struct varve_error *error)
{
    struct vv_mlir_ops set = { matching->set_ops + of->first, of->count };
    enum vv_mlir_closeness least = VV_MLIR_NEAR;
    uint8_t *closeness;
    bool *is_chosen;
    size_t count = 0;
    VV_TRY(VV_SCRATCH_RESERVE(matching->scratch, &matching->buffer, &matching->buffer_capacity,
                              set.count, error));
    VV_TRY(VV_SCRATCH_ARRAY(matching->scratch, &closeness, set.count, error));
    VV_TRY(VV_SCRATCH_ZEROS(matching->scratch, &is_chosen, set.count, error));
    for (uint32_t i = 0; i < record->arguments_count; i++)
        if (closest(matching, record->first_arguments + i, set, closeness) >= VV_MLIR_EQUAL)
            least = VV_MLIR_EQUAL;
    for (uint32_t i = 0; i < record->arguments_count; i++) {
        enum vv_mlir_closeness best =
            closest(matching, record->first_arguments + i, set, closeness);
        for (size_t k = 0; k < set.count && best >= least; k++)
            is_chosen[k] |= closeness[k] == best;
    }
    for (size_t i = 0; i < set.count; i++)
        if (is_chosen[i])
            matching->buffer[count++] = set.items[i];
    vv_scratch_release(matching->scratch, is_chosen);
    vv_scratch_release(matching->scratch, closeness);
    *out = (struct vv_mlir_ops){ matching->buffer, count };
    return VARVE_OK;
}

/* Those of the set that are among the owned ones; both are in order. */
static enum varve_code choose_owned(struct vv_mlir_matching *matching, struct vv_mlir_ops owned,
                                    const struct vv_mlir_set *set, struct vv_mlir_ops *out,
                                    struct varve_error *error)
{
    const uint32_t *ops = matching->set_ops + set->first;
    size_t count = 0, at = 0;
    VV_TRY(VV_SCRATCH_RESERVE(matching->scratch, &matching->buffer, &matching->buffer_capacity,
                              set->count, error));
    for (uint32_t i = 0; i < set->count; i++) {
        while (at < owned.count && owned.items[at] < ops[i])
            at++;
        if (at < owned.count && owned.items[at] == ops[i])
            matching->buffer[count++] = ops[i];
    }
    *out = (struct vv_mlir_ops){ matching->buffer, count };
    return VARVE_OK;
}

/* XLA may give an instruction the form that the program gives its result, and the name of that,
 * too: "dot" is then called "transpose". Of the set, other forms of what the instruction makes:
 * they depend on the same, part by part. */
static enum varve_code choose_forms(struct vv_mlir_matching *matching,
                                    const struct vv_mlir_record *record,
                                    const struct vv_mlir_set *set, struct vv_mlir_ops *out,
                                    struct varve_error *error)
{
    const uint32_t *ops = matching->set_ops + set->first;
    size_t count = 0;
    if (record->arguments_count != 1)
        return VARVE_OK;
    const struct vv_mlir_arguments *wanted = &matching->profile->arguments[record->first_arguments];
    VV_TRY(VV_SCRATCH_RESERVE(matching->scratch, &matching->buffer, &matching->buffer_capacity,
                              set->count, error));
    for (uint32_t i = 0; i < set->count; i++) {
        if (!vv_mlir_is_form(matching, ops[i]))
            return VARVE_OK;
        const struct vv_mlir_anchor *at = vv_mlir_anchor_of(matching, ops[i]);
        while (at != NULL && (memcmp(at->of.far, wanted->far, sizeof wanted->far) != 0 ||
                              memcmp(at->of.parts, wanted->parts, sizeof wanted->parts) != 0))
            at = vv_mlir_next_anchor(matching, at);
        if (at != NULL)
            matching->buffer[count++] = ops[i];
    }
    *out = (struct vv_mlir_ops){ matching->buffer, count };
    return VARVE_OK;
}

/* The instruction makes what the program then gives another form, and does both at once. */
static enum varve_code take_form(struct vv_mlir_matching *matching, uint32_t record,
                                 struct varve_error *error)
{
    enum { FORMS_MAX = 4 };
    const struct vv_mlir_record *row = &matching->profile->records[record];
    struct vv_mlir_finding *finding = &matching->findings[record];
    const struct vv_mlir_set *set = &matching->sets[finding->set];
    uint32_t ops[FORMS_MAX + 1], found, count = 0;
    if (set->count != 1 || set->is_type_equal || finding->is_certain || row->inner_count > 0 ||
        row->arguments_count != 1)
        return VARVE_OK;
    ops[0] = matching->set_ops[set->first];
    while (count < FORMS_MAX && vv_mlir_is_form(matching, ops[count])) {
        VV_TRY(vv_mlir_definers(matching, ops[count], 1, &ops[count + 1], &found, error));
        if (found == 0)
            return VARVE_OK;
        count++;
    }
    if (count == 0 || !vv_mlir_is_of_type(matching, record, ops[count]) ||
        !vv_mlir_is_made_of(matching, ops[count], row->first_arguments))
        return VARVE_OK;
    for (uint32_t i = 1; i <= count; i++)
        VV_TRY(vv_mlir_add_extra(matching, record, ops[i], error));
    return vv_mlir_set_of_one(matching, ops[0], true, &finding->set, error);
}

/* A fusion that has as many instructions of the name and of these arguments as the program has
 * operations measures all of them. The last one leads, which the others go into. */
static enum varve_code take_all(struct vv_mlir_matching *matching, uint32_t record,
                                struct varve_error *error)
{
    struct vv_mlir_finding *finding = &matching->findings[record];
    struct vv_mlir_set set = matching->sets[finding->set];
    if (set.count < 2 || set.count != matching->profile->records[record].arguments_count)
        return VARVE_OK;
    finding->all = finding->set + 1;
    return vv_mlir_set_of_one(matching, matching->set_ops[set.first + set.count - 1], true,
                              &finding->set, error);
}

/* A fusion has name and call chain of its result, and may hold others of that name. Of the set,
 * what stands at the end of this call chain, and is made from what the result is. */
static enum varve_code choose_result(struct vv_mlir_matching *matching, uint32_t record,
                                     const struct vv_mlir_set *set, struct vv_mlir_ops *out,
                                     struct varve_error *error)
{
    uint32_t arguments = matching->profile->records[record].result_arguments;
    struct vv_mlir_ops all = { matching->set_ops + set->first, set->count };
    enum vv_mlir_closeness best = VV_MLIR_OTHER_ARGUMENTS;
    size_t count = 0;
    VV_TRY(VV_SCRATCH_RESERVE(matching->scratch, &matching->buffer, &matching->buffer_capacity,
                              set->count, error));
    VV_TRY(vv_mlir_choose_by_frames(matching, record, all, out, error));
    if (arguments == 0)
        return VARVE_OK;
    const struct vv_mlir_arguments *wanted = &matching->profile->arguments[arguments - 1];
    for (size_t i = 0; i < out->count; i++) {
        enum vv_mlir_closeness one = vv_mlir_compare_made_of(matching, out->items[i], wanted);
        best = one > best ? one : best;
    }
    for (size_t i = 0; i < out->count && best >= VV_MLIR_EQUAL; i++)
        if (vv_mlir_compare_made_of(matching, out->items[i], wanted) == best)
            matching->buffer[count++] = out->items[i];
    out->count = best >= VV_MLIR_EQUAL ? count : out->count;
    return VARVE_OK;
}

/* Where the record still has several: its result alone. */
static enum varve_code narrow(struct vv_mlir_matching *matching, uint32_t record,
                              struct varve_error *error)
{
    struct vv_mlir_finding *finding = &matching->findings[record];
    struct vv_mlir_set set = matching->sets[finding->set];
    struct vv_mlir_ops ops = { NULL, 0 };
    if (finding->all != 0 || set.count < 2 || !set.is_type_equal)
        return VARVE_OK;
    VV_TRY(choose_result(matching, record, &set, &ops, error));
    if (ops.count == 0 || ops.count == set.count)
        return VARVE_OK;
    if (matching->profile->records[record].result_arguments != 0)
        finding->level = VV_MLIR_LEVEL_ARGUMENTS;
    return vv_mlir_set_of(matching, record, ops, &finding->set, error);
}

enum varve_code vv_mlir_pair_by_arguments(struct vv_mlir_matching *matching,
                                          struct varve_error *error)
{
    for (uint32_t record = 0; record < matching->profile->record_count; record++) {
        const struct vv_mlir_record *row = &matching->profile->records[record];
        struct vv_mlir_finding *finding = &matching->findings[record];
        struct vv_mlir_ops ops = { NULL, 0 };
        if (finding->set == VV_MLIR_NONE || matching->anchor_of == NULL)
            continue;
        VV_TRY(take_form(matching, record, error));
        struct vv_mlir_set set = matching->sets[finding->set];
        if (set.count < 2)
            continue;
        if (set.is_type_equal)
            VV_TRY(choose_close(matching, row, &set, &ops, error));
        else
            VV_TRY(choose_forms(matching, row, &set, &ops, error));
        if (ops.count == 0 && set.is_type_equal)
            VV_TRY(choose_owned(matching, owned_by(matching, row), &set, &ops, error));
        if (ops.count > 0 && ops.count < set.count) {
            VV_TRY(vv_mlir_set_of(matching, record, ops, &finding->set, error));
            finding->level = VV_MLIR_LEVEL_ARGUMENTS;
            finding->is_certain = false;
        }
        if (ops.count > 0)
            VV_TRY(take_all(matching, record, error));
        VV_TRY(narrow(matching, record, error));
        VV_TRY(take_form(matching, record, error));
    }
    return VARVE_OK;
}
