/* SPDX-License-Identifier: Apache-2.0 */
/* parallel.c — see parallel.h. */
#include "import/varve/process/parallel.h"

#include <endian.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/workers.h"
#include "ctf/record_length.h"
#include "import/varve/process/ranges.h"
#include "model/cells.h"

#define SPAN_PACKETS 8u
#define SPAN_BYTES ((size_t)SPAN_PACKETS * VV_PACKET_BYTES)
#define SPANS_A_THREAD 4u
#define SPANS_MAX 64u
#define PACKETS_MIN 64u   /* fewer packets are read faster by one thread */
#define REST_MIN 16u      /* packets to be read by stream.c after one that is not plain … */
#define REST_MAX 1024u    /* … the number doubles, up to this, if that repeats                    */
#define BACKINGS_MAX 128u

struct span {
    const struct vv_packet *packets;
    size_t packet_count;
    uint64_t *words; /* SPAN_BYTES: the packets as they are in the file                         */
    /* set by the scan */
    bool is_plain;
    uint64_t begin_ticks, end_ticks, records;
    size_t note_count;
    uint32_t begins;                     /* slices that begin                                  */
    size_t ended_count, open_count;
    /* For each range left open: its index among this span's begins. */
    uint32_t open_begins[VV_RUN_DEPTH + 1];
    /* set for decoding, and by it */
    VV_ARRAY_OF(struct vv_open_range) around;
    VV_ARRAY_OF(struct vv_run_note) notes;
    struct vv_range_run run;
    bool is_done;
};

struct wave {
    struct span spans[SPANS_MAX];
    size_t span_count, packet_count;
    size_t plain_count; /* the first so many spans can be decoded                                */
};

/* A piece of a column that gets its memory from one thread, so that no two threads do this at
 * once. */
struct backing {
    void *cells;
    size_t first_byte, limit_byte;
};

#define MOVE_ENDS 1u
#define MOVE_BEGINS 2u
#define MOVE_NOTE 4u

struct vv_waves {
    uint8_t *moves; /* id -> MOVE_ bits if its class is plain, else 0                            */
    size_t spans_a_wave;
    struct wave *decoded, *looked; /* in the current job                                         */
    struct wave waves[2];
    struct backing backings[BACKINGS_MAX];
    size_t backing_count;
    uint64_t backed_rows;
    const struct vv_input *input; /* the current part                                           */
    uint32_t part;
    const struct vv_process_reader *process;
    size_t rest, next_rest; /* packets that stream.c reads                                       */
};

/* ---- scanning ---- */

/* 0: the note does not end before the packet. */
static size_t note_words(const struct vv_process_reader *process, uint32_t id,
                         const uint64_t *words, size_t count)
{
    size_t length = process->classes[id].words;
    length = length != 0 ? length : vv_record_length(words, count);
    return length <= count ? length : 0;
}

/* Must accept only records that vv_ranges_decode accepts, and count the ranges as it does. */
static bool look_through(struct span *span, const struct vv_waves *waves, const uint64_t *words,
                         size_t count)
{
    const uint8_t *const moves = waves->moves;
    size_t depth = span->open_count, ended = span->ended_count;
    uint32_t begins = span->begins, *const open_begins = span->open_begins;
    uint64_t former = span->end_ticks, ticks = former;
    for (size_t at = 0; at < count; at++, span->records++) {
        uint64_t word = le64toh(words[at]);
        uint32_t id = (uint32_t)(word & VV_ID_MASK);
        uint64_t ahead = ((word >> VV_ID_BITS) - former) & VV_TICKS_MASK;
        uint32_t move = moves[id];
        if (move == 0 || ahead >= VV_TIMELINE_SPAN_TICKS)
            return false;
        former = word >> VV_ID_BITS;
        ticks += ahead;
        if (move == MOVE_NOTE) {
            size_t length = note_words(waves->process, id, words + at, count - at);
            if (length == 0)
                return false;
            at += length - 1;
            span->note_count++;
            continue;
        }
        if (__builtin_expect(depth < (move & MOVE_ENDS), 0)) {
            ended++;
            depth++;
        }
        depth -= move & MOVE_ENDS;
        open_begins[depth] = begins;
        depth += move >> 1;
        begins += move >> 1;
        if (depth > VV_RUN_DEPTH)
            return false;
    }
    span->open_count = depth;
    span->ended_count = ended;
    span->begins = begins;
    span->end_ticks = ticks;
    return ended <= VV_RUN_DEPTH;
}

static const uint64_t *words_of(const struct span *span, const struct vv_packet *packet)
{
    return span->words +
           (packet->offset - span->packets[0].offset + sizeof(struct vv_packet_header)) / 8;
}

static size_t word_count(const struct vv_packet *packet)
{
    return (packet->content_bytes - sizeof(struct vv_packet_header)) / 8;
}

/* Scans packet by packet, so that the words have just been read and are still in the cache. */
static bool look_at_packet(const struct vv_waves *waves, struct span *span,
                           const struct vv_packet *packet)
{
    uint64_t *words = span->words + (packet->offset - span->packets[0].offset) / 8;
    size_t header = sizeof(struct vv_packet_header), got = 0;
    if (packet->begin_ticks > span->end_ticks)
        span->end_ticks = packet->begin_ticks;
    return vv_input_read(waves->input, packet->offset + header, words + header / 8,
                         (size_t)packet->content_bytes - header, &got, NULL) == VARVE_OK &&
           got == packet->content_bytes - header &&
           look_through(span, waves, words + header / 8, got / 8);
}

static void look_at_span(const struct vv_waves *waves, struct span *span)
{
    span->is_plain = true;
    span->ended_count = span->open_count = 0;
    span->begins = 0;
    span->records = 0;
    span->note_count = 0;
    span->begin_ticks = span->end_ticks = span->packets[0].begin_ticks;
    for (size_t i = 0; i < span->packet_count && span->is_plain; i++)
        span->is_plain = look_at_packet(waves, span, &span->packets[i]);
}

/* ---- decoding ---- */

static void decode_span(struct span *span)
{
    vv_run_start(&span->run);
    span->is_done = true;
    for (size_t i = 0; i < span->packet_count && span->is_done; i++) {
        const struct vv_packet *packet = &span->packets[i];
        if (packet->begin_ticks > span->run.ticks)
            span->run.ticks = packet->begin_ticks;
        span->is_done = vv_ranges_decode(&span->run, words_of(span, packet), word_count(packet),
                                         packet->offset + sizeof(struct vv_packet_header)) ==
                        word_count(packet);
    }
}

/* The items are: backings, spans to decode, spans to scan. */
static void do_item(void *context, size_t item)
{
    struct vv_waves *waves = context;
    size_t decoded = waves->decoded == NULL ? 0 : waves->decoded->plain_count;
    if (item < waves->backing_count) {
        const struct backing *backing = &waves->backings[item];
        vv_cells_back(backing->cells, backing->first_byte, backing->limit_byte);
    } else if (item < waves->backing_count + decoded) {
        decode_span(&waves->decoded->spans[item - waves->backing_count]);
    } else {
        look_at_span(waves, &waves->looked->spans[item - waves->backing_count - decoded]);
    }
}

static void do_job(struct vv_waves *waves, struct wave *decoded, struct wave *looked)
{
    waves->decoded = decoded;
    waves->looked = looked;
    size_t items = waves->backing_count + (decoded == NULL ? 0 : decoded->plain_count) +
                   (looked == NULL ? 0 : looked->span_count);
    vv_workers_run(waves->process->threads, items, do_item, waves);
    waves->backing_count = 0;
}

/* ---- where the spans' slices go ---- */

/* Lists the cells, in whole huge pages, that rows up to the limit need, in columns that every range
 * fills. */
static void list_backings(struct vv_waves *waves, const struct vv_slices *slices,
                          uint64_t limit_row)
{
    const struct { void *cells; size_t width_bytes; } columns[] = {
        { slices->begin_ns, sizeof *slices->begin_ns }, { slices->duration_ns,
                                                          sizeof *slices->duration_ns },
        { slices->self_ns, sizeof *slices->self_ns },   { slices->name, sizeof *slices->name },
        { slices->parent, sizeof *slices->parent },     { slices->source, sizeof *slices->source },
        { slices->layer, sizeof *slices->layer },
    };
    uint64_t first =
        waves->backed_rows > slices->table.count ? waves->backed_rows : slices->table.count;
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        size_t width = columns[i].width_bytes, page = VV_CELLS_PAGE_BYTES;
        size_t limit = (limit_row * width + page - 1) / page * page;
        for (size_t at = (first * width + page - 1) / page * page; at < limit; at += page)
            if (waves->backing_count < BACKINGS_MAX)
                waves->backings[waves->backing_count++] =
                    (struct backing){ columns[i].cells, at, at + page };
    }
    waves->backed_rows = limit_row;
}

/* The number of spans at the begin of the wave that can be decoded, and the number of slices in
 * them. */
static size_t count_plain(const struct wave *wave, const struct vv_stream_reader *stream,
                          uint64_t *out_begins)
{
    uint64_t ticks = stream->ticks, begins = 0;
    size_t count = 0, levels = stream->open.count;
    for (; count < wave->span_count; count++) {
        const struct span *span = &wave->spans[count];
        if (!span->is_plain || span->begin_ticks < ticks || span->ended_count > levels ||
            span->end_ticks > stream->next_pause_ticks ||
            span->end_ticks - span->begin_ticks >= VV_TIMELINE_SPAN_TICKS)
            break;
        levels += span->open_count - span->ended_count;
        begins += span->begins;
        ticks = span->end_ticks;
    }
    *out_begins = begins;
    return count;
}

/* The ranges open around a span are those around the span before, without those that it ends, and
 * with those that it leaves open. */
static enum varve_code stack_around(struct span *span, const struct span *before,
                                    const struct vv_stream_reader *stream,
                                    struct varve_error *error)
{
    const struct vv_open_range *from = before == NULL ? stream->open.items : before->around.items;
    size_t kept = before == NULL ? stream->open.count : before->around.count - before->ended_count;
    size_t more = before == NULL ? 0 : before->open_count;
    VV_TRY(vv_array_reserve(&span->around.items, &span->around.capacity, kept + more,
                            sizeof *span->around.items, error));
    span->around.count = kept + more;
    for (size_t i = 0; i < kept; i++)
        span->around.items[i] = from[i];
    const struct vv_open_range nothing = { .step = VV_NONE, .phase = VV_NONE };
    const struct vv_open_range *parent = kept > 0 ? &span->around.items[kept - 1] : &nothing;
    for (size_t i = 0; i < more; i++) {
        span->around.items[kept + i] = *parent; /* a plain range is neither a step nor a phase */
        span->around.items[kept + i].slice = before->run.first_row + before->open_begins[i];
    }
    return VARVE_OK;
}

static bool start_run(struct span *span, const struct vv_stream_reader *stream, uint32_t first_row)
{
    const struct vv_process_reader *process = stream->process;
    struct vv_range_run *run = &span->run;
    run->classes = process->classes;
    run->class_count = process->class_count;
    run->track = stream->track;
    run->timeline = process->timeline;
    run->columns = process->model->slices;
    run->first_row = first_row;
    run->around = span->around.items;
    run->around_count = span->around.count;
    run->ticks = span->begin_ticks;
    run->last_ticks = span->end_ticks;
    run->notes = span->notes.items;
    run->note_room = span->note_count;
    run->time_ns = 0;
    return vv_timeline_rebase(&run->timeline, span->begin_ticks, NULL) == VARVE_OK;
}

/* Prepares all spans that can be decoded. */
static enum varve_code place_spans(struct vv_waves *waves, struct wave *wave,
                                   const struct vv_stream_reader *stream, struct varve_error *error)
{
    struct vv_model *model = stream->process->model;
    uint64_t begins, row = model->slices.table.count;
    size_t count = count_plain(wave, stream, &begins);
    wave->plain_count = 0;
    enum varve_code code = vv_model_reserve_slices(model, begins, error);
    if (code == VARVE_LIMIT) /* they may still fit when stream.c adds one by one */
        return VARVE_OK;
    for (size_t i = 0; i < count && code == VARVE_OK; i++) {
        struct span *span = &wave->spans[i];
        code = stack_around(span, i == 0 ? NULL : span - 1, stream, error);
        if (code == VARVE_OK)
            code = vv_array_reserve(&span->notes.items, &span->notes.capacity, span->note_count,
                                    sizeof *span->notes.items, error);
        if (code != VARVE_OK || !start_run(span, stream, (uint32_t)row))
            break;
        row += span->begins;
        wave->plain_count++;
    }
    list_backings(waves, &model->slices, row);
    return code;
}

static enum varve_code settle_spans(struct wave *wave, struct vv_stream_reader *stream,
                                    size_t *out_packets, struct varve_error *error)
{
    for (size_t i = 0; i < wave->plain_count; i++) {
        struct span *span = &wave->spans[i];
        if (!span->is_done || span->run.row != span->run.first_row + span->begins)
            VV_FAIL(error, VARVE_INTERNAL, "'%s': two looks at it differ", stream->path);
        VV_TRY(vv_run_settle(&span->run, stream, error));
        stream->records += span->records;
        *out_packets += span->packet_count;
    }
    return VARVE_OK;
}

/* ---- the packets of a wave ---- */

static bool is_quiet(const struct vv_packets *packets, size_t index, uint32_t part)
{
    const struct vv_packet *packet = &packets->items[index];
    return packet->part == part && !packet->after_gap && !packet->cut &&
           packet->discarded == packet[-1].discarded;
}

static void plan_wave(const struct vv_waves *waves, struct wave *wave,
                      const struct vv_stream_reader *stream, size_t first)
{
    const struct vv_packets *packets = stream->packets;
    size_t at = first;
    wave->span_count = 0;
    while (wave->span_count < waves->spans_a_wave) {
        struct span *span = &wave->spans[wave->span_count];
        const struct vv_packet *begin = &packets->items[at];
        size_t count = 0;
        while (at < packets->count && count < SPAN_PACKETS && is_quiet(packets, at, waves->part) &&
               begin[count].offset + begin[count].content_bytes - begin->offset <= SPAN_BYTES) {
            count++;
            at++;
        }
        if (count == 0)
            break;
        span->packets = begin;
        span->packet_count = count;
        wave->span_count++;
    }
    wave->packet_count = at - first;
}

/* ---- all waves ---- */

static enum varve_code create(struct vv_process_reader *process, struct varve_error *error)
{
    struct vv_waves *waves = calloc(1, sizeof *waves);
    if (waves == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to read with several threads");
    process->waves = waves;
    waves->process = process;
    waves->next_rest = REST_MIN;
    waves->spans_a_wave = process->threads * SPANS_A_THREAD;
    if (waves->spans_a_wave > SPANS_MAX)
        waves->spans_a_wave = SPANS_MAX;
    for (size_t i = 0; i < 2 * waves->spans_a_wave; i++) {
        struct span *span = &waves->waves[i % 2].spans[i / 2];
        span->words = malloc(SPAN_BYTES);
        if (span->words == NULL)
            VV_FAIL(error, VARVE_NO_MEMORY, "no memory to read with several threads");
    }
    waves->moves = calloc((size_t)VV_ID_MASK + 1, 1);
    if (waves->moves == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to read with several threads");
    for (uint32_t id = 0; id < process->class_count; id++)
        waves->moves[id] = (process->classes[id].plain_ends ? MOVE_ENDS : 0) |
                           (process->classes[id].plain_begins ? MOVE_BEGINS : 0) |
                           (process->classes[id].is_note ? MOVE_NOTE : 0);
    return VARVE_OK;
}

void vv_waves_destroy(struct vv_waves *waves)
{
    if (waves == NULL)
        return;
    for (size_t i = 0; i < 2 * SPANS_MAX; i++) {
        free(waves->waves[i % 2].spans[i / 2].words);
        free(waves->waves[i % 2].spans[i / 2].around.items);
        free(waves->waves[i % 2].spans[i / 2].notes.items);
    }
    free(waves->moves);
    free(waves);
}

/* True only inside a stream: stream.c reads the first record of a stream, and the packets after one
 * that was not plain. */
static bool is_time(struct vv_stream_reader *stream, const struct vv_input *input, size_t first)
{
    const struct vv_process_reader *process = stream->process;
    if (process->threads < 2 || stream->counts_only || stream->records == 0 ||
        stream->track == VV_NONE || !process->timeline.has_base || input->packed != NULL)
        return false;
    if (process->waves != NULL && process->waves->rest > 0) {
        process->waves->rest--;
        return false;
    }
    return stream->packets->count - first >= PACKETS_MIN;
}

static void rest(struct vv_waves *waves)
{
    waves->rest = waves->next_rest;
    waves->next_rest = waves->next_rest < REST_MAX ? waves->next_rest * 2 : REST_MAX;
}

static enum varve_code read_waves(struct vv_waves *waves, struct vv_stream_reader *stream,
                                  size_t first, size_t *out_packets, struct varve_error *error)
{
    struct wave *wave = &waves->waves[0], *next = &waves->waves[1];
    plan_wave(waves, wave, stream, first);
    do_job(waves, NULL, wave);
    while (wave->span_count > 0) {
        VV_TRY(place_spans(waves, wave, stream, error));
        bool is_plain = wave->plain_count == wave->span_count;
        next->span_count = 0;
        if (is_plain)
            plan_wave(waves, next, stream, first + *out_packets + wave->packet_count);
        do_job(waves, wave, next);
        VV_TRY(settle_spans(wave, stream, out_packets, error));
        if (!is_plain) {
            rest(waves);
            return VARVE_OK;
        }
        waves->next_rest = REST_MIN;
        struct wave *former = wave;
        wave = next;
        next = former;
    }
    return VARVE_OK;
}

enum varve_code vv_waves_read(struct vv_stream_reader *stream, const struct vv_input *input,
                              size_t first, size_t *out_packets, struct varve_error *error)
{
    struct vv_process_reader *process = stream->process;
    *out_packets = 0;
    if (!is_time(stream, input, first))
        return VARVE_OK;
    if (process->waves == NULL)
        VV_TRY(create(process, error));
    process->waves->input = input;
    process->waves->part = stream->packets->items[first].part;
    process->waves->backed_rows = 0;
    return read_waves(process->waves, stream, first, out_packets, error);
}
