/* SPDX-License-Identifier: Apache-2.0 */
/* order.c — what only its place tells from others. Records that a producer calls by their type
 * alone come in the order of the program; so the nth of those that were found on the same
 * operations is that of the nth operation, if there are as many. Level ORDER: the same for all of
 * one type. */
#include <stdlib.h>
#include <string.h>

#include "mlir/match/matching.h"

/* Records of one process and device that compete for the same operations. */
struct rival { uint64_t where; uint32_t what, record; };

static int compare_rivals(const void *a, const void *b)
{
    const struct rival *left = a, *right = b;
    if (left->where != right->where)
        return left->where < right->where ? -1 : 1;
    if (left->what != right->what)
        return left->what < right->what ? -1 : 1;
    return (left->record > right->record) - (left->record < right->record);
}

static bool is_in_order(const struct vv_mlir_record *record)
{
    return record->name == 0 && record->type != 0;
}

static uint64_t where_of(const struct vv_mlir_record *record)
{
    return (uint64_t)record->process << 32 | record->device;
}

/* The rivals behind this one that compete for the same. */
static size_t count_rivals(const struct rival *rivals, size_t count)
{
    size_t same = 1;
    while (same < count && rivals[same].where == rivals->where && rivals[same].what == rivals->what)
        same++;
    return same;
}

enum varve_code vv_mlir_pair_in_order(struct vv_mlir_matching *matching, struct varve_error *error)
{
    const struct vv_mlir_profile *profile = matching->profile;
    struct rival *rivals;
    size_t count = 0;
    VV_TRY(VV_SCRATCH_ARRAY(matching->scratch, &rivals, profile->record_count, error));
    for (uint32_t record = 0; record < profile->record_count; record++) {
        uint32_t set = matching->findings[record].set;
        if (set != VV_MLIR_NONE && matching->sets[set].count > 1 &&
            matching->sets[set].is_type_equal && is_in_order(&profile->records[record]))
            rivals[count++] =
                (struct rival){ where_of(&profile->records[record]), set, record };
    }
    if (count > 0)
        qsort(rivals, count, sizeof *rivals, compare_rivals);
    for (size_t i = 0, same; i < count; i += same) {
        uint32_t set = rivals[i].what;
        same = count_rivals(rivals + i, count - i);
        if (same != matching->sets[set].count)
            continue;
        for (size_t j = 0; j < same; j++)
            VV_TRY(vv_mlir_set_of_one(matching, matching->set_ops[matching->sets[set].first + j],
                                      true, &matching->findings[rivals[i + j].record].set, error));
    }
    vv_scratch_release(matching->scratch, rivals);
    return VARVE_OK;
}

/* ---- level ORDER ---- */

/* The operations of a type, by its exact kind. */
static enum varve_code list_kinds(struct vv_mlir_matching *matching, struct vv_mlir_list *list,
                                  struct varve_error *error)
{
    list->scratch = matching->scratch;
    for (uint32_t op = 0; op < matching->module->op_count; op++)
        if (matching->type_of_op[op].exact != 0)
            VV_TRY(vv_mlir_list_add(list, matching->type_of_op[op].exact, op, error));
    return vv_mlir_list_finish(list, error);
}

static bool is_open(const struct vv_mlir_finding *finding, const struct vv_mlir_matching *matching)
{
    return finding->set == VV_MLIR_NONE || !matching->sets[finding->set].is_type_equal;
}

/* Patterns that an optimizer calls by their type alone, since their first operation gives them no
 * path: each has exactly one operation of the other kind. */
static const struct { const char *pattern, *part; } patterns[] = {
    { "gelu", "erf" }, { "biasgelu", "erf" }, { "fastgelu", "tanh" }, { "quickgelu", "sigmoid" },
};

/* Does the name say no more than the type: "Gelu", "Gelu_token_0"? */
static bool is_named_by_type(const struct vv_mlir_matching *matching, uint32_t record)
{
    const struct vv_mlir_record *row = &matching->profile->records[record];
    size_t bytes = matching->profile->strings.lengths[row->type];
    return row->type != 0 && row->op_name == 0 &&
           strncmp(vv_mlir_record_text(matching, row->name),
                   vv_mlir_record_text(matching, row->type), bytes) == 0;
}

/* The kind whose operations tell where the record's pattern is: another one than its type, or 0. */
static uint32_t part_of(const struct vv_mlir_matching *matching, uint32_t record)
{
    const char *exact = vv_intern_text(matching->kinds, matching->type_of_record[record].exact);
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (strcmp(exact, patterns[i].pattern) == 0 && is_named_by_type(matching, record))
            return vv_intern_find(matching->kinds, patterns[i].part, strlen(patterns[i].part));
    return 0;
}

/* What the record competes for in level ORDER; 0: nothing. */
static uint32_t kind_wanted(const struct vv_mlir_matching *matching, uint32_t record)
{
    if (is_in_order(&matching->profile->records[record]))
        return matching->type_of_record[record].exact;
    uint32_t part = part_of(matching, record);
    return part != UINT32_MAX ? part : 0;
}

/* All records of a type count, also those that were found by better levels: only then is the nth
 * record the nth operation. */
enum varve_code vv_mlir_find_by_order(struct vv_mlir_matching *matching, struct varve_error *error)
{
    const struct vv_mlir_profile *profile = matching->profile;
    struct vv_mlir_list kinds = { 0 };
    struct rival *rivals;
    size_t count = 0;
    VV_TRY(VV_SCRATCH_ARRAY(matching->scratch, &rivals, profile->record_count, error));
    for (uint32_t record = 0; record < profile->record_count; record++)
        if (kind_wanted(matching, record) != 0)
            rivals[count++] = (struct rival){ where_of(&profile->records[record]),
                                              kind_wanted(matching, record), record };
    if (count == 0)
        return VARVE_OK;
    VV_TRY(list_kinds(matching, &kinds, error));
    qsort(rivals, count, sizeof *rivals, compare_rivals);
    for (size_t i = 0, same; i < count; i += same) {
        struct vv_mlir_ops ops = vv_mlir_list_of(&kinds, rivals[i].what);
        same = count_rivals(rivals + i, count - i);
        for (size_t j = 0; ops.count == same && j < same; j++) {
            struct vv_mlir_finding *finding = &matching->findings[rivals[i + j].record];
            if (!is_open(finding, matching))
                continue;
            bool is_part = !is_in_order(&profile->records[rivals[i + j].record]);
            VV_TRY(vv_mlir_set_of_one(matching, ops.items[j], true, &finding->set, error));
            finding->is_part = is_part;
            finding->level = VV_MLIR_LEVEL_ORDER;
            finding->is_certain = false;
        }
    }
    vv_scratch_release(matching->scratch, rivals);
    return VARVE_OK;
}
