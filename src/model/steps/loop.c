/* SPDX-License-Identifier: Apache-2.0 */
/* loop.c — what names say of a training loop, and where it begins. */
#include <stdlib.h>
#include <string.h>

#include "base/binary_search.h"
#include "model/steps/anchors.h"

uint8_t *vv_loop_words(const struct vv_model *model)
{
    static const struct { const char *begin; uint8_t word; } begins[] = {
        { "autograd::engine::evaluate_function: ", VV_LOOP_ENGINE },
        { "enumerate(DataLoader)#", VV_LOOP_LOADER },
        { "entire_frame_compile", VV_LOOP_COMPILER },
        { "_compile.compile_inner (dynamo_timed)", VV_LOOP_COMPILER },
        { "_compile.<locals>.compile_inner (dynamo_timed)", VV_LOOP_COMPILER },
    };
    const struct vv_intern *strings = &model->strings;
    uint8_t *words = calloc(strings->count + 1, 1);
    for (uint32_t string = 1; string < strings->count && words != NULL; string++)
        for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
            if (strncmp(vv_intern_text(strings, string), begins[i].begin,
                        strlen(begins[i].begin)) == 0)
                words[string] = begins[i].word;
    return words;
}

uint32_t vv_rows_of_track(const struct vv_model *model, uint32_t track, uint32_t *out_first)
{
    const struct vv_slices *slices = &model->slices;
    *out_first = (uint32_t)VV_FIRST_NOT(i, 0, slices->table.count, slices->track[i] < track);
    return (uint32_t)VV_FIRST_NOT(i, *out_first, slices->table.count, slices->track[i] == track);
}

/* The begin of the first backward operator of the track's process; `before_ns` if none begins
 * before. */
static int64_t first_backward_ns(const struct vv_model *model, const uint8_t *words, uint32_t track,
                                 int64_t before_ns)
{
    const struct vv_slices *slices = &model->slices;
    for (uint32_t other = 0; other < model->tracks.table.count; other++) {
        uint32_t row, limit;
        if (model->tracks.process[other] != model->tracks.process[track] ||
            model->tracks.kind[other] != VV_TRACK_THREAD)
            continue;
        limit = vv_rows_of_track(model, other, &row);
        while (row < limit && slices->begin_ns[row] < before_ns &&
               words[slices->name[row]] != VV_LOOP_ENGINE)
            row++;
        if (row < limit && slices->begin_ns[row] < before_ns)
            before_ns = slices->begin_ns[row];
    }
    return before_ns;
}

int64_t vv_first_step_ns(const struct vv_model *model, const uint8_t *words, uint32_t track,
                         int64_t before_ns)
{
    const struct vv_slices *slices = &model->slices;
    uint32_t first, limit = vv_rows_of_track(model, track, &first);
    int64_t backward_ns = first_backward_ns(model, words, track, before_ns);
    for (uint32_t row = (uint32_t)VV_FIRST_NOT(i, first, limit,
                                               slices->begin_ns[i] < backward_ns);
         row-- > first;)
        if (words[slices->name[row]] == VV_LOOP_LOADER)
            return slices->begin_ns[row];
    return slices->begin_ns[first];
}
