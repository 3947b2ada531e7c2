/* SPDX-License-Identifier: Apache-2.0 */
/* anchors.c — the level by arguments. Equal layers have equal names, types and call stacks, but
 * each has weights of its own; and what comes behind a layer depends on more of them. Where another
 * level found several operations, the arguments choose. */
#include <string.h>

#include "mlir/match/matching.h"

/* EXACT: of the same operands, as far as their arguments say. */
enum closeness { OTHER, NEAR, EQUAL, EXACT };

/* Of its anchors the closest. */
static enum closeness compare(const struct vv_mlir_matching *matching, uint32_t op,
                              const struct vv_mlir_arguments *wanted)
{
    enum closeness best = OTHER;
    for (const struct vv_mlir_anchor *at = vv_mlir_anchor_of(matching, op);
         at != NULL && best != EXACT; at = vv_mlir_next_anchor(matching, at)) {
        if (memcmp(at->of.near, wanted->near, sizeof wanted->near) != 0)
            continue;
        enum closeness one = vv_mlir_has_arguments(at->of.near) ? NEAR : OTHER;
        if (memcmp(at->of.far, wanted->far, sizeof wanted->far) == 0)
            one = memcmp(at->of.parts, wanted->parts, sizeof wanted->parts) == 0 ? EXACT : EQUAL;
        best = one > best ? one : best;
    }
    return best;
}

bool vv_mlir_is_made_of(const struct vv_mlir_matching *matching, uint32_t op, uint32_t arguments)
{
    return compare(matching, op, &matching->profile->arguments[arguments]) >= EQUAL;
}

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
static enum closeness closest(const struct vv_mlir_matching *matching, uint32_t arguments,
                              struct vv_mlir_ops set, uint8_t *out_closeness)
{
    const struct vv_mlir_arguments *wanted = &matching->profile->arguments[arguments];
    enum closeness best = OTHER;
    for (size_t i = 0; i < set.count; i++) {
        enum closeness one = compare(matching, set.items[i], wanted);
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
    enum closeness least = NEAR;
    uint8_t *closeness;
    bool *is_chosen;
    size_t count = 0;
    VV_TRY(VV_SCRATCH_RESERVE(matching->scratch, &matching->buffer, &matching->buffer_capacity,
                              set.count, error));
    VV_TRY(VV_SCRATCH_ARRAY(matching->scratch, &closeness, set.count, error));
    VV_TRY(VV_SCRATCH_ZEROS(matching->scratch, &is_chosen, set.count, error));
    for (uint32_t i = 0; i < record->arguments_count; i++)
        if (closest(matching, record->first_arguments + i, set, closeness) >= EQUAL)
            least = EQUAL;
    for (uint32_t i = 0; i < record->arguments_count; i++) {
        enum closeness best = closest(matching, record->first_arguments + i, set, closeness);
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
    enum closeness best = OTHER;
    size_t count = 0;
    VV_TRY(VV_SCRATCH_RESERVE(matching->scratch, &matching->buffer, &matching->buffer_capacity,
                              set->count, error));
    VV_TRY(vv_mlir_choose_by_frames(matching, record, all, out, error));
    if (arguments == 0)
        return VARVE_OK;
    const struct vv_mlir_arguments *wanted = &matching->profile->arguments[arguments - 1];
    for (size_t i = 0; i < out->count; i++) {
        enum closeness one = compare(matching, out->items[i], wanted);
        best = one > best ? one : best;
    }
    for (size_t i = 0; i < out->count && best >= EQUAL; i++)
        if (compare(matching, out->items[i], wanted) == best)
            matching->buffer[count++] = out->items[i];
    out->count = best >= EQUAL ? count : out->count;
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
    }
    return VARVE_OK;
}
