/* SPDX-License-Identifier: Apache-2.0 */
/* perf_script.c — reads the text that `perf script` prints, with or without call chains and lines
 * of the source. doc/formats.md. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "import/samples/samples.h"
#include "varve/varve.h"

enum { ROW_PROCESS, ROW_THREAD, ROW_SOURCE }; /* kinds of things in rows                         */

/* ---- lines ---- */

struct lines {
    const char *text;
    size_t length, at;
    uint64_t number;
};

static bool next_line(struct lines *lines, struct vv_perf_text *out_line)
{
    if (lines->at >= lines->length)
        return false;
    const char *begin = lines->text + lines->at;
    const char *end = memchr(begin, '\n', lines->length - lines->at);
    size_t length = end == NULL ? lines->length - lines->at : (size_t)(end - begin);
    lines->at += length + 1;
    lines->number++;
    while (length > 0 && begin[length - 1] == '\r')
        length--;
    *out_line = (struct vv_perf_text){ begin, length };
    return true;
}

static bool probe(const char *path, bool is_folder, const char *head, size_t head_bytes)
{
    struct lines lines = { .text = head, .length = head_bytes };
    struct vv_perf_text line;
    struct vv_perf_head found;
    (void)path;
    while (!is_folder && next_line(&lines, &line))
        if (line.length > 0 && *line.at != '#')
            return vv_perf_read_head(line, &found);
    return false;
}

/* ---- rows ---- */

static enum varve_code text_of(struct vv_perf_reading *reading, struct vv_perf_text text,
                               uint32_t *out_id, struct varve_error *error)
{
    return vv_model_add_text(reading->model, text.at, text.length, out_id, error);
}

/* Without a pid all threads are of one process. */
static enum varve_code process_of(struct vv_perf_reading *reading, const struct vv_perf_head *head,
                                  uint32_t *out_process, struct varve_error *error)
{
    const struct vv_row_key key = { { head->pid, 0, 0, ROW_PROCESS } };
    struct vv_processes *processes = &reading->model->processes;
    uint32_t *place;
    bool is_new;
    VV_TRY(vv_row_map_at(&reading->rows, &key, &place, &is_new, error));
    if (is_new) {
        VV_TRY(vv_model_add_process(reading->model, place, error));
        processes->pid[*place] = head->pid >= 0 ? head->pid : head->tid;
        processes->scope[*place] = reading->job->scope;
        processes->rank[*place] = -1;
        processes->clock_uncertainty_ns[*place] = -1;
        VV_TRY(text_of(reading, head->command, &processes->name[*place], error));
    }
    *out_process = *place;
    return VARVE_OK;
}

static enum varve_code track_of(struct vv_perf_reading *reading, const struct vv_perf_head *head,
                                uint32_t *out_track, struct varve_error *error)
{
    const struct vv_row_key key = { { head->pid, head->tid, 0, ROW_THREAD } };
    struct vv_tracks *tracks = &reading->model->tracks;
    uint32_t *place, process;
    bool is_new;
    VV_TRY(process_of(reading, head, &process, error));
    VV_TRY(vv_row_map_at(&reading->rows, &key, &place, &is_new, error));
    if (is_new) {
        VV_TRY(vv_model_add_track(reading->model, place, error));
        tracks->process[*place] = process;
        tracks->tid[*place] = head->tid;
        tracks->device[*place] = VV_NONE;
        tracks->kind[*place] = VV_TRACK_THREAD;
        VV_TRY(text_of(reading, head->command, &tracks->name[*place], error));
    }
    *out_track = *place;
    return VARVE_OK;
}

static enum varve_code source_of(struct vv_perf_reading *reading, struct vv_perf_text file,
                                 uint32_t line, uint32_t *out_source, struct varve_error *error)
{
    uint32_t string, *place;
    bool is_new;
    VV_TRY(text_of(reading, file, &string, error));
    const struct vv_row_key key = { { string, line, 0, ROW_SOURCE } };
    VV_TRY(vv_row_map_at(&reading->rows, &key, &place, &is_new, error));
    if (is_new) {
        VV_TRY(vv_model_add_source(reading->model, place, error));
        reading->model->sources.file[*place] = string;
        reading->model->sources.line[*place] = line;
    }
    *out_source = *place;
    return VARVE_OK;
}

/* A function without a name is called after the file that it is in. */
static enum varve_code add_place(struct vv_perf_reading *reading, const struct vv_perf_frame *frame,
                                 struct varve_error *error)
{
    static const struct vv_perf_text unknown = { "[unknown]", sizeof "[unknown]" - 1 };
    struct vv_perf_place place = { 0 };
    struct vv_perf_text name = frame->symbol;
    if (name.length == 0 || (name.length == unknown.length &&
                             memcmp(name.at, unknown.at, unknown.length) == 0)) {
        name = frame->object.length > 0 ? frame->object : unknown;
        for (size_t i = name.length; i-- > 0;)
            if (name.at[i] == '/') {
                name.at += i + 1;
                name.length -= i + 1;
                break;
            }
    }
    VV_TRY(text_of(reading, name, &place.name, error));
    VV_TRY(vv_array_reserve(&reading->places.items, &reading->places.capacity,
                            reading->places.count + 1, sizeof place, error));
    if (reading->places.count >= UINT32_MAX - 1)
        VV_FAIL(error, VARVE_LIMIT, "more than %u frames of samples", UINT32_MAX - 1);
    reading->places.items[reading->places.count++] = place;
    reading->samples.items[reading->samples.count - 1].place_count++;
    return VARVE_OK;
}

static enum varve_code add_sample(struct vv_perf_reading *reading, const struct vv_perf_head *head,
                                  struct varve_error *error)
{
    struct vv_perf_sample sample = { .time_ns = head->time_ns, .period = head->period,
                                     .first_place = (uint32_t)reading->places.count };
    struct vv_perf_frame frame;
    VV_TRY(track_of(reading, head, &sample.track, error));
    VV_TRY(text_of(reading, head->event, &sample.event, error));
    VV_TRY(vv_array_reserve(&reading->samples.items, &reading->samples.capacity,
                            reading->samples.count + 1, sizeof sample, error));
    reading->samples.items[reading->samples.count++] = sample;
    return vv_perf_read_frame(head->rest, &frame) ? add_place(reading, &frame, error) : VARVE_OK;
}

/* A line that is no head: a frame of the newest sample, or the source line of its newest frame. */
static enum varve_code read_inner(struct vv_perf_reading *reading, struct vv_perf_text line,
                                  struct varve_error *error)
{
    struct vv_perf_frame frame;
    struct vv_perf_text file;
    uint32_t number;
    if (line.length == 0 || *line.at == '#')
        return VARVE_OK;
    if (reading->samples.count > 0 && *line.at == '\t' && vv_perf_read_frame(line, &frame))
        return add_place(reading, &frame, error);
    if (reading->samples.count > 0 && *line.at == ' ') {
        const struct vv_perf_sample *newest =
            &reading->samples.items[reading->samples.count - 1];
        if (newest->place_count > 0 && vv_perf_read_place(line, &file, &number))
            return source_of(reading, file, number,
                             &reading->places.items[reading->places.count - 1].source, error);
        return VARVE_OK; /* a place in no file */
    }
    reading->model->health.ignored++;
    return VARVE_OK;
}

/* ---- the file ---- */

static enum varve_code load(const struct vv_import_job *job, char **text, size_t *length,
                            struct varve_error *error)
{
    size_t capacity = 0;
    for (;;) {
        size_t got;
        VV_TRY(vv_array_reserve(text, &capacity, *length + 65536, 1, error));
        VV_TRY(vv_source_read(job->source, *text + *length, 65536, &got, error));
        *length += got;
        if (got == 0)
            return VARVE_OK;
        VV_TRY(vv_source_may_hold(job->source, *length, job->options->max_memory_bytes, error));
    }
}

static enum varve_code read_lines(struct vv_perf_reading *reading, const char *text, size_t length,
                                  struct varve_error *error)
{
    struct lines lines = { .text = text, .length = length };
    struct vv_perf_text line;
    struct vv_perf_head head;
    while (next_line(&lines, &line)) {
        if (lines.at > length && lines.at - 1 == length && text[length - 1] != '\n') {
            reading->model->health.truncated_files++; /* a line that is cut says anything */
            return VARVE_OK;
        }
        if (vv_perf_read_head(line, &head))
            VV_TRY(add_sample(reading, &head, error));
        else
            VV_TRY(read_inner(reading, line, error));
    }
    return VARVE_OK;
}

static enum varve_code read(const struct vv_import_job *job, struct varve_error *error)
{
    struct vv_perf_reading reading = { .job = job, .model = job->model };
    char *text = NULL;
    size_t length = 0;
    enum varve_code code = load(job, &text, &length, error);
    if (code == VARVE_TRUNCATED) { /* a compressed file that is cut: use the lines before */
        job->model->health.truncated_files++;
        code = VARVE_OK;
    }
    if (code == VARVE_OK)
        code = read_lines(&reading, text, length, error);
    if (code == VARVE_OK)
        code = vv_perf_add_slices(&reading, error);
    free(text);
    free(reading.samples.items);
    free(reading.places.items);
    vv_row_map_deinit(&reading.rows);
    return code;
}

const struct vv_importer vv_importer_perf_script = {
    .name = "perf_script",
    .title = "text of perf script",
    .probe = probe,
    .read = read,
};
