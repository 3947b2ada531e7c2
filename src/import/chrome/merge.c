/* SPDX-License-Identifier: Apache-2.0 */
/* merge.c — every row number and string id of the part must be translated to that in the whole. A
 * table says which columns hold such numbers. Each column is copied and translated in one pass, and
 * the part's column is freed at once. */
#include "import/chrome/merge.h"

#include <stdlib.h>

#include "base/workers.h"
#include "model/cells.h"

#define BLOCK_ROWS 2048u

/* How the numbers of a column are translated: by adding the row at which the part's rows now begin,
 * or by a map. */
enum translation { ROWS_OF, BY_STRINGS, BY_TRACKS, BY_TENSORS, BY_ORDER };

struct translated {
    enum vv_table_row table;
    size_t offset;            /* of the pointer to the column                                   */
    enum translation how;
    enum vv_table_row target; /* for ROWS_OF                                                    */
};

#define STRING(TABLE, type, column)                                                                \
    {                                                                                              \
        VV_TABLE_##TABLE, offsetof(struct type, column), BY_STRINGS, 0                             \
    }
#define TRACK(TABLE, type, column) { VV_TABLE_##TABLE, offsetof(struct type, column), BY_TRACKS, 0 }
#define ROW(TABLE, type, column, TARGET) \
    { VV_TABLE_##TABLE, offsetof(struct type, column), ROWS_OF, VV_TABLE_##TARGET }

/* Columns that vv_model_finish fills are VV_NONE until then, and are not here. */
static const struct translated translations[] = {
    STRING(SLICES, vv_slices, name),
    STRING(SLICES, vv_slices, category),
    TRACK(SLICES, vv_slices, track),
    ROW(SLICES, vv_slices, op, OPS),
    ROW(SLICES, vv_slices, activity, ACTIVITIES),
    ROW(SLICES, vv_slices, first_arg, ARGS),
    { VV_TABLE_SLICES, offsetof(struct vv_slices, order), BY_ORDER, 0 },
    STRING(OPS, vv_ops, stack),
    STRING(OPS, vv_ops, module),
    STRING(OPS, vv_ops, shapes),
    STRING(OPS, vv_ops, scalars),
    ROW(OPS, vv_ops, collective, COLLECTIVES),
    { VV_TABLE_OPS, offsetof(struct vv_ops, first_tensor), BY_TENSORS, 0 },
    ROW(ACTIVITIES, vv_activities, collective, COLLECTIVES),
    STRING(COLLECTIVES, vv_collectives, name),
    STRING(COLLECTIVES, vv_collectives, group),
    STRING(COLLECTIVES, vv_collectives, ranks),
    STRING(COLLECTIVES, vv_collectives, dtype),
    STRING(ARGS, vv_args, key),
    STRING(FACTS, vv_facts, key),
    TRACK(STEPS, vv_steps, track),
    STRING(MARKS, vv_marks, name),
    STRING(MARKS, vv_marks, category),
    TRACK(MARKS, vv_marks, track),
    ROW(MARKS, vv_marks, first_arg, ARGS),
    STRING(COUNTERS, vv_counters, name),
    STRING(COUNTERS, vv_counters, series),
    TRACK(COUNTERS, vv_counters, track),
    TRACK(MEMORY, vv_memory, track),
};

/* Not moved: tensors are made with their shapes, processes and tracks by their idents; flows are
 * made last. */
static const enum vv_table_row moved_tables[] = {
    VV_TABLE_ARGS, VV_TABLE_SLICES, VV_TABLE_OPS, VV_TABLE_ACTIVITIES, VV_TABLE_COLLECTIVES,
    VV_TABLE_FACTS, VV_TABLE_STEPS, VV_TABLE_MARKS, VV_TABLE_COUNTERS, VV_TABLE_MEMORY
};

struct merging {
    struct vv_chrome_reader *whole, *part;
    uint32_t *strings, *tracks, *processes, *tensors, *asyncs, *families; /* maps               */
    uint64_t bases[VV_TABLE_COUNT]; /* number of rows in the whole before the part's            */
    uint32_t ordinal_base;
};

static struct vv_table *table_of(struct vv_model *model, enum vv_table_row row)
{
    return (struct vv_table *)((char *)model + vv_model_tables[row].table_offset);
}

/* ---- strings, processes, tracks ---- */

static enum varve_code map_strings(struct merging *merging, struct varve_error *error)
{
    const struct vv_intern *from = &merging->part->model->strings;
    for (uint32_t id = 0; id < from->count; id++)
        VV_TRY(vv_intern_add(&merging->whole->model->strings, from->strings[id], from->lengths[id],
                             &merging->strings[id], error));
    return VARVE_OK;
}

static struct vv_chrome_ident map_ident(const struct merging *merging, struct vv_chrome_ident ident)
{
    if (ident.kind == VV_IDENT_TEXT)
        ident.number = merging->strings[ident.number];
    return ident;
}

static void add_process(struct merging *merging, uint32_t from, uint32_t to)
{
    const struct vv_processes *own = &merging->part->model->processes;
    struct vv_processes *processes = &merging->whole->model->processes;
    processes->events[to] += own->events[from];
    if (own->begin_ns[from] < processes->begin_ns[to])
        processes->begin_ns[to] = own->begin_ns[from];
    if (own->end_ns[from] > processes->end_ns[to])
        processes->end_ns[to] = own->end_ns[from];
}

static enum varve_code map_track(struct merging *merging, const struct vv_chrome_place *place,
                                 struct varve_error *error)
{
    struct vv_chrome_place found;
    VV_TRY(vv_chrome_place(&merging->whole->places, merging->whole->model,
                           map_ident(merging, place->pid), map_ident(merging, place->tid), &found,
                           error));
    const struct vv_chrome_track_facts *own = vv_chrome_track(&merging->part->places, place->row);
    struct vv_chrome_track_facts *facts = vv_chrome_track(&merging->whole->places, found.row);
    facts->is_device = facts->is_device || own->is_device;
    if (own->device != VV_NONE)
        facts->device = own->device;
    merging->tracks[place->row] = found.row;
    merging->processes[place->process] = found.process;
    return VARVE_OK;
}

/* In the order of the part's rows, so that new places have the order in which the file names
 * them. */
static enum varve_code map_places(struct merging *merging, struct varve_error *error)
{
    const struct vv_chrome_places *places = &merging->part->places;
    uint64_t count = merging->part->model->tracks.table.count;
    const struct vv_chrome_place **by_row = calloc(count + 1, sizeof *by_row);
    enum varve_code code = VARVE_OK;
    if (by_row == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %llu tracks", (unsigned long long)count);
    for (size_t i = 0; i < places->all.count; i++)
        if (places->all.items[i].tid.kind != VV_IDENT_NONE)
            by_row[places->all.items[i].row] = &places->all.items[i];
    for (uint64_t row = 0; row < count && code == VARVE_OK; row++)
        code = map_track(merging, by_row[row], error);
    free(by_row);
    for (uint32_t i = 0; i < merging->part->model->processes.table.count && code == VARVE_OK; i++)
        add_process(merging, i, merging->processes[i]);
    return code;
}

/* ---- tensors ---- */

static enum varve_code map_shapes(struct merging *merging, struct varve_error *error)
{
    const struct vv_kineto_shapes *own = &merging->part->shapes;
    const struct vv_kineto_shape **by_row;
    uint64_t count = merging->part->model->tensors.table.count;
    enum varve_code code = VARVE_OK;
    by_row = calloc(count + 1, sizeof *by_row);
    if (by_row == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %zu shapes", own->all.count);
    for (size_t i = 0; i < own->all.count; i++)
        if (own->all.items[i].tensor_count > 0)
            by_row[own->all.items[i].first_tensor] = &own->all.items[i];
    for (uint64_t row = 0; row < count && code == VARVE_OK; row++)
        if (by_row[row] != NULL)
            code = vv_kineto_shape_by_ids(&merging->whole->shapes, merging->whole->model,
                                          vv_kineto_map_id(by_row[row]->dims, merging->strings),
                                          vv_kineto_map_id(by_row[row]->types, merging->strings),
                                          &merging->tensors[row], error);
    free(by_row);
    return code;
}

/* ---- columns ---- */

static const struct translated *translation_of(enum vv_table_row table, size_t offset)
{
    for (size_t i = 0; i < sizeof translations / sizeof translations[0]; i++)
        if (translations[i].table == table && translations[i].offset == offset)
            return &translations[i];
    return NULL;
}

static void translate(const struct merging *merging, const struct translated *how,
                      const uint32_t *from, uint32_t *to, uint64_t count)
{
    uint32_t base = (uint32_t)merging->bases[how->target];
    const uint32_t *map = how->how == BY_STRINGS  ? merging->strings
                          : how->how == BY_TRACKS ? merging->tracks
                                                  : merging->tensors;
    switch (how->how) {
    case ROWS_OF:
        for (uint64_t i = 0; i < count; i++)
            to[i] = from[i] == VV_NONE ? VV_NONE : from[i] + base;
        break;
    case BY_ORDER:
        for (uint64_t i = 0; i < count; i++)
            to[i] = from[i] >> 31 ? from[i] + merging->ordinal_base : from[i];
        break;
    default:
        for (uint64_t i = 0; i < count; i++)
            to[i] = from[i] == VV_NONE ? VV_NONE : map[from[i]];
        break;
    }
}

/* Does a blank cell stay blank when it is translated? */
static bool keeps_blank(const struct vv_column *column, const struct translated *how)
{
    return how == NULL || how->how == BY_STRINGS || how->how == BY_ORDER || column->blank != 0;
}

/* The new rows of the whole are blank, and blank cells should not be written without need
 * (cells.h). So blank cells are skipped, several at a time. */
static void move_cells(const struct merging *merging, const struct vv_column *column,
                       const struct translated *how, const char *from, char *to, uint64_t count)
{
    size_t width = column->width_bytes;
    bool is_passed = keeps_blank(column, how);
    for (uint64_t row = 0; row < count; row += BLOCK_ROWS) {
        uint64_t rows = count - row < BLOCK_ROWS ? count - row : BLOCK_ROWS;
        const char *cells = from + row * width;
        if (is_passed && (unsigned char)*cells == column->blank &&
            memcmp(cells, cells + 1, rows * width - 1) == 0)
            continue;
        if (how != NULL)
            translate(merging, how, (const uint32_t *)(const void *)cells,
                      (uint32_t *)(void *)(to + row * width), rows);
        else
            memcpy(to + row * width, cells, rows * width);
    }
}

static void move_column(const struct merging *merging, enum vv_table_row row,
                        const struct vv_column *column, uint64_t count)
{
    char *own, *whole;
    struct vv_table *from = table_of(merging->part->model, row);
    memcpy(&own, (char *)from + column->pointer_offset, sizeof own);
    memcpy(&whole, (char *)table_of(merging->whole->model, row) + column->pointer_offset,
           sizeof whole);
    size_t first = merging->bases[row] * column->width_bytes, bytes = count * column->width_bytes;
    if (column->blank != 0 && vv_links_are_dense((const uint32_t *)(const void *)own, count))
        vv_cells_fill(whole, first, first + bytes);
    move_cells(merging, column, translation_of(row, column->pointer_offset), own, whole + first,
               count);
    vv_cells_free(own);
    own = NULL;
    memcpy((char *)from + column->pointer_offset, &own, sizeof own);
}

/* All columns of all tables, to be moved one by one. */
struct columns {
    const struct merging *merging;
    struct { enum vv_table_row table; const struct vv_column *column; uint64_t count; } items[128];
    size_t count;
};

static void move_piece(void *context, size_t piece)
{
    const struct columns *columns = context;
    move_column(columns->merging, columns->items[piece].table, columns->items[piece].column,
                columns->items[piece].count);
}

static enum varve_code add_columns(struct merging *merging, enum vv_table_row row,
                                   struct columns *columns, struct varve_error *error)
{
    const struct vv_model_table *about = &vv_model_tables[row];
    struct vv_table *to = table_of(merging->whole->model, row);
    uint64_t count = table_of(merging->part->model, row)->count;
    if (count == 0)
        return VARVE_OK;
    vv_table_clean(to, about->columns, about->column_count);
    VV_TRY(vv_table_reserve(to, about->columns, about->column_count, count, error));
    for (size_t i = 0; i < about->column_count; i++) {
        columns->items[columns->count].table = row;
        columns->items[columns->count].column = &about->columns[i];
        columns->items[columns->count++].count = count;
    }
    to->count += count;
    return VARVE_OK;
}

/* Translates the texts among the values of arguments and facts. */
static void translate_values(const uint32_t *strings, uint64_t *values, const uint8_t *kinds,
                             uint64_t first, uint64_t count)
{
    for (uint64_t i = first; i < count; i++)
        if (kinds[i] == VV_ARG_TEXT || kinds[i] == VV_ARG_JSON)
            values[i] = strings[values[i]];
}

static enum varve_code move_tables(struct merging *merging, struct varve_error *error)
{
    struct vv_model *model = merging->whole->model;
    struct columns columns = { .merging = merging };
    for (size_t i = 0; i < sizeof moved_tables / sizeof moved_tables[0]; i++)
        VV_TRY(add_columns(merging, moved_tables[i], &columns, error));
    vv_workers_run(model->threads, columns.count, move_piece, &columns);
    translate_values(merging->strings, model->args.value, model->args.kind,
                     merging->bases[VV_TABLE_ARGS], model->args.table.count);
    translate_values(merging->strings, model->facts.value, model->facts.kind,
                     merging->bases[VV_TABLE_FACTS], model->facts.table.count);
    return VARVE_OK;
}

/* ---- lists ---- */

static enum varve_code move_asyncs(struct merging *merging, struct varve_error *error)
{
    for (size_t i = 0; i < merging->part->asyncs.count; i++) {
        struct vv_chrome_async async = merging->part->asyncs.items[i];
        async.pid = map_ident(merging, async.pid);
        async.category = merging->strings[async.category];
        async.scope = merging->strings[async.scope];
        async.name = merging->strings[async.name];
        VV_TRY(vv_chrome_async_row(merging->whole, &async, &merging->asyncs[i], error));
    }
    for (size_t i = 0; i < merging->part->async_marks.count; i++) {
        struct vv_chrome_async_mark mark = merging->part->async_marks.items[i];
        mark.mark += (uint32_t)merging->bases[VV_TABLE_MARKS];
        mark.async = merging->asyncs[mark.async];
        mark.process = merging->processes[mark.process];
        VV_CHROME_PUSH(&merging->whole->async_marks, mark, error);
    }
    return VARVE_OK;
}

static struct vv_chrome_half map_half(const struct merging *merging, struct vv_chrome_half half,
                                      const uint32_t *groups)
{
    half.group = groups[half.group];
    half.track = merging->tracks[half.track];
    half.name = merging->strings[half.name];
    half.ordinal += merging->ordinal_base;
    if (half.slice != VV_NONE)
        half.slice += (uint32_t)merging->bases[VV_TABLE_SLICES];
    if (half.first_arg != VV_NONE)
        half.first_arg += (uint32_t)merging->bases[VV_TABLE_ARGS];
    return half;
}

static enum varve_code move_halves(struct merging *merging, struct varve_error *error)
{
    const struct vv_chrome_reader *part = merging->part;
    for (size_t i = 0; i < part->halves.count; i++)
        VV_CHROME_PUSH(&merging->whole->halves,
                       map_half(merging, part->halves.items[i], merging->tracks), error);
    for (size_t i = 0; i < part->async_halves.count; i++)
        VV_CHROME_PUSH(&merging->whole->async_halves,
                       map_half(merging, part->async_halves.items[i], merging->asyncs), error);
    return VARVE_OK;
}

static enum varve_code move_flows(struct merging *merging, struct varve_error *error)
{
    for (size_t i = 0; i < merging->part->families.count; i++) {
        struct vv_chrome_family family = merging->part->families.items[i];
        family.category = merging->strings[family.category];
        family.name = merging->strings[family.name];
        family.scope = merging->strings[family.scope];
        if (family.process != VV_NONE)
            family.process = merging->processes[family.process];
        VV_TRY(vv_chrome_family_row(merging->whole, &family, &merging->families[i], error));
    }
    size_t count = merging->part->flow_ends.count, first = merging->whole->flow_ends.count;
    VV_TRY(vv_array_reserve(&merging->whole->flow_ends.items, &merging->whole->flow_ends.capacity,
                            first + count, sizeof *merging->whole->flow_ends.items, error));
    for (size_t i = 0; i < count; i++) {
        struct vv_chrome_flow_end end = merging->part->flow_ends.items[i];
        end.family = merging->families[end.family];
        end.track = merging->tracks[end.track];
        end.ordinal += merging->ordinal_base;
        merging->whole->flow_ends.items[first + i] = end;
    }
    merging->whole->flow_ends.count += count;
    return VARVE_OK;
}

static enum varve_code move_titles(struct merging *merging, struct varve_error *error)
{
    for (size_t i = 0; i < merging->part->titles.count; i++) {
        struct vv_chrome_title title = merging->part->titles.items[i];
        title.pid = map_ident(merging, title.pid);
        title.tid = map_ident(merging, title.tid);
        title.key = merging->strings[title.key];
        if (title.value_kind == VV_ARG_TEXT || title.value_kind == VV_ARG_JSON)
            title.value = merging->strings[title.value];
        VV_CHROME_PUSH(&merging->whole->titles, title, error);
    }
    return VARVE_OK;
}

static enum varve_code move_rest(struct merging *merging, struct varve_error *error)
{
    struct vv_chrome_reader *whole = merging->whole, *part = merging->part;
    for (size_t i = 0; i < part->frames.count; i++) {
        struct vv_chrome_frame frame = part->frames.items[i];
        frame.id = merging->strings[frame.id];
        frame.parent = merging->strings[frame.parent];
        frame.name = merging->strings[frame.name];
        VV_CHROME_PUSH(&whole->frames, frame, error);
    }
    for (size_t i = 0; i < part->frame_args.count; i++)
        VV_CHROME_PUSH(&whole->frame_args,
                       part->frame_args.items[i] + (uint32_t)merging->bases[VV_TABLE_ARGS], error);
    for (size_t i = 0; i < part->step_slices.count; i++)
        VV_CHROME_PUSH(&whole->step_slices,
                       part->step_slices.items[i] + (uint32_t)merging->bases[VV_TABLE_SLICES],
                       error);
    for (size_t i = 0; i < part->runs.count; i++)
        VV_CHROME_PUSH(&whole->runs,
                       part->runs.items[i] + (uint32_t)merging->bases[VV_TABLE_STEPS], error);
    return VARVE_OK;
}

/* Every counter in struct vv_health is a uint64_t, and each part counts from 0. */
static void add_health(struct vv_health *whole, const struct vv_health *part)
{
    uint64_t sums[sizeof *whole / sizeof(uint64_t)], own[sizeof *whole / sizeof(uint64_t)];
    memcpy(sums, whole, sizeof *whole);
    memcpy(own, part, sizeof *part);
    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++)
        sums[i] += own[i];
    memcpy(whole, sums, sizeof *whole);
}

static void add_words(struct merging *merging)
{
    struct vv_chrome_reader *whole = merging->whole;
    const struct vv_chrome_reader *part = merging->part;
    whole->base_ns = part->base_ns != 0 ? part->base_ns : whole->base_ns;
    whole->rank = part->rank >= 0 ? part->rank : whole->rank;
    whole->world_size = part->world_size != 0 ? part->world_size : whole->world_size;
    whole->host = part->host != 0 ? merging->strings[part->host] : whole->host;
    whole->is_cut = whole->is_cut || part->is_cut;
    whole->window.is_cut = whole->window.is_cut || part->window.is_cut;
    whole->ordinal += part->ordinal;
    add_health(&whole->model->health, &part->model->health);
}

/* ---- the whole part ---- */

static enum varve_code allocate(struct merging *merging, struct varve_error *error)
{
    const struct vv_chrome_reader *part = merging->part;
    const struct { uint32_t **map; uint64_t count; } maps[] = {
        { &merging->strings, part->model->strings.count },
        { &merging->tracks, part->model->tracks.table.count },
        { &merging->processes, part->model->processes.table.count },
        { &merging->tensors, part->model->tensors.table.count },
        { &merging->asyncs, part->asyncs.count },
        { &merging->families, part->families.count },
    };
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++) {
        *maps[i].map = calloc(maps[i].count + 1, sizeof **maps[i].map);
        if (*maps[i].map == NULL)
            VV_FAIL(error, VARVE_NO_MEMORY, "no memory to join the parts of '%s'", part->job->path);
    }
    for (int i = 0; i < VV_TABLE_COUNT; i++)
        merging->bases[i] = table_of(merging->whole->model, (enum vv_table_row)i)->count;
    return VARVE_OK;
}

static enum varve_code merge(struct merging *merging, struct varve_error *error)
{
    struct vv_model *model = merging->whole->model, *part = merging->part->model;
    vv_model_share_no_more(part); /* the part shrinks while the whole grows */
    VV_TRY(vv_model_hold(model, vv_model_bytes(model) + vv_model_bytes(part), error));
    VV_TRY(allocate(merging, error));
    VV_TRY(map_strings(merging, error));
    VV_TRY(map_places(merging, error));
    VV_TRY(map_shapes(merging, error));
    VV_TRY(move_tables(merging, error));
    VV_TRY(move_asyncs(merging, error));
    VV_TRY(move_halves(merging, error));
    VV_TRY(move_flows(merging, error));
    VV_TRY(move_titles(merging, error));
    VV_TRY(move_rest(merging, error));
    add_words(merging);
    return VARVE_OK;
}

enum varve_code vv_chrome_merge(struct vv_chrome_reader *whole, struct vv_chrome_reader *part,
                                struct varve_error *error)
{
    struct merging merging = { .whole = whole, .part = part, .ordinal_base = whole->ordinal };
    enum varve_code code = merge(&merging, error);
    free(merging.strings);
    free(merging.tracks);
    free(merging.processes);
    free(merging.tensors);
    free(merging.asyncs);
    free(merging.families);
    return code;
}
