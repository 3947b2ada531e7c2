/* SPDX-License-Identifier: Apache-2.0 */
/* importer.c — the table of formats, and what all of them have in common: find out by content which
 * one it is, read, add up, finish. */
#include "import/importer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define SHOWN_BYTES 10u

static const struct vv_importer *const importers[] = { &vv_importer_varve };
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

static enum varve_code refuse(const char *path, bool is_folder, const char *head,
                              size_t head_bytes, struct varve_error *error)
{
    char known[128] = "", shown[SHOWN_BYTES * 4 + 1], why[sizeof shown + 32];
    list_formats(known, sizeof known);
    show_head(head, head_bytes, shown);
    if (is_folder)
        snprintf(why, sizeof why, "a folder without metadata");
    else if (head_bytes == 0)
        snprintf(why, sizeof why, "the file is empty");
    else
        snprintf(why, sizeof why, "first bytes: \"%s\"", shown);
    VV_FAIL(error, VARVE_UNSUPPORTED, "'%s' is not a trace that varve knows (%s); known: %s", path,
            why, known);
}

static enum varve_code find_importer(const struct vv_import_job *job,
                                     const struct vv_importer **out_importer,
                                     struct varve_error *error)
{
    size_t head_bytes = 0;
    const char *head = job->source != NULL ? vv_source_head(job->source, &head_bytes) : "";
    for (size_t i = 0; i < IMPORTER_COUNT; i++) {
        if (importers[i]->probe(job->path, job->source == NULL, head, head_bytes)) {
            *out_importer = importers[i];
            return VARVE_OK;
        }
    }
    return refuse(job->path, job->source == NULL, head, head_bytes, error);
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

static enum varve_code read_job(struct vv_import_job *job, struct varve_error *error)
{
    const struct vv_importer *importer;
    struct stat status;
    if (stat(job->path, &status) != 0)
        return vv_fail_errno(error, errno, "cannot read '%s'", job->path);
    if (!S_ISDIR(status.st_mode))
        VV_TRY(vv_source_open(job->path, &job->source, error));
    if (job->source != NULL && job->options->progress != NULL)
        vv_source_watch(job->source, job->options->progress, job->options->progress_context);
    enum varve_code code = find_importer(job, &importer, error);
    if (code == VARVE_OK)
        code = importer->read(job, error);
    vv_source_close(job->source);
    return code;
}

enum varve_code vv_import_all(const char *const *paths, size_t count,
                              const struct vv_import_options *options, struct vv_model **out_model,
                              struct varve_error *error)
{
    static const struct vv_import_options standard = { 0 };
    struct vv_model *model;
    if (options == NULL)
        options = &standard;
    VV_TRY(vv_model_create(&model, error));
    model->counts_only = options->counts_only;
    enum varve_code code = VARVE_OK;
    for (size_t i = 0; i < count && code == VARVE_OK; i++) {
        struct vv_import_job job = { paths[i], NULL, model, (uint32_t)i, options };
        code = read_job(&job, error);
    }
    if (code == VARVE_OK) {
        add_up(model);
        code = vv_model_finish(model, error);
    }
    if (code != VARVE_OK) {
        vv_model_destroy(model);
        return code;
    }
    *out_model = model;
    return VARVE_OK;
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
