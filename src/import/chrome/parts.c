/* SPDX-License-Identifier: Apache-2.0 */
/* parts.c — several threads read a large plain file. Each reads a part of the events into a model
 * of its own. A compressed file must be read in order: there, one thread decompresses and one
 * reads.
 *
 * The begin of each part after the first is a guess: a brace after a comma, which begins an object
 * with a phase. The part before reads on up to that place. The guess is right if an event begins
 * exactly there. If not, or if the list of events ends before, the rows that were read from the
 * guess on are dropped, and the part before reads on. So the result does not depend on the guess:
 * it is the same as with one thread. */
#include <pthread.h>
#include <stdlib.h>

#include "base/workers.h"
#include "import/chrome/merge.h"
#include "import/chrome/parts.h"

#define PART_BYTES_MIN (UINT64_C(4) << 20)
#define PACKED_BYTES_MIN (UINT64_C(64) << 10)
#define PARTS_MAX 16u
#define GUESS_BYTES (UINT32_C(512) << 10)

struct part {
    struct vv_chrome_reader reader;
    struct vv_model *model; /* its own; NULL in the first part                                  */
    uint64_t begin;         /* the guess; UINT64_MAX = no place found                           */
    pthread_t thread;
    bool has_thread, is_closed; /* is_closed: the list of events ended in this part             */
    enum varve_code code;
    struct varve_error error;
};

/* ---- guessing ---- */

static bool begins_event(struct vv_chrome_window *window, struct vv_chrome_event *event)
{
    struct vv_chrome_cursor cursor;
    vv_chrome_cursor_init(&cursor, window);
    return window->text[*cursor.next] == '{' &&
           vv_chrome_event_read(&cursor, event) == VV_CHROME_DONE &&
           vv_chrome_has(event, VV_FIELD_PH);
}

/* Is there a comma before the brace at `at`, and a name after it? */
static bool is_candidate(const char *text, uint32_t at, uint32_t bytes)
{
    uint32_t before = at, after = at + 1;
    while (before > 0 && vv_chrome_is_blank(text[before - 1]))
        before--;
    while (after < bytes && vv_chrome_is_blank(text[after]))
        after++;
    return before > 0 && text[before - 1] == ',' && after < bytes && text[after] == '"';
}

static enum varve_code try_at(struct vv_source *source, uint64_t offset, bool *out_is_event,
                              struct varve_error *error)
{
    struct vv_chrome_window window;
    struct vv_chrome_event event = { 0 };
    enum varve_code code = vv_chrome_window_init(&window, source, offset, true, error);
    *out_is_event = code == VARVE_OK && begins_event(&window, &event);
    vv_chrome_event_deinit(&event);
    vv_chrome_window_deinit(&window);
    return code;
}

static enum varve_code guess(struct vv_source *source, uint64_t offset, uint64_t *out_begin,
                             struct varve_error *error)
{
    size_t bytes;
    uint32_t tries = 0;
    char *text = malloc(GUESS_BYTES);
    if (text == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to divide a file");
    enum varve_code code = vv_source_read_at(source, offset, text, GUESS_BYTES, &bytes, error);
    *out_begin = UINT64_MAX;
    for (uint32_t at = 0; code == VARVE_OK && at < bytes && tries < 64 && *out_begin == UINT64_MAX;
         at++) {
        bool is_event;
        if (text[at] != '{' || !is_candidate(text, at, (uint32_t)bytes))
            continue;
        tries++;
        code = try_at(source, offset + at, &is_event, error);
        if (code == VARVE_OK && is_event)
            *out_begin = offset + at;
    }
    free(text);
    return code;
}

/* ---- reading ---- */

static void *read_part(void *context)
{
    struct part *part = context;
    part->code = vv_chrome_read_events(&part->reader, &part->is_closed, &part->error);
    return NULL;
}

/* Makes a model for a part, with the limits of the job's model. */
static enum varve_code begin_model(struct vv_model **out_model, const struct vv_import_job *job,
                                   struct varve_error *error)
{
    VV_TRY(vv_model_create(out_model, error));
    (*out_model)->limit_bytes = job->model->limit_bytes;
    (*out_model)->held_bytes = job->model->held_bytes;
    (*out_model)->counts_only = job->model->counts_only;
    return VARVE_OK;
}

static enum varve_code start_part(struct part *part, const struct vv_import_job *job,
                                  uint64_t stop_at, struct varve_error *error)
{
    VV_TRY(begin_model(&part->model, job, error));
    VV_TRY(vv_chrome_reader_init(&part->reader, job, part->model, part->begin, error));
    part->reader.stop_at = stop_at;
    part->has_thread = pthread_create(&part->thread, NULL, read_part, part) == 0;
    if (!part->has_thread)
        part->begin = UINT64_MAX; /* then the part before reads on                               */
    return VARVE_OK;
}

static void forget_part(struct part *part)
{
    vv_chrome_reader_deinit(&part->reader);
    if (part->model != NULL)
        vv_model_share_no_more(part->model);
    vv_model_destroy(part->model);
    part->model = NULL;
    part->begin = UINT64_MAX;
}

/* ---- joining the parts in order ---- */

struct reading {
    struct part *parts;
    unsigned count;
    bool is_object;
    struct part *last; /* the last joined part; its reader is at the part's end                  */
};

/* The next part after `index` that was started; `count` = none. */
static unsigned next_begun(const struct reading *reading, unsigned index)
{
    do
        index++;
    while (index < reading->count && reading->parts[index].begin == UINT64_MAX);
    return index;
}

/* Lets the reader of the last part read on, up to the next part that was started or to the end. */
static enum varve_code read_up_to_next_part(struct reading *reading, unsigned next,
                                            struct varve_error *error)
{
    struct part *last = reading->last;
    last->reader.stop_at = next < reading->count ? reading->parts[next].begin : 0;
    return vv_chrome_read_events(&last->reader, &last->is_closed, error);
}

/* Waits for a part that begins where the last one ended, and makes it the last one. */
static enum varve_code join_part(struct reading *reading, struct part *part,
                                 struct varve_error *error)
{
    if (part->code != VARVE_OK) {
        if (error != NULL)
            *error = part->error;
        return part->code;
    }
    if (reading->last != &reading->parts[0]) {
        VV_TRY(vv_chrome_merge(&reading->parts[0].reader, &reading->last->reader, error));
        forget_part(reading->last);
    }
    reading->last = part;
    return VARVE_OK;
}

static void wait_for(struct part *part)
{
    if (part->has_thread)
        pthread_join(part->thread, NULL);
    part->has_thread = false;
}

static uint64_t place_of(const struct vv_chrome_reader *reader)
{
    return reader->window.offset + *reader->cursor.next;
}

static enum varve_code join_parts(struct reading *reading, struct varve_error *error)
{
    for (unsigned i = next_begun(reading, 0); i < reading->count; i = next_begun(reading, i)) {
        struct part *part = &reading->parts[i];
        if (!reading->last->is_closed && place_of(&reading->last->reader) < part->begin)
            VV_TRY(read_up_to_next_part(reading, i, error));
        wait_for(part);
        if (!reading->last->is_closed && place_of(&reading->last->reader) == part->begin)
            VV_TRY(join_part(reading, part, error));
        else
            forget_part(part);
    }
    return reading->last->is_closed ? VARVE_OK
                                    : read_up_to_next_part(reading, reading->count, error);
}

/* ---- the whole file ---- */

static enum varve_code read_end(struct reading *reading, struct varve_error *error)
{
    struct part *first = &reading->parts[0], *last = reading->last;
    last->reader.stop_at = 0;
    if (last->is_closed)
        VV_TRY(vv_chrome_read_rest(&last->reader, reading->is_object, error));
    else
        last->reader.is_cut = last->reader.is_cut || reading->is_object;
    if (last != first)
        VV_TRY(vv_chrome_merge(&first->reader, &last->reader, error));
    return VARVE_OK;
}

static enum varve_code begin_all(struct reading *reading, const struct vv_import_job *job,
                                 struct varve_error *error)
{
    uint64_t bytes = vv_source_disk_bytes(job->source);
    for (unsigned i = 1; i < reading->count; i++) {
        uint64_t *begin = &reading->parts[i].begin;
        VV_TRY(guess(job->source, bytes / reading->count * i, begin, error));
        if (i > 1 && *begin != UINT64_MAX && *begin <= reading->parts[i - 1].begin)
            *begin = UINT64_MAX;
    }
    for (unsigned i = 1; i < reading->count; i++) {
        unsigned next = next_begun(reading, i);
        uint64_t stop_at = next < reading->count ? reading->parts[next].begin : 0;
        if (reading->parts[i].begin != UINT64_MAX)
            VV_TRY(start_part(&reading->parts[i], job, stop_at, error));
    }
    return VARVE_OK;
}

/* Does all but the last stage, which is then done for the first part. */
static enum varve_code read_all(struct reading *reading, const struct vv_import_job *job,
                                struct varve_error *error)
{
    struct part *first = &reading->parts[0];
    VV_TRY(vv_chrome_reader_init(&first->reader, job, job->model, 0, error));
    VV_TRY(begin_all(reading, job, error));
    reading->last = first;
    VV_TRY(vv_chrome_read_head(&first->reader, &reading->is_object, error));
    if (first->reader.has_events) {
        VV_TRY(read_up_to_next_part(reading, next_begun(reading, 0), error));
        VV_TRY(join_parts(reading, error));
        return read_end(reading, error);
    }
    if (first->reader.is_cut)
        return vv_fail_at(error, VARVE_TRUNCATED,
                          first->reader.window.offset + first->reader.window.bytes,
                          "'%s' ends before its events", job->path);
    VV_FAIL(error, VARVE_UNSUPPORTED, "'%s' has no traceEvents", job->path);
}

/* The caller must call forget_file also after an error. */
static enum varve_code read_file(struct reading *reading, const struct vv_import_job *job,
                                 unsigned threads, struct varve_error *error)
{
    unsigned count = vv_source_is_plain(job->source) ? threads : 1;
    *reading = (struct reading){ .parts = calloc(count, sizeof *reading->parts) };
    if (reading->parts == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to read '%s'", job->path);
    reading->count = count;
    for (unsigned i = 0; i < count; i++)
        reading->parts[i].begin = UINT64_MAX;
    job->model->threads = threads;
    if (threads > 1)
        vv_source_read_ahead(job->source);
    enum varve_code code = read_all(reading, job, error);
    for (unsigned i = 0; i < count; i++)
        wait_for(&reading->parts[i]);
    return vv_source_place(job->source, code, error);
}

static void forget_file(struct reading *reading)
{
    for (unsigned i = 0; i < reading->count; i++)
        forget_part(&reading->parts[i]);
    free(reading->parts);
}

/* ---- several files that are one trace ---- */

static unsigned thread_count(const struct vv_import_job *job)
{
    uint64_t threads = job->options->threads != 0 ? job->options->threads : vv_workers_allowed();
    uint64_t bytes = vv_source_disk_bytes(job->source), most = bytes / PART_BYTES_MIN;
    if (!vv_source_is_plain(job->source))
        most = bytes < PACKED_BYTES_MIN ? 1 : PARTS_MAX;
    most = most < 1 ? 1 : most > PARTS_MAX ? PARTS_MAX : most;
    return (unsigned)(threads < most ? threads : most);
}

/* Appends another file to the whole. */
static enum varve_code add_file(struct vv_chrome_reader *whole, const struct vv_import_job *job,
                                struct varve_error *error)
{
    struct vv_import_job own = *job;
    struct reading reading;
    VV_TRY(begin_model(&own.model, job, error));
    enum varve_code code = read_file(&reading, &own, thread_count(job), error);
    if (code == VARVE_OK)
        code = vv_chrome_merge(whole, &reading.parts[0].reader, error);
    forget_file(&reading);
    vv_model_share_no_more(own.model);
    vv_model_destroy(own.model);
    return code;
}

/* Reads the first file with `threads`. */
static enum varve_code read_files(const struct vv_import_job *const *jobs, size_t count,
                                  unsigned threads, struct varve_error *error)
{
    struct vv_model *model = jobs[0]->model;
    struct reading reading;
    _Atomic uint64_t held_bytes = 0;
    model->held_bytes = &held_bytes;
    enum varve_code code = read_file(&reading, jobs[0], threads, error);
    for (size_t i = 1; i < count && code == VARVE_OK; i++)
        code = add_file(&reading.parts[0].reader, jobs[i], error);
    if (code == VARVE_OK)
        code = vv_chrome_close(&reading.parts[0].reader, error);
    forget_file(&reading);
    vv_model_share_no_more(model);
    return code;
}

enum varve_code vv_chrome_read_files(const struct vv_import_job *const *jobs, size_t count,
                                     struct varve_error *error)
{
    return read_files(jobs, count, thread_count(jobs[0]), error);
}

enum varve_code vv_chrome_read_parts(const struct vv_import_job *job, unsigned threads,
                                     struct varve_error *error)
{
    return read_files(&job, 1, threads, error);
}
