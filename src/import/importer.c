/* SPDX-License-Identifier: Apache-2.0 */
/* importer.c — the steps that all formats (formats.h) share: find the format, read the file, join
 * the parts of split traces, add up, finish. */
#include "import/importer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sum.h"
#include "base/system/folder.h"
#include "import/parts.h"
#include "import/rows/producer_words.h"
#include "import/unknown.h"

/* NULL: no importer. Then `error` says how the file begins and what to do. */
static const struct vv_importer *find_importer(const struct vv_import_job *job,
                                               struct varve_error *error)
{
    size_t head_bytes = 0;
    const char *head = job->source != NULL ? vv_source_head(job->source, &head_bytes) : "";
    const struct vv_importer *importer =
        vv_importer_of(job->path, job->source == NULL, head, head_bytes);
    if (importer == NULL)
        (void)vv_refuse_unknown(job->path, job->source == NULL, head, head_bytes, error);
    return importer;
}

/* A process without records has no begin and end. Where no process has, the run's end is what its
 * manifest says. */
static void add_up(struct vv_model *model)
{
    const struct vv_processes *processes = &model->processes;
    struct vv_run *run = &model->run;
    double cost_ns = 0;
    bool is_cost_known = true; /* the cost of records that a flight recorder removed is not known */
    for (uint64_t row = 0; row < processes->table.count; row++) {
        if (processes->events[row] > 0) {
            if (run->events == 0 || processes->begin_ns[row] < run->begin_ns)
                run->begin_ns = processes->begin_ns[row];
            if (run->events == 0 || processes->end_ns[row] > run->end_ns)
                run->end_ns = processes->end_ns[row];
        }
        run->events += processes->events[row];
        run->lost += processes->lost[row];
        is_cost_known = is_cost_known && !processes->forgot[row];
        if (processes->record_cost_ps[row] > 0)
            cost_ns +=
                (double)processes->record_cost_ps[row] / 1000 * (double)processes->events[row] +
                (double)processes->slow_ns[row];
        if (processes->clock_uncertainty_ns[row] > run->clock_uncertainty_ns)
            run->clock_uncertainty_ns = processes->clock_uncertainty_ns[row];
    }
    run->lost +=
        run->lost_homeless < UINT64_MAX - run->lost ? run->lost_homeless : UINT64_MAX - run->lost;
    if (run->events == 0 && run->end_ns < run->begin_ns)
        run->end_ns = run->begin_ns;
    if (is_cost_known && cost_ns > 0 && cost_ns < 9e18)
        run->record_cost_ns = (int64_t)cost_ns;
}

/* ---- reading ---- */

/* Adds the bytes of one input to those of the inputs before it, for the progress of all inputs. */
struct watch {
    const struct vv_import_options *options;
    uint64_t before_bytes, total_bytes;
};

struct input {
    struct vv_import_job job;
    struct watch watch;
    uint64_t events, disk_bytes;
};

/* The reading of all inputs of a run. */
struct reading {
    const char *const *paths;
    size_t count;
    const struct vv_import_options *options;
    struct vv_model *model;
    struct input *inputs;
    struct vv_input_part *parts;                /* one for each input */
    const struct vv_import_job **members; /* of the trace that is being read                    */
    uint64_t opened_bytes, total_bytes;
};

static void report_progress(void *context, uint64_t done_bytes, uint64_t total_bytes)
{
    const struct watch *watch = context;
    uint64_t done = watch->before_bytes + done_bytes;
    (void)total_bytes;
    watch->options->progress(watch->options->progress_context, done,
                             done > watch->total_bytes ? done : watch->total_bytes);
}

static uint64_t file_bytes(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) ? (uint64_t)status.st_size : 0;
}

/* The bytes of a trace folder and its process folders. Files that cannot be examined count 0. */
static int64_t folder_bytes(int folder, unsigned depth_left)
{
    _Alignas(8) char buffer[2048];
    struct vv_folder_list list;
    struct stat status;
    int64_t bytes = 0;
    int below;
    vv_folder_list_init(&list, folder, buffer, sizeof buffer);
    for (const char *name; (name = vv_folder_list_next(&list)) != NULL;) {
        if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (S_ISREG(status.st_mode))
            bytes = vv_sum(bytes, status.st_size);
        if (!S_ISDIR(status.st_mode) || depth_left == 0 ||
            vv_folder_open_below(folder, name, &below) != 0)
            continue;
        bytes = vv_sum(bytes, folder_bytes(below, depth_left - 1));
        close(below);
    }
    return bytes;
}

/* 0: the path is no folder, or cannot be opened. */
static uint64_t bytes_of_folder(const char *path)
{
    int folder;
    if (vv_folder_open(AT_FDCWD, path, &folder) != 0)
        return 0;
    uint64_t bytes = (uint64_t)folder_bytes(folder, 1);
    close(folder);
    return bytes;
}

/* The most bytes that the model may hold. The limit protects against files of strangers
 * (doc/safety.md). */
static uint64_t limit_of(const struct reading *reading)
{
    uint64_t most = reading->options->max_memory_bytes;
    int64_t bytes;
    if (!reading->options->is_bound_by_size)
        return most;
    bytes = (int64_t)reading->options->named_bytes;
    for (size_t i = 0; i < reading->count && reading->options->named_bytes == 0; i++) {
        bytes = vv_sum(bytes, (int64_t)file_bytes(reading->paths[i]));
        bytes = vv_sum(bytes, (int64_t)bytes_of_folder(reading->paths[i]));
    }
    bool is_huge = bytes > INT64_MAX / VV_SOURCE_GROWTH_MAX;
    uint64_t limit =
        is_huge ? UINT64_MAX : VV_SOURCE_GROWN_BYTES_MIN + VV_SOURCE_GROWTH_MAX * (uint64_t)bytes;
    return most == 0 || limit < most ? limit : most;
}

static enum varve_code open_input(struct reading *reading, size_t number, struct varve_error *error)
{
    struct input *input = &reading->inputs[number];
    struct vv_import_job *job = &input->job;
    struct stat status;
    *job = (struct vv_import_job){ reading->paths[number], NULL,
                                   reading->model,         reading->parts[number].scope,
                                   reading->options,       &reading->parts[number].format,
                                   &reading->parts[number].named };
    if (stat(job->path, &status) != 0)
        return vv_fail_errno(error, errno, "cannot read '%s'", job->path);
    if (S_ISDIR(status.st_mode)) {
        input->disk_bytes = bytes_of_folder(job->path);
        return VARVE_OK;
    }
    VV_TRY(vv_source_open(job->path, &job->source, error));
    input->watch = (struct watch){ reading->options, reading->opened_bytes, reading->total_bytes };
    input->disk_bytes = vv_source_disk_bytes(job->source);
    reading->opened_bytes += input->disk_bytes;
    if (reading->options->progress != NULL)
        vv_source_watch(job->source, report_progress, &input->watch);
    return VARVE_OK;
}

/* True if the input is read together with an earlier input. False until both are known to be parts
 * of one trace. */
static bool is_read_before(const struct reading *reading, size_t number)
{
    return reading->parts[number].scope != number &&
           reading->parts[number].importer->read_parts != NULL;
}

static enum varve_code read_members(struct reading *reading, size_t first, size_t count,
                                    struct varve_error *error)
{
    const struct vv_import_job *job = &reading->inputs[first].job;
    const struct vv_importer *importer = find_importer(job, error);
    if (importer == NULL)
        return VARVE_UNSUPPORTED;
    reading->parts[first].importer = importer;
    reading->parts[first].format = importer->name;
    reading->parts[first].is_file = job->source != NULL;
    enum varve_code code = count == 1 ? importer->read(job, error)
                                      : importer->read_parts(reading->members, count, error);
    if (code != VARVE_OK && error != NULL && count == 1 &&
        strstr(error->message, job->path) == NULL)
        vv_error_note(error, "'%s'", job->path);
    if (count == 1)
        (void)vv_source_place(job->source, code, error);
    return code;
}

/* Reads an input, and the later inputs that are read together with it. */
static enum varve_code read_trace(struct reading *reading, size_t first, struct varve_error *error)
{
    enum varve_code code = VARVE_OK;
    size_t count = 0;
    for (size_t i = first; i < reading->count && code == VARVE_OK; i++) {
        bool is_member =
            i == first || (reading->parts[i].scope == first && is_read_before(reading, i));
        if (is_member && (code = open_input(reading, i, error)) == VARVE_OK)
            reading->members[count++] = &reading->inputs[i].job;
    }
    if (code == VARVE_OK)
        code = read_members(reading, first, count, error);
    for (size_t i = 0; i < count; i++)
        vv_source_close(reading->members[i]->source); /* from here on none of its threads reports
                                                         progress */
    return code;
}

static enum varve_code read_inputs(struct reading *reading, struct varve_error *error)
{
    const struct vv_model *model = reading->model;
    for (size_t i = 0; i < reading->count; i++) {
        struct vv_input_part *part = &reading->parts[i];
        part->first_process = model->processes.table.count;
        part->first_fact = model->facts.table.count;
        part->first_activity = model->activities.table.count;
        if (!is_read_before(reading, i))
            VV_TRY(read_trace(reading, i, error));
        part->process_limit = model->processes.table.count;
        part->fact_limit = model->facts.table.count;
        part->activity_limit = model->activities.table.count;
    }
    return VARVE_OK;
}

/* ---- which comes last ---- */

/* Does the input complete others? What cannot be opened says so when it is read. */
static bool comes_last(const char *path)
{
    struct varve_error ignored;
    struct vv_source *source = NULL;
    struct stat status;
    size_t head_bytes = 0;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) ||
        vv_source_open(path, &source, &ignored) != VARVE_OK)
        return false;
    const char *head = vv_source_head(source, &head_bytes);
    const struct vv_importer *importer = vv_importer_of(path, false, head, head_bytes);
    bool is_last = importer != NULL && importer->comes_last;
    vv_source_close(source);
    return is_last;
}

/* Puts inputs that complete others behind them. `out_paths` has room for all. */
static void put_last(const char *const *paths, size_t count, const char **out_paths)
{
    size_t first = 0, last = count;
    for (size_t i = count; i-- > 0;)
        if (count > 1 && comes_last(paths[i]))
            out_paths[--last] = paths[i];
    for (size_t i = 0, later = last; i < count; i++)
        if (later < count && paths[i] == out_paths[later])
            later++;
        else
            out_paths[first++] = paths[i];
}

/* ---- the whole run ---- */

static enum varve_code begin_model(struct reading *reading, struct varve_error *error)
{
    vv_model_destroy(reading->model);
    reading->model = NULL;
    VV_TRY(vv_model_create(&reading->model, error));
    reading->model->counts_only = reading->options->counts_only;
    reading->model->step_by = reading->options->step_by;
    reading->model->step_thread = reading->options->step_thread;
    reading->model->limit_bytes = limit_of(reading);
    return VARVE_OK;
}

/* Only when all inputs have been read is it known which of them are parts of one trace. If the
 * format allows it, these parts are read again together: an event may be in one part, and its
 * partner in another. */
static enum varve_code join_parts(struct reading *reading, struct varve_error *error)
{
    bool is_read_again = false, has_rows_to_join = false;
    VV_TRY(vv_parts_find(reading->model, reading->parts, reading->count, error));
    for (size_t i = 0; i < reading->count; i++) {
        bool is_further = reading->parts[i].scope != i;
        is_read_again = is_read_again || is_read_before(reading, i);
        has_rows_to_join = has_rows_to_join || (is_further && !is_read_before(reading, i));
    }
    if (is_read_again) {
        reading->total_bytes *= 2;
        VV_TRY(begin_model(reading, error));
        VV_TRY(read_inputs(reading, error));
    }
    if (has_rows_to_join)
        return vv_parts_merge(reading->model, reading->parts, reading->count, error);
    return is_read_again ? vv_parts_merge_facts(reading->model, error) : VARVE_OK;
}

/* Gives devices the scope of their trace, because inputs may be parts of other inputs. */
static void join_devices(const struct reading *reading)
{
    const struct vv_devices *devices = &reading->model->devices;
    for (uint64_t row = 0; row < devices->table.count; row++)
        devices->scope[row] = reading->parts[devices->scope[row]].scope;
}

static enum varve_code add_inputs(const struct reading *reading, struct varve_error *error)
{
    struct vv_model *model = reading->model;
    struct vv_inputs *rows = &model->inputs;
    for (size_t i = 0; i < reading->count; i++) {
        uint32_t row;
        VV_TRY(vv_model_add_input(model, &row, error));
        VV_TRY(vv_model_text(model, reading->paths[i], &rows->path[row], error));
        VV_TRY(vv_model_text(model, reading->parts[i].format, &rows->format[row], error));
        rows->scope[row] = reading->parts[i].scope;
        rows->disk_bytes[row] = reading->inputs[i].disk_bytes;
        rows->events[row] = reading->inputs[i].events;
    }
    return VARVE_OK;
}

static enum varve_code read_all(struct reading *reading, struct varve_error *error)
{
    for (size_t i = 0; i < reading->count; i++) {
        reading->parts[i].scope = (uint32_t)i;
        reading->total_bytes += file_bytes(reading->paths[i]);
    }
    VV_TRY(begin_model(reading, error));
    VV_TRY(read_inputs(reading, error));
    for (size_t i = 0; i < reading->count; i++)
        for (uint64_t p = reading->parts[i].first_process; p < reading->parts[i].process_limit; p++)
            reading->inputs[i].events += reading->model->processes.events[p];
    VV_TRY(join_parts(reading, error));
    join_devices(reading);
    VV_TRY(add_inputs(reading, error));
    add_up(reading->model);
    VV_TRY(vv_words_to_columns(reading->model, error));
    return vv_model_finish(reading->model, error);
}

static void forget(struct reading *reading)
{
    for (size_t i = 0; i < reading->count && reading->parts != NULL; i++)
        free(reading->parts[i].named.items);
    free(reading->parts);
    free(reading->inputs);
    free(reading->members);
}

enum varve_code vv_import_all(const char *const *paths, size_t count,
                              const struct vv_import_options *options, struct vv_model **out_model,
                              struct varve_error *error)
{
    static const struct vv_import_options standard = { 0 };
    struct reading reading = { .count = count,
                               .options = options != NULL ? options : &standard };
    const char **ordered = calloc(count + 1, sizeof *ordered);
    reading.parts = calloc(count + 1, sizeof *reading.parts);
    reading.inputs = calloc(count + 1, sizeof *reading.inputs);
    reading.members = calloc(count + 1, sizeof *reading.members);
    enum varve_code code;
    if (ordered == NULL || reading.parts == NULL || reading.inputs == NULL ||
        reading.members == NULL) {
        code = vv_fail(error, VARVE_NO_MEMORY, "no memory to read %zu traces", count);
    } else {
        put_last(paths, count, ordered);
        reading.paths = ordered;
        code = read_all(&reading, error);
    }
    forget(&reading);
    free(ordered);
    if (code == VARVE_OK)
        *out_model = reading.model;
    else
        vv_model_destroy(reading.model);
    return code;
}

enum varve_code vv_paths_differ(const char *const *paths, size_t count, struct varve_error *error)
{
    enum varve_code code = VARVE_OK;
    struct stat *files = calloc(count + 1, sizeof *files);
    if (files == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the names of traces");
    for (size_t i = 0; i < count && code == VARVE_OK; i++) {
        bool is_there = stat(paths[i], &files[i]) == 0;
        for (size_t j = 0; j < i && is_there; j++)
            if (files[i].st_ino == files[j].st_ino && files[i].st_dev == files[j].st_dev)
                code = vv_fail(error, VARVE_INVALID, "'%s' is named twice", paths[i]);
    }
    free(files);
    return code;
}

enum varve_code vv_import(const char *path, struct vv_model **out_model, struct varve_error *error)
{
    return vv_import_all(&path, 1, NULL, out_model, error);
}

enum varve_code vv_import_counts(const char *path, struct vv_model **out_model,
                                 struct varve_error *error)
{
    const struct vv_import_options options = { .counts_only = true };
    return vv_import_all(&path, 1, &options, out_model, error);
}
