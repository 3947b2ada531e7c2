/* SPDX-License-Identifier: Apache-2.0 */
/* append.c — appends the rows of decoded chunks to those of the model, in the order of the file.
 *
 * One thread moves one column of all chunks, so no two threads write to one page. A column that a
 * chunk did not fill is not moved: the model's cells are blank (model/cells.h). */
#include "base/large_pages.h"
#include "base/workers.h"
#include "import/xspace/xspace.h"
#include "model/cells.h"

#define MOVES_MAX 192u

/* What a cell refers to that has another number in the model: rows of another table, or texts. */
enum link {
    LINK_NONE, LINK_OPS, LINK_ACTIVITIES, LINK_COLLECTIVES, LINK_ARGS, LINK_SLICES,
    LINK_TEXT,
    LINK_VALUE /* a text, if the kind of the value says so                                      */
};

struct move {
    const struct vv_model_table *table;
    const struct vv_column *column;
    uint8_t row;   /* enum vv_table_row                                                         */
    uint8_t link;
};

struct appending {
    struct vv_xspace *space;
    struct vv_xspace_chunk *chunks;
    size_t chunk_count;
    struct move moves[MOVES_MAX];
    size_t move_count;
};

static struct vv_table *table_of(struct vv_model *model, int row)
{
    return (struct vv_table *)((char *)model + vv_model_tables[row].table_offset);
}

static const struct {
    uint8_t row, link;
    size_t pointer_offset;
} links[] = {
    { VV_TABLE_SLICES, LINK_OPS, offsetof(struct vv_slices, op) },
    { VV_TABLE_SLICES, LINK_ACTIVITIES, offsetof(struct vv_slices, activity) },
    { VV_TABLE_SLICES, LINK_ARGS, offsetof(struct vv_slices, first_arg) },
    { VV_TABLE_MARKS, LINK_ARGS, offsetof(struct vv_marks, first_arg) },
    { VV_TABLE_OPS, LINK_COLLECTIVES, offsetof(struct vv_ops, collective) },
    { VV_TABLE_ACTIVITIES, LINK_SLICES, offsetof(struct vv_activities, slice) },
    { VV_TABLE_ACTIVITIES, LINK_COLLECTIVES, offsetof(struct vv_activities, collective) },
    { VV_TABLE_SLICES, LINK_TEXT, offsetof(struct vv_slices, name) },
    { VV_TABLE_SLICES, LINK_TEXT, offsetof(struct vv_slices, category) },
    { VV_TABLE_MARKS, LINK_TEXT, offsetof(struct vv_marks, name) },
    { VV_TABLE_COUNTERS, LINK_TEXT, offsetof(struct vv_counters, name) },
    { VV_TABLE_COUNTERS, LINK_TEXT, offsetof(struct vv_counters, series) },
    { VV_TABLE_FACTS, LINK_TEXT, offsetof(struct vv_facts, key) },
    { VV_TABLE_FACTS, LINK_VALUE, offsetof(struct vv_facts, value) },
    { VV_TABLE_ARGS, LINK_TEXT, offsetof(struct vv_args, key) },
    { VV_TABLE_ARGS, LINK_VALUE, offsetof(struct vv_args, value) },
};

/* vv_model_finish fills these. It sets `order` where a line's events do not stand in order of
 * time. */
static const size_t left_out[] = {
    offsetof(struct vv_slices, self_ns), offsetof(struct vv_slices, parent),
    offsetof(struct vv_slices, depth),
    offsetof(struct vv_slices, step),    offsetof(struct vv_slices, phase),
     offsetof(struct vv_slices, order),
};

static bool is_left_out(int row, const struct vv_column *column)
{
    for (size_t i = 0; row == VV_TABLE_SLICES && i < sizeof left_out / sizeof left_out[0]; i++)
        if (left_out[i] == column->pointer_offset)
            return true;
    return false;
}

static uint8_t link_of(int row, const struct vv_column *column)
{
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++)
        if (links[i].row == row && links[i].pointer_offset == column->pointer_offset)
            return links[i].link;
    return LINK_NONE;
}

/* ---- one column ---- */

static bool is_blank(const void *cells, size_t bytes, unsigned char blank)
{
    const unsigned char *byte = cells;
    return byte[0] == blank && memcmp(byte, byte + 1, bytes - 1) == 0;
}

static void move_links(const struct vv_xspace_chunk *chunk, uint8_t link, const uint32_t *from,
                       uint32_t *to, uint64_t count)
{
    static const uint8_t tables[] = { [LINK_OPS] = VV_TABLE_OPS,
                                      [LINK_ACTIVITIES] = VV_TABLE_ACTIVITIES,
                                      [LINK_COLLECTIVES] = VV_TABLE_COLLECTIVES,
                                      [LINK_ARGS] = VV_TABLE_ARGS,
                                      [LINK_SLICES] = VV_TABLE_SLICES };
    uint32_t own = link == LINK_ARGS || link == LINK_OPS ? VV_XSPACE_OWN_ROWS : 0,
             shift = chunk->base[tables[link]] - own;
    for (uint64_t i = 0; i < count; i++)
        to[i] = from[i] == VV_NONE || from[i] < own ? from[i] : from[i] + shift;
}

static uint32_t text_in_model(const struct vv_xspace_chunk *chunk, uint32_t text)
{
    return text < VV_XSPACE_OWN_TEXTS ? text : chunk->texts.items[text - VV_XSPACE_OWN_TEXTS];
}

/* For a chunk with texts of its own. */
static void move_texts(const struct vv_xspace_chunk *chunk, const struct move *move,
                       const char *from, char *to, uint64_t count)
{
    const struct vv_model *rows = chunk->sink.rows;
    const uint8_t *kinds = move->row == VV_TABLE_ARGS ? rows->args.kind : rows->facts.kind;
    for (uint64_t i = 0; i < count; i++) {
        if (move->link == LINK_TEXT) {
            ((uint32_t *)(void *)to)[i] =
                text_in_model(chunk, ((const uint32_t *)(const void *)from)[i]);
            continue;
        }
        uint64_t value = ((const uint64_t *)(const void *)from)[i];
        ((uint64_t *)(void *)to)[i] =
            kinds[i] == VV_ARG_TEXT ? text_in_model(chunk, (uint32_t)value) : value;
    }
}

static void move_column(void *context, size_t number)
{
    const struct appending *appending = context;
    const struct move *move = &appending->moves[number];
    size_t width = move->column->width_bytes;
    char *to, *from;
    memcpy(&to, (char *)table_of(appending->space->model, move->row) + move->column->pointer_offset,
           sizeof to);
    for (size_t i = 0; i < appending->chunk_count; i++) {
        const struct vv_xspace_chunk *chunk = &appending->chunks[i];
        const struct vv_table *table = table_of(chunk->sink.rows, move->row);
        if (table->count == 0)
            continue;
        memcpy(&from, (const char *)table + move->column->pointer_offset, sizeof from);
        if (is_blank(from, table->count * width, move->column->blank))
            continue;
        uint64_t first = (uint64_t)chunk->base[move->row] * width;
        char *place = to + first;
        if (move->column->blank != 0 &&
            vv_links_are_dense((const uint32_t *)(const void *)from, table->count))
            vv_cells_fill(to, first, first + table->count * width);
        if (move->link >= LINK_TEXT && chunk->texts.count > 0)
            move_texts(chunk, move, from, place, table->count);
        else if (move->link != LINK_NONE && move->link < LINK_TEXT)
            move_links(chunk, move->link, (const uint32_t *)(const void *)from,
                       (uint32_t *)(void *)place, table->count);
        else
            memcpy(place, from, table->count * width);
    }
}

/* ---- all columns ---- */

/* Makes room in a table, and finds where each chunk's rows go. */
static enum varve_code make_room(const struct appending *appending, int row, uint64_t *out_extra,
                                 struct varve_error *error)
{
    struct vv_model *model = appending->space->model;
    struct vv_table *table = table_of(model, row);
    uint64_t base = table->count,
             limit = row == VV_TABLE_ARGS || row == VV_TABLE_OPS ? VV_XSPACE_OWN_ROWS : VV_NONE;
    for (size_t i = 0; i < appending->chunk_count; i++) {
        appending->chunks[i].base[row] = (uint32_t)base;
        base += table_of(appending->chunks[i].sink.rows, row)->count;
    }
    *out_extra = base - table->count;
    if (base >= limit)
        VV_FAIL(error, VARVE_LIMIT, "more than %llu rows in one table", (unsigned long long)limit);
    return *out_extra == 0 ? VARVE_OK
                           : vv_model_reserve(model, (enum vv_table_row)row, *out_extra, error);
}

static void add_moves(struct appending *appending, int row)
{
    const struct vv_model_table *table = &vv_model_tables[row];
    for (size_t i = 0; i < table->column_count; i++)
        if (!is_left_out(row, &table->columns[i]))
            appending->moves[appending->move_count++] =
                (struct move){ table, &table->columns[i], (uint8_t)row,
                               link_of(row, &table->columns[i]) };
}

static void note_process(struct vv_model *model, const struct vv_xspace_segment *segment)
{
    struct vv_processes *processes = &model->processes;
    uint32_t row = segment->plane->process;
    bool is_first = processes->begin_ns[row] > processes->end_ns[row];
    processes->events[row] += segment->event_count;
    if (segment->begin_ns > segment->end_ns)
        return;
    if (is_first || segment->begin_ns < processes->begin_ns[row])
        processes->begin_ns[row] = segment->begin_ns;
    if (is_first || segment->end_ns > processes->end_ns[row])
        processes->end_ns[row] = segment->end_ns;
}

/* Adds the chunk's own texts to the model. */
static enum varve_code add_texts(struct vv_xspace *space, struct vv_xspace_chunk *chunk,
                                 struct varve_error *error)
{
    const struct vv_intern *own = &chunk->sink.rows->strings;
    chunk->texts.count = 0;
    if (own->count <= 1)
        return VARVE_OK;
    VV_TRY(vv_array_reserve(&chunk->texts.items, &chunk->texts.capacity, own->count,
                            sizeof *chunk->texts.items, error));
    for (uint32_t id = 0; id < own->count; id++)
        VV_TRY(vv_intern_add(&space->model->strings, own->strings[id], own->lengths[id],
                             &chunk->texts.items[id], error));
    chunk->texts.count = own->count;
    return VARVE_OK;
}

static enum varve_code look_up(struct vv_xspace *space, const struct vv_xspace_chunk *chunk,
                               struct varve_error *error)
{
    struct vv_ops *ops = &chunk->sink.rows->ops;
    for (size_t i = 0; i < chunk->late.count; i++) {
        const struct vv_xspace_late *late = &chunk->late.items[i];
        const struct vv_xspace_shape *shape = NULL;
        uint32_t text = text_in_model(chunk, late->text);
        if (late->is_source) {
            VV_TRY(
                vv_xspace_source(space, text, &chunk->sink.rows->slices.source[late->row], error));
            continue;
        }
        VV_TRY(vv_xspace_shape(space, text, &shape, error));
        if (shape == NULL)
            continue;
        ops->shapes[late->row] = shape->text;
        ops->first_tensor[late->row] = shape->first_tensor;
        ops->tensor_count[late->row] = shape->tensor_count;
    }
    return VARVE_OK;
}

/* Adds the counts of reading events. */
static void add_health(struct vv_health *health, const struct vv_health *more)
{
    health->ignored += more->ignored;
    health->unplaced += more->unplaced;
    health->negative += more->negative;
}

static enum varve_code append_others(struct vv_xspace *space, const struct vv_xspace_chunk *chunk,
                                     struct varve_error *error)
{
    struct vv_xspace_sink *sink = &space->sink;
    struct vv_health *health = &space->model->health;
    size_t ends = sink->ends.count, room = sink->ends.capacity;
    struct vv_health former = *health;
    VV_TRY(vv_array_reserve(&sink->ends.items, &sink->ends.capacity, ends + chunk->sink.ends.count,
                            sizeof *sink->ends.items, error));
    if (sink->ends.capacity > room)
        vv_large_pages_wish(sink->ends.items, sink->ends.capacity * sizeof *sink->ends.items);
    for (size_t i = 0; i < chunk->sink.ends.count; i++) {
        sink->ends.items[sink->ends.count] = chunk->sink.ends.items[i];
        sink->ends.items[sink->ends.count++].slice += chunk->base[VV_TABLE_SLICES];
    }
    add_health(health, &chunk->sink.rows->health);
    for (size_t i = 0; i < chunk->segments.count; i++) {
        const struct vv_xspace_segment *segment = &chunk->segments.items[i];
        uint32_t process = segment->plane->process;
        struct vv_xspace_row_counts *line = &space->line_rows;
        line->events = segment->is_first ? space->model->processes.events[process] : line->events;
        line->begin_ns =
            segment->is_first ? space->model->processes.begin_ns[process] : line->begin_ns;
        line->end_ns = segment->is_first ? space->model->processes.end_ns[process] : line->end_ns;
        note_process(space->model, segment);
        if (!segment->is_first)
            continue;
        for (int row = 0; row < VV_TABLE_COUNT; row++)
            line->rows[row] = chunk->base[row] + segment->before.rows[row];
        line->ends = ends + segment->before.ends;
        line->health = former;
        add_health(&line->health, &segment->before.health);
    }
    return VARVE_OK;
}

enum varve_code vv_xspace_chunks_append(struct vv_xspace *space, struct vv_xspace_chunk *chunks,
                                        size_t count, struct varve_error *error)
{
    struct appending appending = { .space = space, .chunks = chunks, .chunk_count = count };
    uint64_t extra[VV_TABLE_COUNT];
    for (size_t i = 0; i < count; i++) {
        VV_TRY(add_texts(space, &chunks[i], error));
        VV_TRY(look_up(space, &chunks[i], error));
    }
    for (int row = 0; row < VV_TABLE_COUNT; row++) {
        VV_TRY(make_room(&appending, row, &extra[row], error));
        if (extra[row] > 0)
            add_moves(&appending, row);
    }
    for (size_t i = 0; i < count; i++)
        VV_TRY(append_others(space, &chunks[i], error));
    vv_workers_run(space->model->threads, appending.move_count, move_column, &appending);
    for (int row = 0; row < VV_TABLE_COUNT; row++) {
        struct vv_table *table = table_of(space->model, row);
        table->count += extra[row];
        if (table->used < table->count)
            table->used = table->count;
    }
    return VARVE_OK;
}

/* ---- removing rows ---- */

void vv_xspace_rows_count(const struct vv_xspace_sink *sink,
                          struct vv_xspace_row_counts *out_counts)
{
    for (int row = 0; row < VV_TABLE_COUNT; row++)
        out_counts->rows[row] = table_of(sink->rows, row)->count;
    out_counts->ends = sink->ends.count;
    out_counts->health = sink->rows->health;
}

void vv_xspace_line_take_back(struct vv_xspace *space, uint32_t process)
{
    static const uint8_t filled[] = { VV_TABLE_SLICES, VV_TABLE_OPS,      VV_TABLE_STEPS,
                                           VV_TABLE_MARKS,
                                      VV_TABLE_COUNTERS, VV_TABLE_MEMORY, VV_TABLE_ACTIVITIES,
                                      VV_TABLE_COLLECTIVES, VV_TABLE_ARGS, VV_TABLE_FACTS };
    const struct vv_xspace_row_counts *line = &space->line_rows;
    for (size_t i = 0; i < sizeof filled; i++)
        table_of(space->model, filled[i])->count = line->rows[filled[i]];
    space->sink.ends.count = line->ends;
    space->model->health = line->health;
    space->model->processes.events[process] = line->events;
    space->model->processes.begin_ns[process] = line->begin_ns;
    space->model->processes.end_ns[process] = line->end_ns;
}
