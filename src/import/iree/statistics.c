/* SPDX-License-Identifier: Apache-2.0 */
/* statistics.c — what iree-benchmark-module --dispatch_statistics --benchmark_format=json writes:
 * the form of Google Benchmark, with a row for each benchmark and one for each function that it
 * dispatched. A row has the mean of an iteration; the model gets the sum of all iterations. No row
 * has an instant, so they lie one after another, and count as unplaced. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/iree/iree.h"
#include "import/rows/extent.h"
#include "varve/varve.h"

static bool probe(const char *path, bool is_folder, const char *head, size_t head_bytes)
{
    struct vv_json json;
    bool is_executable = false, is_ours = false;
    (void)path;
    if (is_folder)
        return false;
    vv_json_init_text(&json, head, head_bytes);
    bool is_context = vv_json_next(&json, NULL) == VARVE_OK && json.token == VV_JSON_OBJECT &&
                      vv_json_next(&json, NULL) == VARVE_OK && json.token == VV_JSON_NAME &&
                      vv_json_is(&json, "context");
    while (is_context && !is_ours && vv_json_next(&json, NULL) == VARVE_OK &&
           json.token != VV_JSON_END && json.depth > 1) {
        is_ours = is_executable && json.token == VV_JSON_STRING &&
                  strstr(json.text, "iree-benchmark") != NULL;
        is_executable = json.token == VV_JSON_NAME && vv_json_is(&json, "executable");
    }
    vv_json_deinit(&json);
    return is_ours;
}

/* ---- rows ---- */

static const struct { const char *word; double ns; } units[] = {
    { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 },
};

struct row {
    char name[256];
    double real, cpu, calls, iterations, unit_ns;
    bool is_iteration, has_unit;
};

static const struct { const char *word; size_t offset; } numbers[] = {
    { "real_time", offsetof(struct row, real) },
    { "cpu_time", offsetof(struct row, cpu) },
    { "calls", offsetof(struct row, calls) },
    { "iterations", offsetof(struct row, iterations) },
};

struct statistics {
    struct vv_json json;
    struct vv_model *model;
    uint32_t process, device_track, host_track;
    int64_t device_ns, host_ns; /* where the next row begins                                    */
};

static void take_text(struct row *row, const char *member, const char *text)
{
    if (strcmp(member, "name") == 0)
        snprintf(row->name, sizeof row->name, "%s", text);
    else if (strcmp(member, "run_type") == 0)
        row->is_iteration = strcmp(text, "iteration") == 0;
    for (size_t i = 0; strcmp(member, "time_unit") == 0 && i < sizeof units / sizeof *units; i++)
        if (strcmp(text, units[i].word) == 0)
            row->unit_ns = units[i].ns, row->has_unit = true;
}

static enum varve_code read_row(struct vv_json *json, struct row *row, struct varve_error *error)
{
    char member[64];
    for (;;) {
        VV_TRY(vv_json_next(json, error));
        if (json->token != VV_JSON_NAME)
            return VARVE_OK;
        snprintf(member, sizeof member, "%s", json->text);
        VV_TRY(vv_json_next(json, error));
        bool is_number = json->token == VV_JSON_INTEGER || json->token == VV_JSON_REAL;
        for (size_t i = 0; is_number && i < sizeof numbers / sizeof *numbers; i++)
            if (strcmp(member, numbers[i].word) == 0)
                *(double *)(void *)((char *)row + numbers[i].offset) = json->real;
        if (json->token == VV_JSON_STRING)
            take_text(row, member, json->text);
        VV_TRY(vv_json_skip(json, error));
    }
}

/* False: not a time that a sum can be made of. */
static bool sum_of(const struct row *row, double mean, int64_t *out_ns)
{
    double ns = mean * row->unit_ns * row->iterations;
    bool is_sound = isfinite(ns) && ns >= 0 && ns < 1e15;
    *out_ns = is_sound ? llround(ns) : 0;
    return is_sound;
}

static enum varve_code say(struct statistics *statistics, uint32_t slice, const char *key,
                           int64_t value, struct varve_error *error)
{
    uint32_t word;
    VV_TRY(vv_model_text(statistics->model, key, &word, error));
    return vv_attribute_to_slice(statistics->model, slice, word, vv_attribute_int(value), error);
}

static enum varve_code add_track(struct statistics *statistics, bool is_dispatch,
                                 uint32_t *out_track, struct varve_error *error)
{
    struct vv_tracks *tracks = &statistics->model->tracks;
    uint32_t *place = is_dispatch ? &statistics->device_track : &statistics->host_track;
    if (*place == VV_NONE) {
        VV_TRY(vv_model_add_track(statistics->model, place, error));
        tracks->process[*place] = statistics->process;
        tracks->kind[*place] = is_dispatch ? VV_TRACK_DEVICE : VV_TRACK_THREAD;
        tracks->device[*place] = is_dispatch ? VARVE_DEVICE_CPU : VV_NONE;
        VV_TRY(vv_model_text(statistics->model, is_dispatch ? "dispatches" : "benchmarks",
                             &tracks->name[*place], error));
    }
    *out_track = *place;
    return VARVE_OK;
}

static enum varve_code add_kernel(struct vv_model *model, uint32_t slice, struct varve_error *error)
{
    uint32_t activity;
    VV_TRY(vv_model_add_activity(model, &activity, error));
    model->slices.activity[slice] = activity;
    model->activities.kind[activity] = VV_ACTIVITY_KERNEL;
    model->activities.device[activity] = VARVE_DEVICE_CPU;
    return VARVE_OK;
}

/* "BM_main/main_dispatch_3_matmul": the function comes after the benchmark's name. */
static enum varve_code add_row(struct statistics *statistics, const struct row *row,
                               struct varve_error *error)
{
    struct vv_model *model = statistics->model;
    struct vv_slices *slices = &model->slices;
    bool is_dispatch = row->calls > 0;
    const char *slash = strchr(row->name, '/');
    const char *name = is_dispatch && slash != NULL ? slash + 1 : row->name;
    int64_t total_ns, cpu_ns, *next_ns = is_dispatch ? &statistics->device_ns
                                                     : &statistics->host_ns;
    uint32_t slice, track;
    if (!row->is_iteration || !row->has_unit || !sum_of(row, row->real, &total_ns) ||
        *next_ns > INT64_C(1) << 60) {
        model->health.ignored += row->is_iteration;
        return VARVE_OK;
    }
    VV_TRY(add_track(statistics, is_dispatch, &track, error));
    VV_TRY(vv_model_add_slice(model, &slice, error));
    VV_TRY(vv_model_text(model, name, &slices->name[slice], error));
    VV_TRY(vv_model_text(model, is_dispatch ? "dispatch" : "benchmark", &slices->category[slice],
                         error));
    slices->begin_ns[slice] = *next_ns;
    slices->duration_ns[slice] = total_ns;
    slices->track[slice] = track;
    slices->layer[slice] = is_dispatch ? VARVE_LAYER_DEVICE : VARVE_LAYER_API;
    slices->order[slice] = slice;
    *next_ns += total_ns;
    model->health.unplaced++;
    vv_extent_take(model, statistics->process, slices->begin_ns[slice], *next_ns);
    if (is_dispatch)
        VV_TRY(add_kernel(model, slice, error));
    VV_TRY(say(statistics, slice, "iterations", llround(fmin(row->iterations, 1e15)), error));
    if (is_dispatch)
        VV_TRY(say(statistics, slice, "calls", llround(fmin(row->calls * row->iterations, 1e15)),
                   error));
    return sum_of(row, row->cpu, &cpu_ns) ? say(statistics, slice, "cpu_ns", cpu_ns, error)
                                          : VARVE_OK;
}

static enum varve_code read_rows(struct statistics *statistics, struct varve_error *error)
{
    struct vv_json *json = &statistics->json;
    if (json->token != VV_JSON_ARRAY)
        return vv_fail_at(error, VARVE_CORRUPT, json->offset, "\"benchmarks\" must be an array");
    for (;;) {
        struct row row = { .calls = 0 };
        VV_TRY(vv_json_next(json, error));
        if (json->token == VV_JSON_ARRAY_END)
            return VARVE_OK;
        if (json->token != VV_JSON_OBJECT) {
            VV_TRY(vv_json_skip(json, error));
            continue;
        }
        VV_TRY(read_row(json, &row, error));
        VV_TRY(add_row(statistics, &row, error));
    }
}

/* ---- the file ---- */

/* Of the context each member is a fact. */
static enum varve_code read_context(struct statistics *statistics, struct varve_error *error)
{
    struct vv_json *json = &statistics->json;
    if (json->token != VV_JSON_OBJECT)
        return vv_json_skip(json, error);
    for (;;) {
        struct vv_attribute value;
        char key[160];
        VV_TRY(vv_json_next(json, error));
        if (json->token != VV_JSON_NAME)
            return VARVE_OK;
        snprintf(key, sizeof key, "%s", json->text);
        VV_TRY(vv_json_next(json, error));
        VV_TRY(vv_attribute_take(json, statistics->model, &value, error));
        VV_TRY(vv_attribute_to_fact(statistics->model, statistics->process, key, value, error));
    }
}

static enum varve_code read_members(struct statistics *statistics, struct varve_error *error)
{
    struct vv_json *json = &statistics->json;
    VV_TRY(vv_json_next(json, error));
    if (json->token != VV_JSON_OBJECT)
        return vv_fail_at(error, VARVE_CORRUPT, json->offset, "an object is wanted");
    while (json->token != VV_JSON_END) {
        VV_TRY(vv_json_next(json, error));
        if (json->token != VV_JSON_NAME)
            continue;
        bool is_context = vv_json_is(json, "context"), is_rows = vv_json_is(json, "benchmarks");
        VV_TRY(vv_json_next(json, error));
        if (is_context)
            VV_TRY(read_context(statistics, error));
        else if (is_rows)
            VV_TRY(read_rows(statistics, error));
        else
            VV_TRY(vv_json_skip(json, error));
    }
    return VARVE_OK;
}

static enum varve_code read_statistics(const struct vv_import_job *job, struct varve_error *error)
{
    struct statistics statistics = { .model = job->model, .device_track = VV_NONE,
                                     .host_track = VV_NONE };
    struct vv_processes *processes = &job->model->processes;
    VV_TRY(vv_model_add_process(job->model, &statistics.process, error));
    processes->scope[statistics.process] = job->scope;
    processes->rank[statistics.process] = -1;
    processes->clock_uncertainty_ns[statistics.process] = -1;
    VV_TRY(vv_model_text(job->model, "IREE", &processes->name[statistics.process], error));
    enum varve_code code =
        vv_json_init_source(&statistics.json, vv_attribute_source, job->source, error);
    if (code == VARVE_OK)
        code = read_members(&statistics, error);
    if (code == VARVE_TRUNCATED) {
        job->model->health.truncated_files++;
        code = VARVE_OK;
    }
    vv_json_deinit(&statistics.json);
    return code;
}

const struct vv_importer vv_importer_iree_statistics = {
    .name = "iree statistics",
    .title = "IREE dispatch statistics",
    .probe = probe,
    .read = read_statistics,
};
