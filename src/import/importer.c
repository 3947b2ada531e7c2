/* SPDX-License-Identifier: Apache-2.0 */
/* importer.c — the table of formats, and what all of them have in common: find out by content which
 * one it is, read, join the parts of split traces, add up, finish. */
#include "import/importer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "import/parts.h"

#define SHOWN_BYTES 10u

/* Those that are told by a name of their own stand before Chrome's, of which there are many dialects. */
static const struct vv_importer *const importers[] = {
    &vv_importer_varve,
    &vv_importer_chrome,
    &vv_importer_mlirgraph,
    &vv_importer_rocprof,
    &vv_importer_xspace,
    &vv_importer_xspace_json,
    &vv_importer_perfetto,
    &vv_importer_nsys,
    &vv_importer_memory_plan,
};
#define IMPORTER_COUNT (sizeof importers / sizeof importers[0])

static void list_formats(char *out, size_t bytes)
{
    size_t length = 0;
    for (size_t i = 0; i < IMPORTER_COUNT && length < bytes; i++)
        length += (size_t)snprintf(out + length, bytes - length, "%s%s", i == 0 ? "" : ", ",
                                   importers[i]->title);
}

/* The first bytes as a reader can recognise them: printable ASCII, the rest as in C. */
static void show_head(const char *head, size_t head_bytes, char *out)
{
    for (size_t i = 0; i < head_bytes && i < SHOWN_BYTES; i++) {
        unsigned char byte = (unsigned char)head[i];
        if (byte >= ' ' && byte < 127 && byte != '"' && byte != '\\')
            out += sprintf(out, "%c", byte);
        else
            out += sprintf(out, "\\x%02x", byte);
    }
    *out = '\0';
}

/* What a file is that begins with these bytes, and what makes a trace of it. */
static const struct { const char *magic; size_t bytes; const char *hint; } hints[] = {
    { "VARVECA1", 8, "what varve keeps of another: name the trace itself" },
    { "\x1f\x8b", 2, "gzip within a compressed file: unpack it first" },
    { "\x28\xb5\x2f\xfd", 4, "zstd within a compressed file: unpack it first" },
    { "\xfd" "7zXZ", 5, "compressed by xz: unpack it first" },
    { "BZh", 3, "compressed by bzip2: unpack it first" },
    { "\x04\x22\x4d\x18", 4, "compressed by lz4: unpack it first" },
    { "PK\x03\x04", 4, "a zip archive: unpack it first" },
    { "\xff\xfe", 2, "UTF-16, it seems: convert it first:  iconv -f UTF-16 -t UTF-8" },
    { "\xfe\xff", 2, "UTF-16, it seems: convert it first:  iconv -f UTF-16 -t UTF-8" },
};

static const char *find_hint(const char *head, size_t head_bytes)
{
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (head_bytes >= hints[i].bytes && memcmp(head, hints[i].magic, hints[i].bytes) == 0)
            return hints[i].hint;
    return NULL;
}

static void refuse(const char *path, bool is_folder, const char *head,
                              size_t head_bytes, struct varve_error *error)
{
    char known[300] = "", shown[SHOWN_BYTES * 4 + 1], why[sizeof shown + 64];
    const char *hint = find_hint(head, head_bytes);
    list_formats(known, sizeof known);
    show_head(head, head_bytes, shown);
    if (is_folder)
        snprintf(why, sizeof why, "a folder without metadata");
    else if (head_bytes == 0)
        snprintf(why, sizeof why, "the file is empty");
    else if (hint != NULL)
        snprintf(why, sizeof why, "%s", hint);
    else
        snprintf(why, sizeof why, "first bytes: \"%s\"", shown);
    vv_fail(error, VARVE_UNSUPPORTED, "'%s' is not a trace that varve knows (%s); known: %s", path,
            why, known);
}

/* NULL: `error` says what the file begins with and what would do. */
static const struct vv_importer *find_importer(const struct vv_import_job *job, struct varve_error *error)
{
    size_t head_bytes = 0;
    const char *head = job->source != NULL ? vv_source_head(job->source, &head_bytes) : "";
    for (size_t i = 0; i < IMPORTER_COUNT; i++)
        if (importers[i]->probe(job->path, job->source == NULL, head, head_bytes))
            return importers[i];
    refuse(job->path, job->source == NULL, head, head_bytes, error);
    return NULL;
}

/* A process without records has no instants to count. */
static void add_up(struct vv_model *model)
{
    const struct vv_processes *processes = &model->processes;
    struct vv_run *run = &model->run;
    double cost_ns = 0;
    bool is_cost_known = true; /* not of records that a flight recorder has removed */
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
            cost_ns += (double)processes->record_cost_ps[row] / 1000 * (double)processes->events[row] +
                       (double)processes->slow_ns[row];
        if (processes->clock_uncertainty_ns[row] > run->clock_uncertainty_ns)
            run->clock_uncertainty_ns = processes->clock_uncertainty_ns[row];
    }
    if (run->events == 0)
        run->end_ns = run->begin_ns;
    if (is_cost_known && cost_ns > 0 && cost_ns < 9e18)
        run->record_cost_ns = (int64_t)cost_ns;
}

/* The bytes of one input after another, told as those of all. */
struct watch {
    const struct vv_import_options *options;
    uint64_t before_bytes, total_bytes;
};

static void tell(void *context, uint64_t done_bytes, uint64_t total_bytes)
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

static enum varve_code add_input(const struct vv_import_job *job, const struct vv_importer *importer,
                                 uint64_t first_process, struct varve_error *error)
{
    struct vv_model *model = job->model;
    uint32_t row;
    VV_TRY(vv_model_add_input(model, &row, error));
    VV_TRY(vv_model_text(model, job->path, &model->inputs.path[row], error));
    VV_TRY(vv_model_text(model, importer->name, &model->inputs.format[row], error));
    model->inputs.scope[row] = job->scope;
    if (job->source != NULL)
        model->inputs.disk_bytes[row] = vv_source_disk_bytes(job->source);
    for (uint64_t p = first_process; p < model->processes.table.count; p++)
        model->inputs.events[row] += model->processes.events[p];
    return VARVE_OK;
}

static enum varve_code read_source(struct vv_import_job *job, struct vv_part *out_part,
                                   struct varve_error *error)
{
    struct vv_model *model = job->model;
    const struct vv_importer *importer = find_importer(job, error);
    if (importer == NULL)
        return VARVE_UNSUPPORTED;
    *out_part = (struct vv_part){ .is_file = job->source != NULL,
                                  .format = importer->name,
                                  .scope = job->scope,
                                  .first_process = model->processes.table.count,
                                  .first_fact = model->facts.table.count,
                                  .first_activity = model->activities.table.count };
    VV_TRY(importer->read(job, error));
    out_part->process_limit = model->processes.table.count;
    out_part->fact_limit = model->facts.table.count;
    out_part->activity_limit = model->activities.table.count;
    return add_input(job, importer, out_part->first_process, error);
}

static enum varve_code read_job(struct vv_import_job *job, struct watch *watch,
                                struct vv_part *out_part, struct varve_error *error)
{
    struct stat status;
    if (stat(job->path, &status) != 0)
        return vv_fail_errno(error, errno, "cannot read '%s'", job->path);
    if (!S_ISDIR(status.st_mode))
        VV_TRY(vv_source_open(job->path, &job->source, error));
    if (job->source != NULL && job->options->progress != NULL)
        vv_source_watch(job->source, tell, watch);
    enum varve_code code = read_source(job, out_part, error);
    if (code != VARVE_OK && error != NULL && strstr(error->message, job->path) == NULL)
        vv_error_note(error, "'%s'", job->path);
    uint64_t bytes = job->source != NULL ? vv_source_disk_bytes(job->source) : 0;
    vv_source_close(job->source); /* from here on none of its threads tells anything               */
    watch->before_bytes += bytes;
    return code;
}

static enum varve_code read_all(struct vv_model *model, const char *const *paths, size_t count,
                                const struct vv_import_options *options, struct vv_part *parts,
                                struct varve_error *error)
{
    struct watch watch = { .options = options };
    for (size_t i = 0; i < count; i++)
        watch.total_bytes += file_bytes(paths[i]);
    for (size_t i = 0; i < count; i++) {
        struct vv_import_job job = { paths[i], NULL, model, (uint32_t)i, options };
        VV_TRY(read_job(&job, &watch, &parts[i], error));
    }
    VV_TRY(vv_parts_join(model, parts, count, error));
    add_up(model);
    return vv_model_finish(model, error);
}

enum varve_code vv_import_all(const char *const *paths, size_t count,
                              const struct vv_import_options *options, struct vv_model **out_model,
                              struct varve_error *error)
{
    static const struct vv_import_options standard = { 0 };
    struct vv_model *model;
    if (options == NULL)
        options = &standard;
    struct vv_part *parts = calloc(count + 1, sizeof *parts);
    if (parts == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to read %zu traces", count);
    enum varve_code code = vv_model_create(&model, error);
    if (code == VARVE_OK) {
        model->counts_only = options->counts_only;
        model->step_by = options->step_by;
        model->limit_bytes = options->max_memory_bytes;
        code = read_all(model, paths, count, options, parts, error);
        if (code == VARVE_OK)
            *out_model = model;
        else
            vv_model_destroy(model);
    }
    free(parts);
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
