/* SPDX-License-Identifier: Apache-2.0 */
/* trace.c — opens traces, and hands out the tables of their model. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyse/tables.h"
#include "base/text/nearest.h"
#include "import/gather.h"
#include "import/importer.h"
#include "machine/peak_file.h"
#include "reader/handles.h"

static enum varve_code read_options(const struct varve_open_options *options,
                                    struct vv_import_options *out_options,
                                    struct varve_error *error)
{
    struct varve_open_options ours;
    VV_TRY(vv_sized_take(options, sizeof ours, &ours, sizeof ours, "varve_trace_open", error));
    if (ours.step_by != NULL && ours.step_by[strspn(ours.step_by, ".")] == '\0')
        VV_FAIL(error, VARVE_INVALID, "varve_trace_open: step_by is a name, not '%s'",
                ours.step_by);
    *out_options = (struct vv_import_options){
        .max_memory_bytes = ours.max_memory_bytes, .is_bound_by_size = ours.max_memory_bytes == 0,
        .step_by = ours.step_by, .step_thread = ours.step_thread, .threads = ours.threads,
    };
    if (ours.max_memory_bytes == 0)
        out_options->max_memory_bytes =
            (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 4 * 3;
    return VARVE_OK;
}

static enum varve_code check_paths(const char *const *paths, size_t count,
                                   struct varve_error *error)
{
    if (paths == NULL || count == 0)
        VV_FAIL(error, VARVE_INVALID, "varve_trace_open: there is no path");
    for (size_t i = 0; i < count; i++)
        if (paths[i] == NULL)
            VV_FAIL(error, VARVE_INVALID, "varve_trace_open: path %zu is NULL", i);
    return VARVE_OK;
}

static enum varve_code count_findings(struct varve_trace *trace, struct varve_error *error)
{
    const struct vv_question question = VV_QUESTION_ALL;
    const struct vv_table_entry *health;
    struct vv_sheet sheet;
    VV_TRY(vv_table_find("health", &health, error));
    VV_TRY(vv_analyse(health->analyse, trace->model, &question, &sheet, error));
    trace->findings = sheet.row_count;
    vv_sheet_deinit(&sheet);
    return VARVE_OK;
}

static enum varve_code fill(struct varve_trace *trace, const char *const *paths, size_t count,
                            const struct vv_import_options *options, struct varve_error *error)
{
    struct vv_import_options how = *options;
    struct vv_gathered gathered;
    VV_TRY(vv_gather(paths, count, NULL, &gathered, error));
    how.named_bytes = gathered.named_bytes;
    enum varve_code code = vv_import_all((const char *const *)gathered.paths, gathered.count, &how,
                                         &trace->model, error);
    if (code == VARVE_OK)
        code = vv_gather_name_inputs(&gathered, trace->model, error);
    else
        code = vv_gather_name_error(&gathered, code, error);
    vv_gather_end(&gathered);
    VV_TRY(code);
    trace->model->step_by = trace->model->step_thread = NULL; /* the caller's, until now          */
    for (size_t t = 0; t < VV_TABLE_COUNT; t++)
        trace->tables[t] = vv_table_of(
            (const struct vv_table *)((const char *)trace->model + vv_model_tables[t].table_offset),
            (enum vv_table_row)t, &trace->model->strings);
    trace->has_peaks = vv_peak_file_of_run(trace->model, &trace->peaks);
    return count_findings(trace, error);
}

enum varve_code varve_trace_open(const char *const *paths, size_t path_count,
                                 const struct varve_open_options *options,
                                 struct varve_trace **out_trace, struct varve_error *error)
{
    struct vv_import_options how;
    if (out_trace == NULL)
        VV_FAIL(error, VARVE_INVALID, "varve_trace_open: there is no place for the result");
    VV_TRY(read_options(options, &how, error));
    VV_TRY(check_paths(paths, path_count, error));
    struct varve_trace *trace = calloc(1, sizeof *trace);
    if (trace == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for a trace");
    enum varve_code code = fill(trace, paths, path_count, &how, error);
    if (code == VARVE_OK)
        *out_trace = trace;
    else
        varve_trace_close(trace);
    return code;
}

void varve_trace_close(struct varve_trace *trace)
{
    if (trace == NULL)
        return;
    vv_model_destroy(trace->model);
    free(trace);
}

enum varve_code varve_trace_describe(const struct varve_trace *trace,
                                     struct varve_trace_info *out_info, struct varve_error *error)
{
    if (trace == NULL)
        VV_FAIL(error, VARVE_INVALID, "varve_trace_describe: the trace is NULL");
    const struct vv_model *model = trace->model;
    const struct varve_trace_info info = {
        .path_count = (uint32_t)model->inputs.table.count,
        .format = vv_intern_text(&model->strings, model->inputs.format[0]),
        .events = model->run.events, .lost = model->run.lost, .findings = trace->findings,
        .truncated_files = model->health.truncated_files,
        .begin_ns = model->run.begin_ns, .end_ns = model->run.end_ns,
    };
    return vv_sized_give(&info, sizeof info, sizeof info, out_info, "varve_trace_describe", error);
}

const char *varve_trace_table_name(size_t index)
{
    return index < VV_TABLE_COUNT ? vv_model_tables[index].name : NULL;
}

enum varve_code varve_trace_table(const struct varve_trace *trace, const char *name,
                                  const struct varve_table **out_table, struct varve_error *error)
{
    const char *names[VV_TABLE_COUNT + 1] = { NULL };
    if (trace == NULL || name == NULL || out_table == NULL)
        VV_FAIL(error, VARVE_INVALID, "varve_trace_table: an argument is NULL");
    for (size_t t = 0; t < VV_TABLE_COUNT; t++) {
        names[t] = vv_model_tables[t].name;
        if (strcmp(names[t], name) == 0) {
            *out_table = &trace->tables[t];
            return VARVE_OK;
        }
    }
    const char *nearest = vv_nearest(name, names);
    VV_FAIL(error, VARVE_NOT_FOUND, "a trace has no table '%.60s'%s%s", name,
            nearest != NULL ? ". Nearest: " : "", nearest != NULL ? nearest : "");
}
