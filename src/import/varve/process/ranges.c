/* SPDX-License-Identifier: Apache-2.0 */
/* ranges.c — see ranges.h. Any record that is not plain ends the run: also one after a step back of
 * the clock, after a pause, an end without an open range, or an instant far from the last. stream.c
 * reads that record. */
#include "import/varve/process/ranges.h"

#include <endian.h>

#include "base/array.h"
#include "ctf/record_length.h"
#include "import/varve/process/record.h"
#include "import/varve/records/open.h"

/* ---- decoding ---- */

/* open[0] becomes the innermost of the first `levels` ranges around the run: the parent of the next
 * slices. */
static void stand_in(struct vv_range_run *run, size_t levels)
{
    static const struct vv_open_range nothing = { .slice = VV_NONE, .phase = VV_NONE };
    run->open[0] = levels > 0 ? run->around[levels - 1] : nothing;
    run->open[0].inside_ns = 0;
}

static void leave_level(struct vv_range_run *run, int64_t end_ns)
{
    run->ended[run->ended_count++] = (struct vv_run_end){ end_ns, run->open[0].inside_ns };
    stand_in(run, run->around_count - run->ended_count);
}

void vv_run_start(struct vv_range_run *run)
{
    run->row = run->first_row;
    run->has_empty = false;
    run->records = 0;
    run->note_count = 0;
    run->ended_count = run->open_count = 0;
    stand_in(run, run->around_count);
}

/* Track 0 need not be written: blank cells are 0 (model/cells.h). */
static void write_tracks(const struct vv_range_run *run, uint32_t first)
{
    uint32_t *tracks = run->columns.track;
    if (run->track != 0)
        for (uint32_t row = first; row < run->row; row++)
            tracks[row] = run->track;
}

/* Takes a note of at most `count` words, and finds its length. Returns the number of its words; 0:
 * the note is not plain. */
static size_t take_note(struct vv_range_run *run, const struct vv_run_note *note, size_t count)
{
    const struct vv_record *record = &note->record;
    size_t length = record->class->words != 0 ? record->class->words
                                              : vv_record_length(record->payload - 1, count);
    if (length == 0 || length > count || run->note_count == run->note_room)
        return 0;
    run->notes[run->note_count] = *note;
    run->notes[run->note_count++].record.payload_words = length - 1;
    return length;
}

static inline __attribute__((always_inline)) void
put_begin(const struct vv_slices *columns, uint32_t row, const struct vv_event_class *class,
          int64_t begin_ns, const struct vv_open_range *around)
{
    columns->begin_ns[row] = begin_ns;
    columns->name[row] = class->name;
    columns->source[row] = class->source;
    columns->layer[row] = class->layer;
    columns->parent[row] = around->slice;
    if (around->phase != VV_NONE)
        columns->phase[row] = around->phase;
}

size_t vv_ranges_decode(struct vv_range_run *run, const uint64_t *words, size_t count,
                        uint64_t offset)
{
    const struct vv_event_class *const classes = run->classes;
    const struct vv_timeline timeline = run->timeline;
    const struct vv_slices columns = run->columns;
    const uint32_t class_count = run->class_count, first = run->row;
    const uint64_t last_ticks = run->last_ticks;
    struct vv_open_range *const open = run->open;
    size_t at, depth = run->open_count, levels = run->around_count - run->ended_count;
    uint64_t ticks = run->ticks;
    int64_t now_ns = run->time_ns;
    uint32_t row = first;
    uint64_t records = 0;
    bool has_empty = false;
    for (at = 0; at < count; at++, records++) {
        uint64_t word = le64toh(words[at]);
        uint32_t id = (uint32_t)(word & VV_ID_MASK);
        uint64_t now = ticks + (((word >> VV_ID_BITS) - ticks) & VV_TICKS_MASK);
        if (id >= class_count || now > last_ticks)
            break;
        const struct vv_event_class *class = &classes[id];
        int64_t then_ns = vv_timeline_near(&timeline, now);
        if (class->plain_ends) {
            if (depth > 0) {
                const struct vv_open_range *range = &open[depth--];
                int64_t duration_ns = then_ns - range->begin_ns;
                columns.duration_ns[range->slice] = duration_ns;
                columns.self_ns[range->slice] = duration_ns - range->inside_ns;
                open[depth].inside_ns += duration_ns;
                has_empty |= duration_ns == 0;
            } else if (levels > 0 && run->ended_count < VV_RUN_DEPTH) {
                leave_level(run, then_ns);
                levels--;
            } else {
                break;
            }
        } else if (class->is_note) {
            const struct vv_run_note note = {
                { class, words + at + 1, 0, offset + at * 8, open[depth].slice }, now, then_ns
            };
            size_t length = take_note(run, &note, count - at);
            if (length == 0)
                break;
            at += length - 1;
        } else if (!class->plain_begins || depth == VV_RUN_DEPTH) {
            break;
        }
        if (class->plain_begins) {
            const struct vv_open_range around = open[depth];
            put_begin(&columns, row, class, then_ns, &around);
            if (levels + depth > 0)
                columns.depth[row] = (uint32_t)(levels + depth);
            open[++depth] = (struct vv_open_range){ then_ns, 0, row++, VV_NONE, around.phase,
                                                    around.in_step };
        }
        ticks = now;
        now_ns = then_ns;
    }
    run->row = row;
    run->records += records;
    run->ticks = ticks;
    run->time_ns = now_ns;
    run->has_empty |= has_empty;
    run->open_count = depth;
    write_tracks(run, first);
    return at;
}

/* ---- the effect on the ranges around ---- */

static void end_around(struct vv_stream_reader *stream, const struct vv_run_end *end)
{
    stream->open.items[stream->open.count - 1].inside_ns += end->inside_ns;
    vv_range_close(stream, end->end_ns, 0);
}

static enum varve_code do_notes(const struct vv_range_run *run, struct vv_stream_reader *stream,
                                struct varve_error *error)
{
    for (size_t i = 0; i < run->note_count; i++) {
        stream->ticks = run->notes[i].ticks;
        stream->time_ns = run->notes[i].time_ns;
        VV_TRY(vv_record_read(stream, &run->notes[i].record, error));
    }
    return VARVE_OK;
}

enum varve_code vv_run_settle(struct vv_range_run *run, struct vv_stream_reader *stream,
                              struct varve_error *error)
{
    VV_TRY(vv_array_reserve(&stream->open.items, &stream->open.capacity,
                            stream->open.count + run->open_count, sizeof *run->open, error));
    for (size_t i = 0; i < run->ended_count; i++)
        end_around(stream, &run->ended[i]);
    if (stream->open.count > 0)
        stream->open.items[stream->open.count - 1].inside_ns += run->open[0].inside_ns;
    for (size_t i = 1; i <= run->open_count; i++)
        stream->open.items[stream->open.count++] = run->open[i];
    struct vv_table *slices = &stream->process->model->slices.table;
    slices->count = slices->used = run->row;
    VV_TRY(do_notes(run, stream, error));
    stream->ticks = run->ticks;
    stream->time_ns = run->time_ns;
    stream->has_empty |= run->has_empty;
    return VARVE_OK;
}

/* ---- runs one after the other ---- */

void vv_ranges_prepare(struct vv_stream_reader *stream)
{
    struct vv_process_reader *process = stream->process;
    process->run->classes = process->classes;
    process->run->class_count = process->class_count;
    process->run->columns = process->model->slices;
    process->run->track = stream->track;
    process->run->note_room = VV_RUN_NOTES;
}

enum varve_code vv_ranges_read(struct vv_stream_reader *stream, const uint64_t *words, size_t count,
                               uint64_t offset, size_t *out_used, struct varve_error *error)
{
    struct vv_process_reader *process = stream->process;
    struct vv_range_run *run = process->run;
    uint64_t base_ticks = process->timeline.base_ticks;
    *out_used = 0;
    if (!process->timeline.has_base || stream->records == 0 || stream->ticks < base_ticks)
        return VARVE_OK;
    run->timeline = process->timeline;
    run->first_row = (uint32_t)process->model->slices.table.count;
    run->around = stream->open.items;
    run->around_count = stream->open.count;
    run->ticks = stream->ticks;
    run->time_ns = stream->time_ns;
    run->last_ticks = base_ticks + VV_TIMELINE_SPAN_TICKS - 1;
    if (run->last_ticks > stream->next_pause_ticks)
        run->last_ticks = stream->next_pause_ticks;
    vv_run_start(run);
    *out_used = vv_ranges_decode(run, words, count, offset);
    stream->records += run->records;
    return *out_used == 0 ? VARVE_OK : vv_run_settle(run, stream, error);
}
