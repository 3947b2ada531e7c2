/* SPDX-License-Identifier: Apache-2.0 */
/* execution_trace.c — the importer of PyTorch's execution traces. It is asked after the other
 * inputs of the run, because the profiler's trace of the same program may be among them. */
#include "import/torch/execution_trace.h"

#include <inttypes.h>
#include <stdio.h>

/* {"schema": "1.1.1-chakra.0.0.4", …, "nodes": [{… "ctrl_deps" or "rf_id" …  */
static bool probe(const char *path, bool is_folder, const char *head, size_t head_bytes)
{
    struct vv_json json;
    bool has_schema = false, is_ours = false;
    (void)path;
    if (is_folder)
        return false;
    vv_json_init_text(&json, head, head_bytes);
    while (!is_ours && vv_json_next(&json, NULL) == VARVE_OK && json.token != VV_JSON_END) {
        if (json.token != VV_JSON_NAME)
            continue;
        has_schema |= json.depth == 1 && vv_json_is(&json, "schema");
        is_ours = has_schema && ((json.depth == 3 && (vv_json_is(&json, "ctrl_deps") ||
                                                      vv_json_is(&json, "rf_id"))) ||
                                 (json.depth == 1 && vv_json_is(&json, "start_ts")));
    }
    vv_json_deinit(&json);
    return is_ours;
}

/* Says in a fact of the run how many operators got their tensors. */
static enum varve_code say_joined(struct vv_et *trace, uint64_t joined, struct varve_error *error)
{
    struct vv_model *model = trace->model;
    uint64_t named = 0;
    char text[80];
    uint32_t string;
    for (size_t i = 0; i < trace->nodes.count; i++)
        named += trace->nodes.items[i].rf_id != 0;
    model->health.unattached += named - joined;
    snprintf(text, sizeof text, "%" PRIu64 " of %" PRIu64 " operators are in the profiler's trace",
             joined, named);
    VV_TRY(vv_model_text(model, text, &string, error));
    return vv_attribute_to_fact(model, VV_NONE, "execution trace", vv_attribute_text(string),
                                error);
}

static enum varve_code put(struct vv_et *trace, struct varve_error *error)
{
    uint64_t joined;
    trace->model->health.truncated_files += trace->is_cut;
    for (size_t i = 0; i < trace->facts.count; i++)
        VV_TRY(vv_attribute_to_fact(
            trace->model, VV_NONE,
            vv_intern_text(&trace->model->strings, trace->facts.items[i].key),
            trace->facts.items[i].attribute, error));
    if (trace->model->counts_only)
        return VARVE_OK;
    VV_TRY(vv_et_join(trace, &joined, error));
    return joined > 0 ? say_joined(trace, joined, error) : vv_et_alone(trace, error);
}

static enum varve_code read_trace(const struct vv_import_job *job, struct varve_error *error)
{
    struct vv_et trace = { .job = job, .model = job->model, .pid = -1 };
    enum varve_code code = vv_et_read(&trace, error);
    if (code == VARVE_OK)
        code = put(&trace, error);
    vv_et_deinit(&trace);
    return code;
}

const struct vv_importer vv_importer_execution_trace = {
    .name = "execution_trace",
    .title = "PyTorch execution trace",
    .probe = probe,
    .read = read_trace,
    .comes_last = true,
    .is_recording = vv_is_always_recording,
};
