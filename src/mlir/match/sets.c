/* SPDX-License-Identifier: Apache-2.0 */
/* sets.c — the operations that records were found on. Many records are found on the same ones; what
 * was chosen once from a list of an index is not chosen again. */
#include <string.h>

#include "mlir/match/matching.h"

/* More operations than these say nothing about one of them. */
#define SET_MAX 65536u

enum varve_code vv_mlir_one_op(struct vv_mlir_matching *matching, uint32_t op,
                               struct vv_mlir_ops *out_ops, struct varve_error *error)
{
    VV_TRY(VV_SCRATCH_RESERVE(matching->scratch, &matching->buffer, &matching->buffer_capacity, 1,
                              error));
    matching->buffer[0] = op;
    *out_ops = (struct vv_mlir_ops){ matching->buffer, 1 };
    return VARVE_OK;
}

static bool is_set(const void *table, uint32_t row, const void *key)
{
    const struct vv_mlir_set *set = &((const struct vv_mlir_set *)table)[row], *other = key;
    return set->from == other->from && set->from_count == other->from_count &&
           set->family == other->family;
}

static uint64_t hash_of(const struct vv_mlir_set *set)
{
    return vv_hash_pair((uint64_t)(uintptr_t)set->from,
                        (uint64_t)set->from_count << 32 | set->family);
}

static uint64_t hash_set(const void *table, uint32_t row)
{
    return hash_of(&((const struct vv_mlir_set *)table)[row]);
}

/* Those of the type; all of them if none is, or there is no type. */
static enum varve_code choose(struct vv_mlir_matching *matching, struct vv_mlir_ops ops,
                              uint32_t family, struct vv_mlir_set *set, struct varve_error *error)
{
    VV_TRY(VV_SCRATCH_RESERVE(matching->scratch, &matching->set_ops, &matching->set_op_capacity,
                              matching->set_op_count + ops.count, error));
    uint32_t *chosen = matching->set_ops + matching->set_op_count;
    set->first = (uint32_t)matching->set_op_count;
    set->is_type_equal = true;
    for (size_t i = 0; i < ops.count; i++)
        if (family == 0 || matching->type_of_op[ops.items[i]].family == family)
            chosen[set->count++] = ops.items[i];
    if (set->count == 0) {
        set->is_type_equal = false;
        set->count = (uint32_t)ops.count;
        memcpy(chosen, ops.items, ops.count * sizeof *chosen);
    }
    matching->set_op_count += set->count;
    return VARVE_OK;
}

static enum varve_code add_set(struct vv_mlir_matching *matching, const struct vv_mlir_set *set,
                               uint32_t *out_set, struct varve_error *error)
{
    VV_TRY(VV_SCRATCH_RESERVE(matching->scratch, &matching->sets, &matching->set_capacity,
                              matching->set_count + 1, error));
    matching->sets[matching->set_count] = *set;
    *out_set = (uint32_t)matching->set_count++;
    return VARVE_OK;
}

enum varve_code vv_mlir_set_of(struct vv_mlir_matching *matching, uint32_t record,
                               struct vv_mlir_ops ops, uint32_t *out_set,
                               struct varve_error *error)
{
    uint32_t family = matching->type_of_record[record].family;
    struct vv_mlir_set set = { .family = family, .from_count = ops.count };
    *out_set = VV_MLIR_NONE;
    if (ops.count > SET_MAX)
        return VARVE_OK;
    set.from = ops.items;
    if (ops.items == matching->buffer) { /* found for this record alone */
        set.from = NULL;
        set.from_count = matching->set_count;
    }
    if (vv_slots_are_full(&matching->set_slots, matching->set_count))
        VV_TRY(vv_slots_grow(&matching->set_slots, (uint32_t)matching->set_count, hash_set,
                             matching->sets, "groups", error));
    uint32_t *slot = vv_slots_at(&matching->set_slots, hash_of(&set), is_set, matching->sets, &set);
    *out_set = *slot - 1;
    if (*slot != 0)
        return VARVE_OK;
    VV_TRY(choose(matching, ops, family, &set, error));
    VV_TRY(add_set(matching, &set, out_set, error));
    *slot = *out_set + 1;
    return VARVE_OK;
}

enum varve_code vv_mlir_set_of_one(struct vv_mlir_matching *matching, uint32_t op,
                                   bool is_type_equal, uint32_t *out_set,
                                   struct varve_error *error)
{
    struct vv_mlir_set set = { .first = (uint32_t)matching->set_op_count, .count = 1,
                               .from_count = matching->set_count,
                               .is_type_equal = is_type_equal };
    if (vv_slots_are_full(&matching->set_slots, matching->set_count))
        VV_TRY(vv_slots_grow(&matching->set_slots, (uint32_t)matching->set_count, hash_set,
                             matching->sets, "groups", error));
    uint32_t *slot = vv_slots_at(&matching->set_slots, hash_of(&set), is_set, matching->sets, &set);
    VV_TRY(VV_SCRATCH_RESERVE(matching->scratch, &matching->set_ops, &matching->set_op_capacity,
                              matching->set_op_count + 1, error));
    matching->set_ops[matching->set_op_count++] = op;
    VV_TRY(add_set(matching, &set, out_set, error));
    *slot = *out_set + 1;
    return VARVE_OK;
}

/* ---- which one leads ---- */

/* What stands beside the work: constants, room for a result, ends of regions. */
static bool is_minor(const struct vv_mlir_matching *matching, uint32_t op)
{
    static const char *const minor[] = { "constant", "const", "return", "yield", "empty", "fill",
                                         "literal", "splat" };
    const char *exact = vv_intern_text(matching->kinds, matching->type_of_op[op].exact);
    for (size_t i = 0; i < sizeof minor / sizeof *minor; i++)
        if (strcmp(exact, minor[i]) == 0)
            return true;
    return false;
}

/* How well an operation leads. Its type counts most, then the last word of the name; and one that
 * stands in another of the group leads less than that one. */
enum { OUTERMOST = 1, MAJOR = 2, NAMED = 4, TYPED = 6 };

static int rank_of(const struct vv_mlir_matching *matching, uint32_t record, uint32_t family,
                   uint32_t op, const uint32_t *group_of_op)
{
    uint32_t of_op = matching->type_of_op[op].family, parent = matching->module->ops[op].parent;
    int outermost = parent == VV_MLIR_NONE || group_of_op[parent] != group_of_op[op] ? OUTERMOST
                                                                                     : 0;
    return outermost + (vv_mlir_is_of_type(matching, record, op) ? TYPED
                        : of_op != 0 && of_op == family          ? NAMED
                        : !is_minor(matching, op)                ? MAJOR
                                                                 : 0);
}

uint32_t vv_mlir_leader(const struct vv_mlir_matching *matching, uint32_t record,
                        uint32_t group, const uint32_t *group_of_op)
{
    const struct vv_mlir_set *set = &matching->sets[matching->findings[record].set];
    const uint32_t *ops = matching->set_ops + set->first;
    uint32_t best = VV_MLIR_NONE, name = vv_mlir_called(&matching->profile->records[record]);
    const char *last = vv_mlir_base_name(vv_mlir_record_text(matching, name));
    struct vv_mlir_kind kind;
    int best_rank = -1;
    vv_mlir_kind_of(last, strlen(last), &kind);
    uint32_t family = vv_intern_find(matching->kinds, kind.family, strlen(kind.family));
    for (uint32_t i = 0; i < set->count; i++) {
        int rank = rank_of(matching, record, family, ops[i], group_of_op);
        bool is_later = rank == best_rank && rank / MAJOR != 1; /* of unknown ones the last */
        if (group_of_op[ops[i]] != group || is_later || rank < best_rank)
            continue;
        best = ops[i];
        best_rank = rank;
    }
    return best;
}
