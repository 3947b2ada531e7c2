/* SPDX-License-Identifier: Apache-2.0 */
/* past.c — reads ranges that were told when they were over, and finds for each note the range that
 * holds its instant. */
#include "import/varve/records/past.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "import/varve/records/stream.h"
#include "varve/past.h"

#define HEAD_WORDS (sizeof(struct vv_past_note_payload) / 8)
#define LAYERS 11u

static uint64_t word(const struct vv_record *record, size_t index)
{
    return le64toh(record->payload[index]);
}

static uint32_t low_half(uint64_t value)
{
    return (uint32_t)value;
}

static uint32_t high_half(uint64_t value)
{
    return (uint32_t)(value >> 32);
}

void vv_past_said_deinit(struct vv_past_said *said)
{
    free(said->ranges.items);
    free(said->notes.items);
    free(said->words.items);
    vv_key_map_deinit(&said->models);
    *said = (struct vv_past_said){ 0 };
}

/* ---- records ---- */

static uint64_t tid_of(const struct vv_stream_reader *stream, uint64_t tid)
{
    return tid != 0 ? tid : stream->packets->tid;
}

enum varve_code vv_past_range_read(struct vv_stream_reader *stream, const struct vv_record *record,
                                   struct varve_error *error)
{
    struct vv_process_reader *process = stream->process;
    uint32_t subject = low_half(word(record, 1));
    struct vv_past_range range = { .tid = tid_of(stream, word(record, 2)),
                                   .begin = (int64_t)word(record, 3),
                                   .end = (int64_t)word(record, 4),
                                   .clock = high_half(word(record, 1)),
                                   .layer = (uint16_t)high_half(word(record, 0)),
                                   .slice = VV_NONE };
    VV_TRY(vv_process_string(process, low_half(word(record, 0)), &range.name, error));
    if (subject != 0)
        VV_TRY(vv_process_string(process, subject, &range.subject, error));
    VV_PUSH(&process->past.ranges, range, error);
    return VARVE_OK;
}

enum varve_code vv_past_note_read(struct vv_stream_reader *stream, const struct vv_record *record,
                                  struct varve_error *error)
{
    struct vv_process_reader *process = stream->process;
    struct vv_past_said *said = &process->past;
    size_t count = record->payload_words - HEAD_WORDS;
    struct vv_past_note note = { .tid = tid_of(stream, word(record, 2)),
                                 .correlation = word(record, 4),
                                 .time = (int64_t)word(record, 3),
                                 .first_word = said->words.count,
                                 .value_count = low_half(word(record, 5)),
                                 .clock = high_half(word(record, 1)),
                                 .flags = low_half(word(record, 1)),
                                 .order = (uint32_t)said->notes.count,
                                 .layer = (uint16_t)high_half(word(record, 0)),
                                 .slice = VV_NONE, .op_slice = VV_NONE };
    VV_TRY(vv_process_string(process, low_half(word(record, 0)), &note.name, error));
    VV_TRY(vv_array_reserve(&said->words.items, &said->words.capacity, said->words.count + count,
                            sizeof *said->words.items, error));
    if (count > 0)
        memcpy(said->words.items + said->words.count, record->payload + HEAD_WORDS, 8 * count);
    said->words.count += count;
    process->model->health.kept_raw += (note.flags & VARVE_PAST_RAW) != 0;
    VV_PUSH(&said->notes, note, error);
    return VARVE_OK;
}

/* ---- where they are ---- */

struct tracks {
    struct vv_key_map rows; /* tid -> row                                                         */
};

static enum varve_code note_tracks(struct vv_process_reader *process, struct tracks *known,
                                   uint32_t first_track, struct varve_error *error)
{
    const struct vv_tracks *tracks = &process->model->tracks;
    for (uint32_t row = first_track; row < tracks->table.count; row++)
        if (tracks->kind[row] == VV_TRACK_THREAD)
            VV_TRY(vv_key_map_put(&known->rows, (uint64_t)tracks->tid[row], row, error));
    return VARVE_OK;
}

static enum varve_code track_at(struct vv_process_reader *process, struct tracks *known,
                                uint64_t tid, uint32_t *out_track, struct varve_error *error)
{
    struct vv_tracks *tracks = &process->model->tracks;
    *out_track = vv_key_map_get(&known->rows, tid);
    if (*out_track != VV_KEY_NONE)
        return VARVE_OK;
    VV_TRY(vv_model_add_track(process->model, out_track, error));
    tracks->process[*out_track] = process->process;
    tracks->kind[*out_track] = VV_TRACK_THREAD;
    tracks->tid[*out_track] = (int64_t)tid;
    return vv_key_map_put(&known->rows, tid, *out_track, error);
}

/* The run has this instant inside. */
static void widen(struct vv_process_reader *process, int64_t time_ns)
{
    if (time_ns < process->first_ns)
        process->first_ns = time_ns;
    if (time_ns > process->last_ns)
        process->last_ns = time_ns;
}

/* What is told is over. Clocks differ by less. */
#define SLACK_NS INT64_C(1000000000)

static bool is_after_recording(const struct vv_process_reader *process, int64_t time_ns)
{
    return time_ns > process->last_ns + SLACK_NS;
}

/* Adds an instant to the thread. *out_mark is VV_NONE if the clock says none, which is counted. */
static enum varve_code add_mark(struct vv_process_reader *process, struct tracks *known,
                                const struct vv_past_note *what, uint32_t *out_mark,
                                struct varve_error *error)
{
    struct vv_model *model = process->model;
    int64_t time_ns = process->first_ns;
    bool is_placed = true;
    uint32_t track;
    *out_mark = VV_NONE;
    if (what->time == 0)
        model->health.unplaced++;
    else
        VV_TRY(vv_device_instant(process, what->clock, what->time, &time_ns, &is_placed, error));
    if (!is_placed) {
        model->health.unplaced++;
        return VARVE_OK;
    }
    if (is_after_recording(process, time_ns)) {
        model->health.unplaced++;
        time_ns = process->last_ns;
    }
    VV_TRY(track_at(process, known, what->tid, &track, error));
    VV_TRY(vv_model_add_mark(model, out_mark, error));
    model->marks.time_ns[*out_mark] = time_ns;
    model->marks.name[*out_mark] = what->name;
    model->marks.layer[*out_mark] = what->layer;
    model->marks.track[*out_mark] = track;
    widen(process, time_ns);
    return VARVE_OK;
}

/* ---- ranges ---- */

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_instants(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* By thread and clock, in order of begin, the longer first. */
static int compare_ranges(const void *a, const void *b)
{
    const struct vv_past_range *left = a, *right = b;
    int found = compare(left->tid, right->tid);
    found = found != 0 ? found : compare(left->clock, right->clock);
    found = found != 0 ? found : compare_instants(left->begin, right->begin);
    return found != 0 ? found : compare_instants(right->end, left->end);
}

static int compare_notes(const void *a, const void *b)
{
    const struct vv_past_note *left = a, *right = b;
    int found = compare(left->tid, right->tid);
    found = found != 0 ? found : compare(left->clock, right->clock);
    found = found != 0 ? found : compare_instants(left->time, right->time);
    return found != 0 ? found : compare(left->order, right->order);
}

/* Where it ended, if nobody knows where it began. */
static enum varve_code add_end(struct vv_process_reader *process, struct tracks *known,
                               const struct vv_past_range *range, struct varve_error *error)
{
    const struct vv_past_note end = { .tid = range->tid, .time = range->end, .clock = range->clock,
                                      .name = range->name, .layer = range->layer };
    uint32_t mark;
    process->model->health.begun_before++;
    return add_mark(process, known, &end, &mark, error);
}

static enum varve_code add_range(struct vv_process_reader *process, struct tracks *known,
                                 struct vv_past_range *range, struct varve_error *error)
{
    struct vv_model *model = process->model;
    struct vv_slices *slices = &model->slices;
    int64_t begin_ns, end_ns;
    bool begins, ends, is_negative = range->end < range->begin;
    uint32_t track;
    if (range->begin == 0)
        return add_end(process, known, range, error);
    VV_TRY(vv_device_instant(process, range->clock, range->begin, &begin_ns, &begins, error));
    VV_TRY(vv_device_instant(process, range->clock, range->end, &end_ns, &ends, error));
    if (!begins || !ends || is_after_recording(process, begin_ns) ||
        is_after_recording(process, end_ns)) {
        model->health.unplaced++;
        return VARVE_OK;
    }
    VV_TRY(track_at(process, known, range->tid, &track, error));
    VV_TRY(vv_model_add_slice(model, &range->slice, error));
    slices->begin_ns[range->slice] = begin_ns;
    slices->duration_ns[range->slice] = is_negative ? 0 : end_ns - begin_ns;
    slices->name[range->slice] = range->name;
    slices->track[range->slice] = track;
    slices->layer[range->slice] = range->layer;
    slices->flags[range->slice] = is_negative ? VV_SLICE_NEGATIVE : 0;
    model->health.negative += is_negative;
    widen(process, begin_ns);
    widen(process, is_negative ? begin_ns : end_ns);
    return VARVE_OK;
}

/* ---- which range a note belongs to ---- */

/* Of each layer, and of any (the last), the range that began last and has not ended; `around` leads
 * from a range to the one of the layer that began before it. */
struct open {
    uint32_t of_layer[LAYERS], any;
};

static uint32_t *top_of(struct open *open, uint16_t layer)
{
    unsigned index = layer != 0 ? (unsigned)__builtin_ctz(layer) : 0;
    return index < LAYERS ? &open->of_layer[index] : &open->of_layer[0];
}

/* Notes come in order of time: a range that has ended before one has ended before all others. */
static uint32_t innermost(const struct vv_past_range *ranges, uint32_t *around, uint32_t *top,
                          int64_t time)
{
    while (*top != VV_NONE && ranges[*top].end < time)
        *top = around != NULL ? around[*top] : ranges[*top].around;
    return *top;
}

/* Finds the ranges of all notes of one thread and clock: ranges [range, range_limit) and notes
 * [note, note_limit) are theirs, in order. `around` has room for all ranges. */
static void attach(struct vv_past_said *said, size_t range, size_t range_limit, size_t note,
                   size_t note_limit, uint32_t *around)
{
    struct vv_past_range *ranges = said->ranges.items;
    struct open open = { .any = VV_NONE };
    memset(open.of_layer, 0xff, sizeof open.of_layer);
    for (; note < note_limit; note++) {
        struct vv_past_note *item = &said->notes.items[note];
        for (; range < range_limit && ranges[range].begin < item->time; range++) {
            uint32_t *top = top_of(&open, ranges[range].layer);
            if (ranges[range].slice == VV_NONE)
                continue;
            ranges[range].around = *top;
            around[range] = open.any;
            *top = open.any = (uint32_t)range;
        }
        uint32_t found = item->layer == 0
                             ? innermost(ranges, around, &open.any, item->time)
                             : innermost(ranges, NULL, top_of(&open, item->layer), item->time);
        if (found == VV_NONE || (item->flags & VARVE_PAST_ALONE) != 0)
            continue;
        uint32_t op = innermost(ranges, NULL, top_of(&open, VARVE_LAYER_OP), item->time);
        item->op_slice = op == VV_NONE ? VV_NONE : ranges[op].slice;
        item->slice = ranges[found].slice;
        item->subject = ranges[found].subject;
    }
}

static bool is_before(const struct vv_past_range *range, const struct vv_past_note *note)
{
    return range->tid < note->tid || (range->tid == note->tid && range->clock < note->clock);
}

static bool is_same(const struct vv_past_range *range, const struct vv_past_note *note)
{
    return range->tid == note->tid && range->clock == note->clock;
}

static enum varve_code attach_all(struct vv_past_said *said, struct varve_error *error)
{
    uint32_t *around = malloc((said->ranges.count + 1) * sizeof *around);
    if (around == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %zu ranges", said->ranges.count);
    size_t range = 0, note = 0;
    while (note < said->notes.count) {
        const struct vv_past_note first = said->notes.items[note];
        size_t note_limit = note, range_limit;
        while (range < said->ranges.count && is_before(&said->ranges.items[range], &first))
            range++;
        range_limit = range;
        while (range_limit < said->ranges.count &&
               is_same(&said->ranges.items[range_limit], &first))
            range_limit++;
        while (note_limit < said->notes.count && said->notes.items[note_limit].tid == first.tid &&
               said->notes.items[note_limit].clock == first.clock)
            note_limit++;
        attach(said, range, range_limit, note, note_limit, around);
        note = note_limit;
        range = range_limit;
    }
    free(around);
    return VARVE_OK;
}

/* ---- what notes say ---- */

/* By slice, those without one last, and then in the order in which they were written. */
static int compare_owners(const void *a, const void *b)
{
    const struct vv_past_note *left = a, *right = b;
    int found = compare(left->slice, right->slice);
    return found != 0 ? found : compare(left->order, right->order);
}

static enum varve_code add_launch(struct vv_process_reader *process,
                                  const struct vv_past_note *note, struct varve_error *error)
{
    struct vv_launch launch = { note->correlation, note->slice };
    if (note->correlation != 0)
        VV_PUSH(&process->devices.launches, launch, error);
    return VARVE_OK;
}

static enum varve_code add_alone(struct vv_process_reader *process, struct tracks *known,
                                 const struct vv_past_note *note, struct varve_error *error)
{
    uint32_t mark;
    process->model->health.unattached += (note->flags & VARVE_PAST_ALONE) == 0;
    VV_TRY(add_mark(process, known, note, &mark, error));
    return mark == VV_NONE ? VARVE_OK : vv_past_values_to_mark(process, mark, note, error);
}

static enum varve_code use_notes(struct vv_process_reader *process, struct tracks *known,
                                 struct varve_error *error)
{
    struct vv_past_said *said = &process->past;
    const struct vv_past_note *notes = said->notes.items;
    for (size_t i = 0, limit; i < said->notes.count; i = limit) {
        limit = i + 1;
        if (notes[i].slice == VV_NONE) {
            VV_TRY(add_alone(process, known, &notes[i], error));
            continue;
        }
        while (limit < said->notes.count && notes[limit].slice == notes[i].slice)
            limit++;
        VV_TRY(vv_past_values_to_slice(process, notes[i].slice, i, limit, error));
        for (size_t n = i; n < limit; n++)
            VV_TRY(add_launch(process, &notes[n], error));
    }
    /* Ranges have their names only now. */
    for (size_t i = 0; i < said->notes.count; i++)
        VV_TRY(vv_past_tables_add(process, &notes[i], error));
    return VARVE_OK;
}

/* A range without notes has its subject alone. */
static enum varve_code add_subjects(struct vv_process_reader *process, struct varve_error *error)
{
    struct vv_slices *slices = &process->model->slices;
    const struct vv_past_said *said = &process->past;
    for (size_t i = 0; i < said->ranges.count; i++) {
        const struct vv_past_range *range = &said->ranges.items[i];
        uint32_t key, row;
        if (range->subject == 0 || range->slice == VV_NONE || slices->arg_count[range->slice] != 0)
            continue;
        VV_TRY(vv_model_text(process->model, "subject", &key, error));
        VV_TRY(vv_model_add_arg(process->model, &row, error));
        process->model->args.key[row] = key;
        process->model->args.kind[row] = VV_ARG_TEXT;
        process->model->args.value[row] = range->subject;
        slices->first_arg[range->slice] = row;
        slices->arg_count[range->slice] = 1;
    }
    return VARVE_OK;
}

static enum varve_code join(struct vv_process_reader *process, struct tracks *known,
                            uint32_t first_track, struct varve_error *error)
{
    struct vv_past_said *said = &process->past;
    VV_TRY(note_tracks(process, known, first_track, error));
    if (said->ranges.count > 1)
        qsort(said->ranges.items, said->ranges.count, sizeof *said->ranges.items, compare_ranges);
    if (said->notes.count > 1)
        qsort(said->notes.items, said->notes.count, sizeof *said->notes.items, compare_notes);
    for (size_t i = 0; i < said->ranges.count; i++)
        VV_TRY(add_range(process, known, &said->ranges.items[i], error));
    VV_TRY(attach_all(said, error));
    if (said->notes.count > 1)
        qsort(said->notes.items, said->notes.count, sizeof *said->notes.items, compare_owners);
    VV_TRY(use_notes(process, known, error));
    return add_subjects(process, error);
}

enum varve_code vv_past_join(struct vv_process_reader *process, uint32_t first_track,
                             size_t first_placed, struct varve_error *error)
{
    struct tracks known = { 0 };
    if (process->past.ranges.count == 0 && process->past.notes.count == 0)
        return VARVE_OK;
    if (process->past.ranges.count > 0)
        process->model->placed_count = first_placed;
    enum varve_code code = join(process, &known, first_track, error);
    vv_key_map_deinit(&known.rows);
    return code;
}
