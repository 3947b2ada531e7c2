/* SPDX-License-Identifier: Apache-2.0 */
/* flows.c — makes arrows from their ends (s t f, and slices with "bind_id").
 *
 * Ends with the same category, name, id and scope belong together. In order of time, an end t or f
 * belongs to the last start at or before it; or to the first start, if clocks disagree. The arrow
 * comes from that start, or from the last t after it. So ids may be used again, and one start may
 * have several ends. A slice that an arrow enters and another leaves is like a t; where none enters
 * it, it is a start. */
#include <stdlib.h>

#include "base/hash.h"
#include "base/large_pages.h"
#include "base/radix.h"
#include "base/workers.h"
#include "import/chrome/number.h"
#include "import/chrome/reader.h"

#define PIECE_ENDS 512u /* smallest piece for a thread                                         */
#define PIECES_MAX 16u

/* ---- ids ---- */

static uint64_t hash_of(const char *text, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3u;
    return hash;
}

static void read_id(const struct vv_chrome_value *value, struct vv_chrome_id *id)
{
    id->is_there = value->kind <= VV_CHROME_NUMBER;
    if (id->is_there && !vv_chrome_id(value, &id->number))
        id->number = hash_of(value->at, value->length);
}

/* Reads {"local": "0x1"} or {"global": "0x1"}. */
static void read_id2(struct vv_chrome_reader *reader, const struct vv_chrome_value *value,
                     struct vv_chrome_id *id)
{
    struct vv_chrome_cursor cursor = reader->cursor;
    struct vv_chrome_value key, inner;
    if (value->kind != VV_CHROME_OBJECT)
        return;
    cursor.next = value->token + 1;
    while (!vv_chrome_closes(&cursor, '}') &&
           vv_chrome_member(&cursor, &key, &inner) == VV_CHROME_DONE) {
        id->is_local = id->is_local || vv_text_is(key.at, key.length, "local");
        read_id(&inner, id);
    }
}

enum varve_code vv_chrome_event_id(struct vv_chrome_reader *reader, struct vv_chrome_id *out_id,
                                   struct varve_error *error)
{
    static const enum vv_chrome_field plain[] = { VV_FIELD_ID, VV_FIELD_BIND_ID };
    const struct vv_chrome_event *event = &reader->event;
    *out_id = (struct vv_chrome_id){ 0 };
    if (vv_chrome_has(event, VV_FIELD_ID2))
        read_id2(reader, &event->fields[VV_FIELD_ID2], out_id);
    for (size_t i = 0; i < 2 && !out_id->is_there; i++)
        if (vv_chrome_has(event, plain[i]))
            read_id(&event->fields[plain[i]], out_id);
    if (vv_chrome_has(event, VV_FIELD_SCOPE) &&
        event->fields[VV_FIELD_SCOPE].kind == VV_CHROME_STRING)
        return vv_chrome_text_id(&reader->text, &event->fields[VV_FIELD_SCOPE], &out_id->scope,
                                 error);
    return VARVE_OK;
}

/* ---- families ---- */

static bool same_family(const struct vv_chrome_family *a, const struct vv_chrome_family *b)
{
    return a->category == b->category && a->name == b->name && a->scope == b->scope &&
           a->process == b->process;
}

static bool is_family(const void *table, uint32_t row, const void *key)
{
    return same_family(&((const struct vv_chrome_reader *)table)->families.items[row], key);
}

static uint64_t hash_of_family(const struct vv_chrome_family *family)
{
    return vv_hash_pair((uint64_t)family->category << 32 | family->name,
                        (uint64_t)family->scope << 32 | family->process);
}

static uint64_t hash_of_row(const void *table, uint32_t row)
{
    return hash_of_family(&((const struct vv_chrome_reader *)table)->families.items[row]);
}

enum varve_code vv_chrome_family_row(struct vv_chrome_reader *reader,
                                     const struct vv_chrome_family *family, uint32_t *out_row,
                                     struct varve_error *error)
{
    struct vv_slots *slots = &reader->family_slots;
    if (vv_slots_are_full(slots, reader->families.count))
        VV_TRY(vv_slots_grow(slots, (uint32_t)reader->families.count, hash_of_row, reader,
                             "kinds of flows", error));
    uint32_t *slot = vv_slots_at(slots, hash_of_family(family), is_family, reader, family);
    if (*slot == 0) {
        VV_CHROME_PUSH(&reader->families, *family, error);
        *slot = (uint32_t)reader->families.count;
    }
    *out_row = *slot - 1;
    return VARVE_OK;
}

/* ---- events ---- */

static bool binds_to_next(const struct vv_chrome_event *event)
{
    const struct vv_chrome_value *bp = &event->fields[VV_FIELD_BP];
    return !(vv_chrome_has(event, VV_FIELD_BP) && bp->kind == VV_CHROME_STRING &&
             bp->length == 1 && *bp->at == 'e');
}

enum varve_code vv_chrome_add_flow(struct vv_chrome_reader *reader, enum vv_chrome_flow_kind kind,
                                   struct varve_error *error)
{
    const struct vv_chrome_now *now = &reader->now;
    bool is_slice = now->phase == 'X';
    struct vv_chrome_id id;
    struct vv_chrome_flow_end end = {
        .time_ns = now->time_ns, .track = now->place.row, .ordinal = now->ordinal,
        .kind = (uint8_t)kind,
        .to_next = !is_slice && kind == VV_FLOW_IN && binds_to_next(&reader->event)
    };
    VV_TRY(vv_chrome_event_id(reader, &id, error));
    if (is_slice && vv_chrome_has(&reader->event, VV_FIELD_BIND_ID)) {
        id.is_local = false;
        read_id(&reader->event.fields[VV_FIELD_BIND_ID], &id);
    }
    if (!id.is_there) {
        reader->model->health.unmatched_flows++;
        return VARVE_OK;
    }
    struct vv_chrome_family family = { now->category, is_slice ? 0 : now->name, id.scope,
                                       id.is_local ? now->place.process : VV_NONE };
    const struct vv_chrome_family *last =
        reader->families.count > 0 ? &reader->families.items[reader->last_family] : &family;
    if (last == &family || !same_family(last, &family))
        VV_TRY(vv_chrome_family_row(reader, &family, &reader->last_family, error));
    end.family = reader->last_family;
    end.id = id.number;
    VV_CHROME_PUSH(&reader->flow_ends, end, error);
    return VARVE_OK;
}

/* ---- joining ---- */

static int by_time(const void *left, const void *right)
{
    const struct vv_chrome_flow_end *a = *(const struct vv_chrome_flow_end *const *)left;
    const struct vv_chrome_flow_end *b = *(const struct vv_chrome_flow_end *const *)right;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return a->ordinal < b->ordinal ? -1 : a->ordinal > b->ordinal;
}

/* An arrow between two ends; rows of flow_ends. */
struct arrow { uint32_t from, to; };

/* Ends rows[first, limit) in order of (family, id): all of some groups. Each thread joins one piece
 * after the other. */
struct piece {
    size_t first, limit;
    size_t arrow_count;  /* arrows[first, first + arrow_count) of the joining                    */
    uint64_t first_row;  /* of the arrows, in flows                                              */
    uint64_t unmatched;
};

struct joining {
    struct vv_chrome_reader *reader;
    struct vv_keyed_row *rows;
    const struct vv_chrome_flow_end **group; /* room for all ends */
    struct arrow *arrows;                    /* likewise: an end has one arrow at most */
    struct piece pieces[PIECES_MAX];
    size_t piece_count;
};

static void add_arrow(const struct joining *joining, struct piece *piece,
                      const struct vv_chrome_flow_end *from, const struct vv_chrome_flow_end *to)
{
    const struct vv_chrome_flow_end *ends = joining->reader->flow_ends.items;
    joining->arrows[piece->first + piece->arrow_count++] =
        (struct arrow){ (uint32_t)(from - ends), (uint32_t)(to - ends) };
}

/* Joins the ends of one id, in order of time. */
static void join_group(const struct joining *joining, struct piece *piece,
                       const struct vv_chrome_flow_end **ends, size_t count)
{
    const struct vv_chrome_flow_end *tail = NULL;
    bool is_used = true;
    if (count > 1)
        qsort(ends, count, sizeof *ends, by_time);
    for (size_t i = 0; i < count && tail == NULL; i++)
        if (ends[i]->kind == VV_FLOW_OUT || ends[i]->kind == VV_FLOW_THROUGH)
            tail = ends[i];
    if (tail == NULL) {
        piece->unmatched += count;
        return;
    }
    const struct vv_chrome_flow_end *first = tail;
    is_used = false;
    for (size_t i = 0; i < count; i++) {
        if (ends[i]->kind == VV_FLOW_OUT) {
            piece->unmatched += ends[i] != first && !is_used;
            is_used = ends[i] == first && is_used;
            tail = ends[i];
            continue;
        }
        if (ends[i] != tail) {
            add_arrow(joining, piece, tail, ends[i]);
            is_used = true;
        }
        if (ends[i]->kind != VV_FLOW_IN)
            tail = ends[i];
    }
    piece->unmatched += !is_used;
}

static uint32_t id_family_of(const struct vv_model *model, const struct vv_chrome_flow_end *end)
{
    return model->processes.id_family[model->tracks.process[end->track]];
}

static int by_id_family(const void *left, const void *right, void *model)
{
    uint32_t a = id_family_of(model, *(const struct vv_chrome_flow_end *const *)left);
    uint32_t b = id_family_of(model, *(const struct vv_chrome_flow_end *const *)right);
    return (a > b) - (a < b);
}

/* Ranks that were written into one file use the same ids: an arrow stays within a rank. */
static void join_ranks(const struct joining *joining, struct piece *piece,
                       const struct vv_chrome_flow_end **ends, size_t count)
{
    struct vv_model *model = joining->reader->model;
    bool is_one = true;
    for (size_t i = 1; i < count && is_one; i++)
        is_one = id_family_of(model, ends[i]) == id_family_of(model, ends[0]);
    if (is_one) {
        join_group(joining, piece, ends, count);
        return;
    }
    qsort_r(ends, count, sizeof *ends, by_id_family, model);
    for (size_t first = 0, next; first < count; first = next) {
        for (next = first + 1; next < count && id_family_of(model, ends[next]) ==
                                                   id_family_of(model, ends[first]); next++)
            ;
        join_group(joining, piece, ends + first, next - first);
    }
}

static void join_piece(void *context, size_t number)
{
    struct joining *joining = context;
    struct piece *piece = &joining->pieces[number];
    const struct vv_chrome_flow_end *ends = joining->reader->flow_ends.items;
    const struct vv_keyed_row *rows = joining->rows;
    for (size_t first = piece->first, next; first < piece->limit; first = next) {
        for (next = first; next < piece->limit && rows[next].key == rows[first].key; next++)
            joining->group[next] = &ends[rows[next].row];
        join_ranks(joining, piece, joining->group + first, next - first);
    }
}

static void write_piece(void *context, size_t number)
{
    const struct joining *joining = context;
    const struct piece *piece = &joining->pieces[number];
    const struct vv_chrome_reader *reader = joining->reader;
    struct vv_flows *flows = &reader->model->flows;
    for (size_t i = 0; i < piece->arrow_count; i++) {
        struct arrow arrow = joining->arrows[piece->first + i];
        const struct vv_chrome_flow_end *from = &reader->flow_ends.items[arrow.from],
                                        *to = &reader->flow_ends.items[arrow.to];
        const struct vv_chrome_family *family = &reader->families.items[from->family];
        uint64_t row = piece->first_row + i;
        flows->from_ns[row] = from->time_ns;
        flows->to_ns[row] = to->time_ns;
        flows->id[row] = from->id;
        flows->name[row] = family->name;
        flows->category[row] = family->category;
        flows->from_track[row] = from->track;
        flows->to_track[row] = to->track;
        flows->to_next[row] = to->to_next;
    }
}

/* Cuts the ends into about equal pieces, as far as whole groups allow. */
static void cut(struct joining *joining)
{
    size_t count = joining->reader->flow_ends.count, pieces = joining->reader->model->threads;
    if (pieces > count / PIECE_ENDS)
        pieces = count / PIECE_ENDS;
    pieces = pieces < 1 ? 1 : pieces > PIECES_MAX ? PIECES_MAX : pieces;
    for (size_t p = 0, first = 0, limit; p < pieces; p++, first = limit) {
        limit = count / pieces * (p + 1);
        limit = p + 1 == pieces ? count : limit < first ? first : limit;
        while (limit > first && limit < count &&
               joining->rows[limit].key == joining->rows[limit - 1].key)
            limit++;
        joining->pieces[p] = (struct piece){ .first = first, .limit = limit };
    }
    joining->piece_count = pieces;
}

static enum varve_code join_sorted(struct joining *joining, struct varve_error *error)
{
    struct vv_model *model = joining->reader->model;
    uint64_t count = 0;
    cut(joining);
    vv_workers_run(model->threads, joining->piece_count, join_piece, joining);
    for (size_t p = 0; p < joining->piece_count; p++) {
        joining->pieces[p].first_row = model->flows.table.count + count;
        count += joining->pieces[p].arrow_count;
        model->health.unmatched_flows += joining->pieces[p].unmatched;
    }
    VV_TRY(vv_model_reserve(model, VV_TABLE_FLOWS, count, error));
    model->flows.table.count += count;
    vv_workers_run(model->threads, joining->piece_count, write_piece, joining);
    return VARVE_OK;
}

/* Gives each (family, id) a number, in that order; sorts the rows twice, once for each key. */
static enum varve_code number_by_sorting(const struct vv_chrome_reader *reader,
                                         struct vv_keyed_row *rows, struct varve_error *error)
{
    const struct vv_chrome_flow_end *ends = reader->flow_ends.items, *former = NULL;
    size_t count = reader->flow_ends.count;
    uint64_t number = 0;
    for (size_t i = 0; i < count; i++)
        rows[i] = (struct vv_keyed_row){ ends[i].id, (uint32_t)i };
    VV_TRY(vv_radix_sort(rows, count, error));
    for (size_t i = 0; i < count; i++)
        rows[i].key = ends[rows[i].row].family;
    VV_TRY(vv_radix_sort(rows, count, error));
    for (size_t i = 0; i < count; i++) {
        const struct vv_chrome_flow_end *end = &ends[rows[i].row];
        number += former != NULL && (former->id != end->id || former->family != end->family);
        rows[i].key = number;
        former = end;
    }
    return VARVE_OK;
}

/* Sorts by family, and then by id; rows with equal keys have the same family and id. Mostly the ids
 * of all families fit into one number together with the family, and then a single sort is
 * enough. */
static enum varve_code sort_ends(const struct vv_chrome_reader *reader, struct vv_keyed_row *rows,
                                 struct varve_error *error)
{
    const struct vv_chrome_flow_end *ends = reader->flow_ends.items;
    size_t count = reader->flow_ends.count;
    uint64_t least = UINT64_MAX, most = 0, all;
    for (size_t i = 0; i < count; i++) {
        least = ends[i].id < least ? ends[i].id : least;
        most = ends[i].id > most ? ends[i].id : most;
    }
    uint64_t width = most - least + 1; /* 0 = the full range of ids                              */
    if (width == 0 || __builtin_mul_overflow(width, (uint64_t)reader->families.count, &all))
        return number_by_sorting(reader, rows, error);
    for (size_t i = 0; i < count; i++)
        rows[i] =
            (struct vv_keyed_row){ ends[i].family * width + (ends[i].id - least), (uint32_t)i };
    return vv_radix_sort(rows, count, error);
}

enum varve_code vv_chrome_join_flows(struct vv_chrome_reader *reader, struct varve_error *error)
{
    size_t count = reader->flow_ends.count;
    if (count == 0)
        return VARVE_OK;
    struct joining joining = {
        .reader = reader,
        .rows = vv_large_pages_alloc(count * sizeof *joining.rows),
        .group = vv_large_pages_alloc(count * sizeof *joining.group),
        .arrows = vv_large_pages_alloc(count * sizeof *joining.arrows),
    };
    enum varve_code code;
    if (joining.rows == NULL || joining.group == NULL || joining.arrows == NULL)
        code = vv_fail(error, VARVE_NO_MEMORY, "no memory to join %zu ends of flows", count);
    else
        code = sort_ends(reader, joining.rows, error);
    if (code == VARVE_OK)
        code = join_sorted(&joining, error);
    free(joining.rows);
    free(joining.group);
    free(joining.arrows);
    return code;
}
