/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/graph_blocks.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "derive/operators/block_list.h"

struct finding {
    const struct vv_model *model;
    struct vv_scope scope;
    struct vv_sequences sequences;
    struct vv_block_list list;
    uint32_t *block_of_slice; /* VV_NONE: in none                                               */
};

/* Blocks come after those around them, so the innermost one remains. */
static void mark_slices(struct finding *finding)
{
    for (size_t b = 0; b < finding->list.count; b++) {
        const struct vv_block *block = &finding->list.items[b];
        const uint32_t *rows =
            finding->sequences.rows + finding->sequences.items[block->sequence].first;
        for (uint32_t time = 0; time < block->total_times; time++) {
            size_t start = vv_block_time(&finding->list, block, time);
            for (size_t j = 0; j < block->period; j++)
                finding->block_of_slice[rows[start + j]] = (uint32_t)b;
        }
    }
    /* What is inside an operator is in its block. A parent's row is smaller. */
    const struct vv_slices *slices = &finding->model->slices;
    for (uint32_t row = 0; row < slices->table.count; row++)
        if (finding->block_of_slice[row] == VV_NONE && slices->parent[row] != VV_NONE)
            finding->block_of_slice[row] = finding->block_of_slice[slices->parent[row]];
}

/* "36 x aten::addmm …" */
static enum varve_code name_blocks(const struct finding *finding, struct vv_scratch *scratch,
                                   struct vv_fold_block **out_blocks, struct varve_error *error)
{
    struct vv_fold_block *blocks;
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &blocks, finding->list.count, error));
    for (size_t b = 0; b < finding->list.count; b++) {
        const struct vv_block *block = &finding->list.items[b];
        size_t at = finding->sequences.items[block->sequence].first + block->start;
        char *name;
        enum { NAME_BYTES = 160, NAME_SHOWN = 100 };
        VV_TRY(VV_SCRATCH_ARRAY(scratch, &name, NAME_BYTES, error));
        const char *first = vv_text_of(
            finding->model, finding->model->slices.name[finding->sequences.rows[at]]);
        snprintf(name, NAME_BYTES, "%u \xc3\x97 block of %u: %.*s", block->total_times,
                 block->period, (int)vv_utf8_valid(first, strnlen(first, NAME_SHOWN)), first);
        blocks[b] = (struct vv_fold_block){ name, block->parent };
    }
    *out_blocks = blocks;
    return VARVE_OK;
}

enum varve_code vv_graph_find_blocks(const struct vv_model *model,
                                     const struct vv_question *question, const struct vv_dag *dag,
                                     struct vv_scratch *scratch, struct vv_fold_options *options,
                                     struct varve_error *error)
{
    struct finding finding = { .model = model };
    struct vv_fold_block *blocks;
    uint32_t *block_of;
    uint64_t slices = model->slices.table.count, nodes = dag->nodes.table.count;
    VV_TRY(vv_scope_init(&finding.scope, model, &question->selection, scratch, error));
    VV_TRY(vv_sequences_init(&finding.sequences, &finding.scope, question, error));
    VV_TRY(vv_block_list_init(&finding.list, &finding.sequences, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &finding.block_of_slice, slices, error));
    memset(finding.block_of_slice, 0xff, slices * sizeof *finding.block_of_slice);
    mark_slices(&finding);
    VV_TRY(name_blocks(&finding, scratch, &blocks, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &block_of, nodes, error));
    for (uint64_t node = 0; node < nodes; node++) {
        uint64_t id = dag->nodes.id[node];
        block_of[node] = id > 0 && id <= slices ? finding.block_of_slice[id - 1] : VV_NONE;
    }
    options->block_of = block_of;
    options->blocks = blocks;
    options->block_count = finding.list.count;
    return VARVE_OK;
}
