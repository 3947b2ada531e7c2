/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/workers.h"
#include "import/rows/producer_words.h"

static const struct { const char *category; uint8_t flag; } slice_words[] = {
    { "user_annotation", VV_SLICE_ANNOTATION },
    { "overhead", VV_SLICE_OVERHEAD },
    { "cuda_profiler_range", VV_SLICE_COUNTED },
};
#define SLICE_WORDS (sizeof slice_words / sizeof *slice_words)

static const char *const backward_words[] = { "fwdbwd", "fwd_bwd", "forward_backward" };
#define BACKWARD_WORDS (sizeof backward_words / sizeof *backward_words)

static uint32_t find(const struct vv_model *model, const char *word)
{
    return vv_intern_find(&model->strings, word, strlen(word));
}

static void flag_slices(struct vv_model *model)
{
    uint32_t ids[SLICE_WORDS];
    bool has_any = false;
    for (size_t i = 0; i < SLICE_WORDS; i++) {
        ids[i] = find(model, slice_words[i].category);
        has_any = has_any || ids[i] != UINT32_MAX;
    }
    for (uint64_t row = 0; has_any && row < model->slices.table.count; row++)
        for (size_t i = 0; i < SLICE_WORDS; i++)
            if (model->slices.category[row] == ids[i])
                model->slices.flags[row] |= slice_words[i].flag;
}

static void name_flows(struct vv_model *model)
{
    const struct vv_flows *flows = &model->flows;
    uint32_t ids[BACKWARD_WORDS];
    bool has_any = false;
    for (size_t i = 0; i < BACKWARD_WORDS; i++) {
        ids[i] = find(model, backward_words[i]);
        has_any = has_any || ids[i] != UINT32_MAX;
    }
    for (uint64_t row = 0; has_any && row < flows->table.count; row++)
        for (size_t i = 0; i < BACKWARD_WORDS; i++)
            if (flows->name[row] == ids[i] || flows->category[row] == ids[i])
                flows->kind[row] = VV_FLOW_BACKWARD;
}

/* What the words say, in pieces that write no common column. */
struct saying {
    struct vv_model *model;
    struct vv_launch_words *launches;
};

static void say_piece(void *context, size_t piece)
{
    struct saying *saying = context;
    if (piece < vv_launch_words_pieces(saying->launches)) {
        vv_launch_words_read(saying->launches, piece);
        return;
    }
    flag_slices(saying->model);
    name_flows(saying->model);
}

static enum varve_code say_all(struct saying *saying, struct vv_scratch *scratch,
                               struct varve_error *error)
{
    VV_TRY(vv_launch_words_init(scratch, saying->model, &saying->launches, error));
    vv_workers_run(saying->model->threads, vv_launch_words_pieces(saying->launches) + 1, say_piece,
                   saying);
    return vv_launch_words_join(saying->launches, error);
}

enum varve_code vv_words_to_columns(struct vv_model *model, struct varve_error *error)
{
    struct vv_scratch scratch = { 0 };
    struct saying saying = { model, NULL };
    enum varve_code code = say_all(&saying, &scratch, error);
    vv_scratch_deinit(&scratch);
    return code;
}
