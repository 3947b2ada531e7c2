/* SPDX-License-Identifier: Apache-2.0 */
/* peak.c — table "memory_peak": who holds the memory that is live at the peak (doc/metrics.md §10).
 *
 * Law: the rows of a device, "(before the trace)" included, sum to its total row = peak_bytes of
 * "memory". */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/memory/live.h"
#include "derive/devices/device_work.h"
#include "derive/select/traits.h"
#include "meaning/autograd_links.h"
#include "meaning/phases.h"
#include "numbers/pair_ids.h"
#include "question/question.h"
#include "sheet/number.h"

enum { DEVICE, BYTES, SHARE, ALLOCATIONS, OLDEST, STEP, ROW, NAME, COLUMNS };

static const struct vv_sheet_column holder_columns[COLUMNS] = {
    { "device", "device", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "bytes", "bytes", VV_CELL_INT, VV_UNIT_BYTES, false, false },
    { "share", "share", VV_CELL_REAL, VV_UNIT_RATIO, false, false },
    { "allocations", "allocations", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "oldest_ns", "oldest", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "step", "step", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "name", "allocated by", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
};

enum holder_key { BY_OPERATOR, BY_PHASE, BY_MODULE, BY_USE, BY_STEP, BY_THREAD };

static const struct { const char *word; enum holder_key key; } keys[] = {
    { "op", BY_OPERATOR }, { "name", BY_OPERATOR }, { "phase", BY_PHASE }, { "step", BY_STEP },
    { "thread", BY_THREAD }, { "module", BY_MODULE }, { "use", BY_USE },
};

/* What memory is for, by the phase in which it was allocated and by its release. */
enum use { PARAMETERS, GRADIENTS, OPTIMIZER_STATE, ACTIVATIONS, BATCHES, TEMPORARY, USES };

static const char *const use_texts[USES] = {
    [PARAMETERS] = "parameters", [GRADIENTS] = "gradients",
    [OPTIMIZER_STATE] = "optimizer state", [ACTIVATIONS] = "activations", [BATCHES] = "data",
    [TEMPORARY] = "temporary",
};

struct holders {
    const struct vv_allocations *allocations;
    const struct vv_traits *traits;    /* phases and modules, if wanted                          */
    const struct vv_op_phases *phases; /* found from operators, if wanted                        */
    int64_t first_forward_ns; /* begin of the first forward operator with a link; or INT64_MAX   */
    enum holder_key by;
    const char *device;
    int64_t peak_bytes, named_bytes; /* live at the peak; the part of it allocated in the trace  */
    struct vv_groups groups;      /* (string, or row of a step or track; 0) -> group            */
    struct holder { int64_t bytes, oldest_ns; uint64_t count; } *sums; /* by group              */
    uint32_t *order;
    size_t capacity;
};

static enum vv_op_phase phase_at(const struct holders *holders, uint32_t event, int64_t time_ns)
{
    const struct vv_model *model = holders->allocations->scope->model;
    uint32_t slice = event != VV_NONE ? vv_operator_at(model, model->memory.track[event], time_ns)
                                      : VV_NONE;
    return slice != VV_NONE ? (enum vv_op_phase)holders->phases->of_slice[slice] : VV_PHASE_NONE;
}

/* Memory that a phase releases itself is temporary. */
static uint32_t use_of(const struct holders *holders, const struct vv_allocation *item)
{
    enum vv_op_phase made = phase_at(holders, item->made, item->begin_ns),
                     freed = phase_at(holders, item->freed, item->end_ns);
    bool is_kept = vv_is_kept(holders->allocations, item);
    if (made == VV_PHASE_DATA)
        return BATCHES;
    bool is_before = item->begin_ns < holders->first_forward_ns;
    if (is_before && is_kept && (made == VV_PHASE_NONE || made == VV_PHASE_FORWARD))
        return PARAMETERS;
    if (made == VV_PHASE_NONE)
        return VV_NONE;
    if (freed == made && !is_kept)
        return TEMPORARY;
    return made == VV_PHASE_OPTIMIZER  ? OPTIMIZER_STATE
           : made == VV_PHASE_BACKWARD ? GRADIENTS
                                       : ACTIVATIONS;
}

/* The holder of the allocation: a trait, a use, or the row of a step or track; VV_NONE: not
 * known. */
static uint32_t holder_of(const struct holders *holders, const struct vv_allocation *item)
{
    const struct vv_model *model = holders->allocations->scope->model;
    uint32_t track = model->memory.track[item->made];
    if (holders->by == BY_THREAD)
        return track;
    if (holders->by == BY_USE)
        return use_of(holders, item);
    uint32_t slice = vv_operator_at(model, track, item->begin_ns);
    if (slice == VV_NONE)
        return VV_NONE;
    switch (holders->by) {
    case BY_STEP:
        return model->slices.step[slice];
    case BY_PHASE:
        return vv_trait_of(holders->traits, VV_TRAIT_PHASE, slice);
    case BY_MODULE:
        return vv_trait_of(holders->traits, VV_TRAIT_MODULE, slice);
    default:
        return model->slices.name[slice];
    }
}

/* The text of a holder. */
static void name_holder(const struct holders *holders, uint32_t group, char *text, size_t bytes)
{
    const struct vv_model *model = holders->allocations->scope->model;
    uint32_t key = holders->groups.names[group];
    char buffer[200];
    if (key == VV_NONE)
        snprintf(text, bytes, "(outside)");
    else if (holders->by == BY_THREAD)
        vv_track_text(model, key, text, bytes);
    else if (holders->by == BY_STEP)
        snprintf(text, bytes, "step %" PRId64, model->steps.index[key]);
    else if (holders->by == BY_USE)
        snprintf(text, bytes, "%s", use_texts[key]);
    else if (holders->by == BY_OPERATOR)
        snprintf(text, bytes, "%s", vv_text_of(model, key));
    else
        snprintf(text, bytes, "%s",
                 vv_trait_text(holders->traits,
                               holders->by == BY_PHASE ? VV_TRAIT_PHASE : VV_TRAIT_MODULE, key,
                               buffer, sizeof buffer));
}

/* Adds up the allocations that are live at the peak. */
static enum varve_code gather(struct holders *holders, const struct vv_pool *pool, int64_t peak_ns,
                              struct varve_error *error)
{
    const struct vv_allocation *items = holders->allocations->items;
    for (size_t i = pool->first; i < pool->last; i++) {
        uint32_t group;
        if (items[i].made == VV_NONE || items[i].begin_ns > peak_ns || items[i].end_ns <= peak_ns)
            continue;
        VV_TRY(vv_groups_add(&holders->groups, holder_of(holders, &items[i]), 0, &group, error));
        if (group >= holders->capacity) {
            size_t former = holders->capacity;
            VV_TRY(VV_SCRATCH_RESERVE(holders->groups.scratch, &holders->sums, &holders->capacity,
                                      (size_t)group + 1, error));
            memset(holders->sums + former, 0, (holders->capacity - former) * sizeof *holders->sums);
        }
        struct holder *sum = &holders->sums[group];
        sum->bytes += items[i].bytes;
        sum->count++;
        sum->oldest_ns = peak_ns - items[i].begin_ns > sum->oldest_ns ? peak_ns - items[i].begin_ns
                                                                      : sum->oldest_ns;
        holders->named_bytes += items[i].bytes;
    }
    return VARVE_OK;
}

static int compare_holders(const void *a, const void *b, void *context)
{
    const struct holders *holders = context;
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    if (holders->sums[left].bytes != holders->sums[right].bytes)
        return holders->sums[left].bytes > holders->sums[right].bytes ? -1 : 1;
    /* Equal sums are sorted by what the groups are, not by the order in which they were found. */
    uint32_t left_key = holders->groups.names[left], right_key = holders->groups.names[right];
    bool are_texts = holders->by != BY_THREAD && holders->by != BY_STEP && left_key != VV_NONE &&
                     right_key != VV_NONE;
    if (are_texts) {
        char left_text[200], right_text[200];
        name_holder(holders, left, left_text, sizeof left_text);
        name_holder(holders, right, right_text, sizeof right_text);
        return strcmp(left_text, right_text);
    }
    return (left_key > right_key) - (left_key < right_key);
}

/* ---- rows ---- */

struct row {
    enum vv_row_kind kind;
    const char *word, *name;
    struct holder sum;
};

static enum varve_code put_row(const struct holders *holders, struct vv_sheet *sheet,
                               const struct row *row, struct varve_error *error)
{
    size_t at;
    VV_TRY(vv_sheet_row(sheet, row->kind, &at, error));
    VV_TRY(vv_sheet_text(sheet, at, DEVICE, holders->device, error));
    vv_sheet_int(sheet, at, BYTES, row->sum.bytes);
    if (holders->peak_bytes > 0)
        vv_sheet_real(sheet, at, SHARE, (double)row->sum.bytes / (double)holders->peak_bytes);
    if (row->sum.count > 0) {
        vv_sheet_int(sheet, at, ALLOCATIONS, (int64_t)row->sum.count);
        if (row->kind == VV_ROW_PLAIN)
            vv_sheet_int(sheet, at, OLDEST, row->sum.oldest_ns);
    }
    VV_TRY(vv_sheet_text(sheet, at, ROW, row->word, error));
    return vv_sheet_text(sheet, at, NAME, row->name, error);
}

static enum varve_code put_holders(const struct holders *holders, uint32_t top,
                                   struct vv_sheet *sheet, struct varve_error *error)
{
    struct row more = { VV_ROW_REMAINDER, "more", NULL, { 0 } };
    char name[200];
    for (uint32_t i = 0; i < holders->groups.count; i++) {
        const struct holder *sum = &holders->sums[holders->order[i]];
        if (i >= top) {
            more.sum.bytes += sum->bytes;
            more.sum.count += sum->count;
            continue;
        }
        name_holder(holders, holders->order[i], name, sizeof name);
        struct row row = { VV_ROW_PLAIN, "holder", name, *sum };
        VV_TRY(put_row(holders, sheet, &row, error));
        uint32_t key = holders->groups.names[holders->order[i]];
        if (holders->by == BY_STEP && key != VV_NONE)
            vv_sheet_int(sheet, sheet->row_count - 1, STEP,
                         holders->allocations->scope->model->steps.index[key]);
    }
    if (top >= holders->groups.count)
        return VARVE_OK;
    snprintf(name, sizeof name, "%u more: --top 0", holders->groups.count - top);
    more.name = name;
    return put_row(holders, sheet, &more, error);
}

static enum varve_code put_rows(struct holders *holders, const struct vv_question *question,
                                struct vv_sheet *sheet, struct varve_error *error)
{
    uint32_t groups = holders->groups.count;
    uint32_t top = question->top > 0 && question->top < groups ? (uint32_t)question->top : groups;
    VV_TRY(VV_SCRATCH_ARRAY(holders->groups.scratch, &holders->order, groups, error));
    for (uint32_t g = 0; g < groups; g++)
        holders->order[g] = g;
    qsort_r(holders->order, groups, sizeof *holders->order, compare_holders, holders);
    VV_TRY(put_holders(holders, top, sheet, error));
    if (holders->peak_bytes > holders->named_bytes) {
        struct row before = { VV_ROW_REMAINDER, "before", "(before the trace)",
                              { holders->peak_bytes - holders->named_bytes, 0, 0 } };
        VV_TRY(put_row(holders, sheet, &before, error));
    }
    struct row total = { VV_ROW_TOTAL, "total", "total", { holders->peak_bytes, 0, 0 } };
    return put_row(holders, sheet, &total, error);
}

/* `common` has what all pools share. */
static enum varve_code put_pool(const struct holders *common, uint32_t number,
                                const struct vv_question *question, struct vv_sheet *sheet,
                                struct varve_error *error)
{
    const struct vv_allocations *allocations = common->allocations;
    const struct vv_pool *pool = &allocations->pools[number];
    char device[40];
    struct vv_scratch *scratch = allocations->scope->scratch;
    struct holders holders = *common;
    holders.device = device;
    holders.groups = (struct vv_groups){ .scratch = scratch };
    struct vv_intervals instants = { .scratch = scratch };
    struct vv_change *changes;
    size_t count;
    vv_device_text(pool->device, device, sizeof device);
    VV_TRY(vv_chosen_instants(allocations->scope, pool->scope, &instants, error));
    if (instants.count == 0)
        return VARVE_OK;
    VV_TRY(vv_pool_changes(allocations, number, &changes, &count, error));
    struct vv_memory_peak peak = vv_memory_peak(pool, changes, count, &instants);
    holders.peak_bytes = peak.bytes;
    VV_TRY(gather(&holders, pool, peak.time_ns, error));
    return put_rows(&holders, question, sheet, error);
}

static enum varve_code find_key(const char *word, enum holder_key *out_key,
                                struct varve_error *error)
{
    *out_key = BY_OPERATOR;
    if (word == NULL)
        return VARVE_OK;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        *out_key = keys[i].key;
        if (strcmp(keys[i].word, word) == 0)
            return VARVE_OK;
    }
    VV_FAIL(error, VARVE_INVALID,
            "cannot group what holds memory by '%s'. Try op, module, phase, step, thread or use",
            word);
}

/* Finds what use_of asks for. */
static enum varve_code find_uses(struct holders *holders, struct vv_op_phases *out_phases,
                                 struct varve_error *error)
{
    const struct vv_model *model = holders->allocations->scope->model;
    struct vv_autograd_links links;
    VV_TRY(vv_op_phases_found(model, out_phases, error));
    VV_TRY(vv_autograd_links(model, &links, error));
    for (size_t i = 0; i < links.count; i++) {
        int64_t begin_ns = model->slices.begin_ns[links.items[i].forward];
        if (begin_ns < holders->first_forward_ns)
            holders->first_forward_ns = begin_ns;
    }
    return VARVE_OK;
}

static const char *say_absent(const struct holders *holders)
{
    if (holders->by != BY_MODULE)
        return "";
    for (uint32_t row = 0; row < holders->traits->model->slices.table.count; row++)
        if (vv_trait_of(holders->traits, VV_TRAIT_MODULE, row) != VV_NONE)
            return "";
    return VV_NO_MODULES_TEXT;
}

enum varve_code vv_analyse_memory_peak(const struct vv_model *model,
                                       const struct vv_question *question,
                                       struct vv_scratch *scratch, struct vv_sheet *out,
                                       struct varve_error *error)
{
    struct vv_scope scope;
    struct vv_allocations allocations;
    struct vv_traits traits;
    struct vv_op_phases phases;
    struct holders common = { .allocations = &allocations, .traits = &traits, .phases = &phases,
                              .first_forward_ns = INT64_MAX };
    vv_sheet_init(out, "memory_peak", "MEMORY AT ITS PEAK", holder_columns, COLUMNS);
    VV_TRY(find_key(question->by, &common.by, error));
    VV_TRY(vv_scope_init(&scope, model, &question->selection, scratch, error));
    VV_TRY(vv_allocations_init(&allocations, &scope, question->selection.device, error));
    unsigned wanted = common.by == BY_PHASE    ? VV_TRAIT_BIT(VV_TRAIT_PHASE)
                      : common.by == BY_MODULE ? VV_TRAIT_BIT(VV_TRAIT_MODULE)
                                               : 0;
    VV_TRY(vv_traits_init(&traits, model, scope.ranks, wanted, scratch, error));
    if (common.by == BY_USE)
        VV_TRY(find_uses(&common, &phases, error));
    for (uint32_t p = 0; p < allocations.pool_count; p++)
        VV_TRY(put_pool(&common, p, question, out, error));
    if (allocations.pool_count == 0)
        return vv_sheet_policy(out, error, "%s", vv_allocations_none(&allocations));
    return vv_sheet_policy(out, error, "what is live when most is, by what allocated it%s",
                           say_absent(&common));
}
