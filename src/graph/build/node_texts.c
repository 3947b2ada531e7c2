/* SPDX-License-Identifier: Apache-2.0 */
/* node_texts.c — texts of the model as strings of the graph. Each is copied once. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "graph/build/building.h"
#include "meaning/node_words.h"
#include "meaning/op_formulas.h"

enum varve_code vv_graph_text(struct vv_graph_building *building, uint32_t string,
                              uint32_t *out_text, struct varve_error *error)
{
    uint32_t *known = &building->text_of[string];
    if (*known == 0) {
        VV_TRY(vv_dag_text(building->dag, vv_text_of(building->model, string), out_text, error));
        *known = *out_text + 1;
    }
    *out_text = *known - 1;
    return VARVE_OK;
}

enum varve_code vv_graph_where(struct vv_graph_building *building, uint32_t track,
                               uint32_t *out_text, struct varve_error *error)
{
    uint32_t *known = &building->where_of[track], process = building->model->tracks.process[track];
    char text[200];
    int length = 0;
    if (*known == 0) {
        if (building->has_ranks && process != VV_NONE && building->scope.ranks[process] >= 0)
            length = snprintf(text, sizeof text, "rank %" PRId64 ", ",
                              building->scope.ranks[process]);
        vv_track_text(building->model, track, text + length, sizeof text - (size_t)length);
        VV_TRY(vv_dag_text(building->dag, text, out_text, error));
        *known = *out_text + 1;
    }
    *out_text = *known - 1;
    return VARVE_OK;
}

/* "[8,4] f32 -> [4] f32": the spaces beside the arrow belong to neither half. */
enum varve_code vv_graph_shapes(struct vv_graph_building *building, uint32_t shapes,
                                uint32_t *out_inputs, uint32_t *out_outputs,
                                struct varve_error *error)
{
    uint32_t *input = &building->input_of[shapes], *output = &building->output_of[shapes];
    if (*input == 0) {
        const char *text = vv_text_of(building->model, shapes), *arrow = strstr(text, "->");
        size_t length = arrow != NULL ? (size_t)(arrow - text) : strlen(text);
        while (length > 0 && text[length - 1] == ' ')
            length--;
        VV_TRY(vv_intern_add(&building->dag->strings, text, length, out_inputs, error));
        *input = *out_inputs + 1;
        arrow = arrow != NULL ? arrow + 2 : "";
        VV_TRY(vv_dag_text(building->dag, arrow + strspn(arrow, " "), out_outputs, error));
        *output = *out_outputs + 1;
    }
    *out_inputs = *input - 1;
    *out_outputs = *output - 1;
    return VARVE_OK;
}

enum varve_code vv_graph_tensor(struct vv_graph_building *building, uint32_t tensor,
                                uint32_t *out_text, uint64_t *out_bytes, struct varve_error *error)
{
    const struct vv_model *model = building->model;
    const int64_t *dims = &model->dims.size[model->tensors.first_dim[tensor]];
    double bytes = vv_dtype_bytes(model->tensors.dtype[tensor]);
    char text[300] = "[";
    size_t at = 1;
    for (uint32_t d = 0; d < model->tensors.rank[tensor] && at + 40 < sizeof text; d++) {
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%" PRId64, d > 0 ? "," : "",
                               dims[d]);
        bytes = dims[d] >= 0 ? bytes * (double)dims[d] : 0;
    }
    const char *dtype = vv_dtype_text(model->tensors.dtype[tensor]);
    snprintf(text + at, sizeof text - at, "]%s%s", dtype[0] != '\0' ? " " : "", dtype);
    *out_bytes = bytes > 0 && bytes < 1e18 ? (uint64_t)bytes : 0;
    return vv_dag_text(building->dag, text, out_text, error);
}
