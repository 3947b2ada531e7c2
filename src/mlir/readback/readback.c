/* SPDX-License-Identifier: Apache-2.0 */
/* readback.c — finds annotations in attributes and in locations, and makes their table.
 *
 * A location may hold several: of operations that were fused, of a function and of its call. Within
 * a location that is annotated no further one is looked for: it would be of an earlier profile. */
#include "mlir/readback/readback.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/intern.h"
#include "mlir/annotation/annotation.h"

enum column {
    COLUMN_OPERATION, COLUMN_SOURCE, COLUMN_LINE, COLUMN_CARRIER, COLUMN_COUNTED,
    COLUMN_FIELDS, COLUMN_MATCH = COLUMN_FIELDS + VV_MLIR_FIELD_COUNT, COLUMN_FUSED, COLUMNS
};

#define TITLE_count "calls"
#define TITLE_total "total"
#define TITLE_self "self"
#define TITLE_mean "mean"
#define TITLE_min "min"
#define TITLE_max "max"
#define TITLE_p50 "median"
#define TITLE_p95 "p95"
#define TITLE_first "first"
#define TITLE_group "group"
#define TITLE_members "members"
#define NAME_NS(name) #name "_ns"
#define NAME_COUNT(name) #name
#define NAME_NONE(name) #name
#define IS_HIDDEN_count false
#define IS_HIDDEN_total false
#define IS_HIDDEN_self true
#define IS_HIDDEN_mean false
#define IS_HIDDEN_min true
#define IS_HIDDEN_max true
#define IS_HIDDEN_p50 true
#define IS_HIDDEN_p95 true
#define IS_HIDDEN_first true
#define IS_HIDDEN_group false
#define IS_HIDDEN_members true

static const struct vv_sheet_column columns[COLUMNS] = {
    [COLUMN_OPERATION] = { "operation", "operation", VV_CELL_TEXT, VV_UNIT_NONE, false, 0 },
    [COLUMN_SOURCE] = { "source", "source", VV_CELL_TEXT, VV_UNIT_NONE, false, 0 },
    [COLUMN_LINE] = { "line", "line", VV_CELL_INT, VV_UNIT_NONE, false, 0 },
    [COLUMN_CARRIER] = { "carrier", "carrier", VV_CELL_TEXT, VV_UNIT_NONE, true, 0 },
    [COLUMN_COUNTED] = { "counted", "counted", VV_CELL_TEXT, VV_UNIT_NONE, false, 0 },
#define VV_MLIR_FIELD(name, unit)                                                            \
    [COLUMN_FIELDS + VV_MLIR_FIELD_##name] = { NAME_##unit(name), TITLE_##name, VV_CELL_INT, \
                                               VV_UNIT_##unit, IS_HIDDEN_##name, 0 },
    VV_MLIR_FIELDS(VV_MLIR_FIELD)
#undef VV_MLIR_FIELD
    [COLUMN_MATCH] = { "match", "match", VV_CELL_TEXT, VV_UNIT_NONE, true, 0 },
    [COLUMN_FUSED] = { "fused", "fused", VV_CELL_TEXT, VV_UNIT_NONE, true, 0 },
};

/* One annotation of one operation. */
struct found {
    struct vv_mlir_annotation annotation;
    uint32_t op, source; /* row; part that names what it was measured of, or _NONE               */
    uint32_t record;     /* number of the record that it is of                                  */
    bool is_attribute;
    bool is_counted;
};

struct reader {
    const struct vv_mlir_module *module;
    const char *key;
    struct found *found;
    size_t count, capacity;
    struct vv_intern records; /* texts by which records are told apart                          */
    bool *is_bare;            /* by string of the module: it is metadata without an annotation   */
};

static bool is_name_of_source(const struct vv_mlir_module *module, const struct vv_mlir_part *part)
{
    const char *text = vv_mlir_string(module, part->text);
    size_t length = strlen(text);
    return part->kind == VV_MLIR_NAME && length > 0 && text[length - 1] != ':';
}

/* The part with the first name among parts[first, limit), else with the first file; or _NONE. */
static uint32_t source_of(const struct vv_mlir_module *module, uint32_t first, uint32_t limit)
{
    for (uint32_t i = first; i < limit; i++)
        if (is_name_of_source(module, &module->parts[i]))
            return i;
    for (uint32_t i = first; i < limit; i++)
        if (module->parts[i].kind == VV_MLIR_FILE)
            return i;
    return VV_MLIR_NONE;
}

static const char *name_of(const struct vv_mlir_module *module, uint32_t source)
{
    return source == VV_MLIR_NONE ? "" : vv_mlir_string(module, module->parts[source].text);
}

/* Members of a group have its number. An annotation without one is told by its text and source. */
static enum varve_code number_record(struct reader *reader, struct found *found, const char *text,
                                     size_t length, struct varve_error *error)
{
    char group[32];
    const char *source = name_of(reader->module, found->source);
    if (vv_mlir_knows(&found->annotation, VV_MLIR_FIELD_group)) {
        int bytes = snprintf(group, sizeof group, "%lld",
                             (long long)found->annotation.values[VV_MLIR_FIELD_group]);
        return vv_intern_add(&reader->records, group, (size_t)bytes, &found->record, error);
    }
    char *both = malloc(length + strlen(source) + 1);
    if (both == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for an annotation");
    memcpy(both, text, length);
    memcpy(both + length, source, strlen(source));
    enum varve_code code = vv_intern_add(&reader->records, both, length + strlen(source),
                                         &found->record, error);
    free(both);
    return code;
}

static enum varve_code add(struct reader *reader, struct found found, const char *text,
                           size_t length, struct varve_error *error)
{
    VV_TRY(vv_array_reserve(&reader->found, &reader->capacity, reader->count + 1,
                            sizeof *reader->found, error));
    VV_TRY(number_record(reader, &found, text, length, error));
    for (size_t i = reader->count; i > 0 && reader->found[i - 1].op == found.op; i--)
        if (reader->found[i - 1].record == found.record &&
            reader->found[i - 1].is_attribute == found.is_attribute)
            return VARVE_OK; /* it names one record several times                              */
    reader->found[reader->count++] = found;
    return VARVE_OK;
}

static enum varve_code read_location(struct reader *reader, uint32_t row,
                                     struct varve_error *error)
{
    const struct vv_mlir_module *module = reader->module;
    struct vv_mlir_place place = module->places[module->ops[row].place];
    uint32_t limit = place.first_part + place.part_count;
    for (uint32_t i = place.first_part; i < limit;) {
        const struct vv_mlir_part *part = &module->parts[i++];
        const char *text = vv_mlir_string(module, part->text);
        struct found found = { .op = row };
        if (part->kind != VV_MLIR_FUSED || reader->is_bare[part->text])
            continue;
        if (!vv_mlir_annotation_read(text, module->strings.lengths[part->text], reader->key,
                                     &found.annotation)) {
            reader->is_bare[part->text] = true;
            continue;
        }
        uint32_t behind = i;
        while (behind < limit && module->parts[behind].depth > part->depth)
            behind++;
        found.source = source_of(module, i, behind);
        VV_TRY(add(reader, found, text, strlen(text), error));
        i = behind;
    }
    return VARVE_OK;
}

static enum varve_code read_op(struct reader *reader, uint32_t row, struct varve_error *error)
{
    const struct vv_mlir_module *module = reader->module;
    const struct vv_mlir_op *op = &module->ops[row];
    struct found found = { .op = row, .source = VV_MLIR_NONE, .is_attribute = true };
    const char *text = module->text + op->attributes.begin;
    size_t length = op->attributes.end - op->attributes.begin;
    if (length > 0 && vv_mlir_annotation_read(text, length, reader->key, &found.annotation)) {
        if (op->place != VV_MLIR_NONE)
            found.source = source_of(module, module->places[op->place].first_part,
                                     module->places[op->place].first_part +
                                         module->places[op->place].part_count);
        struct vv_mlir_entry entry;
        if (vv_mlir_find_entry(module->text, op->attributes, reader->key, &entry))
            VV_TRY(add(reader, found, module->text + entry.value.begin,
                       entry.value.end - entry.value.begin, error));
    }
    return op->place == VV_MLIR_NONE ? VARVE_OK : read_location(reader, row, error);
}

/* ---- the table ---- */

static int64_t total_of(const struct found *found)
{
    return vv_mlir_knows(&found->annotation, VV_MLIR_FIELD_total)
               ? found->annotation.values[VV_MLIR_FIELD_total] : -1;
}

static int64_t add_time(int64_t sum, int64_t more)
{
    return __builtin_add_overflow(sum, more, &sum) ? INT64_MAX : sum;
}

/* Each record is counted where it first stands with its time. */
static enum varve_code count_records(struct reader *reader, int64_t *out_total_ns,
                                     struct varve_error *error)
{
    bool *is_counted = calloc(reader->records.count, sizeof *is_counted);
    if (is_counted == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %zu annotations", reader->count);
    *out_total_ns = 0;
    for (size_t i = 0; i < reader->count; i++) {
        struct found *found = &reader->found[i];
        if (total_of(found) < 0 || is_counted[found->record])
            continue;
        is_counted[found->record] = found->is_counted = true;
        *out_total_ns = add_time(*out_total_ns, total_of(found));
    }
    free(is_counted);
    return VARVE_OK;
}

static int compare(const void *left, const void *right)
{
    const struct found *a = left, *b = right;
    if (a->is_counted != b->is_counted)
        return a->is_counted ? -1 : 1;
    if (total_of(a) != total_of(b))
        return total_of(a) > total_of(b) ? -1 : 1;
    if (a->op != b->op)
        return a->op < b->op ? -1 : 1;
    return b->is_attribute - a->is_attribute;
}

/* "block0/attn/MatMul", "model.py:12". */
static enum varve_code put_source(const struct vv_mlir_module *module, uint32_t source,
                                  struct vv_sheet *sheet, size_t row, struct varve_error *error)
{
    const char *name = name_of(module, source);
    char *place;
    if (source == VV_MLIR_NONE || module->parts[source].kind == VV_MLIR_NAME)
        return source == VV_MLIR_NONE ? VARVE_OK
                                      : vv_sheet_text(sheet, row, COLUMN_SOURCE, name, error);
    if (asprintf(&place, "%s:%u", name, module->parts[source].line) < 0)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the name of a place");
    enum varve_code code = vv_sheet_text(sheet, row, COLUMN_SOURCE, place, error);
    free(place);
    return code;
}

static enum varve_code put_row(const struct reader *reader, const struct found *found,
                               uint32_t line, struct vv_sheet *sheet, struct varve_error *error)
{
    const struct vv_mlir_module *module = reader->module;
    const struct vv_mlir_op *op = &module->ops[found->op];
    size_t row;
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    VV_TRY(vv_sheet_text(sheet, row, COLUMN_OPERATION, vv_mlir_string(module, op->name), error));
    VV_TRY(put_source(module, found->source, sheet, row, error));
    vv_sheet_int(sheet, row, COLUMN_LINE, line);
    VV_TRY(vv_sheet_text(sheet, row, COLUMN_CARRIER,
                         found->is_attribute ? "attribute" : "location", error));
    VV_TRY(vv_sheet_text(sheet, row, COLUMN_COUNTED, found->is_counted ? "yes" : "no", error));
    for (int field = 0; field < VV_MLIR_FIELD_COUNT; field++)
        if (vv_mlir_knows(&found->annotation, (enum vv_mlir_field)field))
            vv_sheet_int(sheet, row, COLUMN_FIELDS + (size_t)field,
                         found->annotation.values[field]);
    if (found->annotation.match[0] != '\0')
        VV_TRY(vv_sheet_text(sheet, row, COLUMN_MATCH, found->annotation.match, error));
    return vv_sheet_text(sheet, row, COLUMN_FUSED, found->annotation.is_fused ? "yes" : "no",
                         error);
}

static enum varve_code put_sum(struct vv_sheet *sheet, enum vv_row_kind kind, const char *name,
                               int64_t total_ns, struct varve_error *error)
{
    size_t row;
    VV_TRY(vv_sheet_row(sheet, kind, &row, error));
    VV_TRY(vv_sheet_text(sheet, row, COLUMN_OPERATION, name, error));
    vv_sheet_int(sheet, row, COLUMN_FIELDS + VV_MLIR_FIELD_total, total_ns);
    return VARVE_OK;
}

static enum varve_code fill(struct reader *reader, int64_t top, const uint32_t *lines,
                            struct vv_sheet *sheet, struct varve_error *error)
{
    int64_t total_ns = 0, rest_ns = 0;
    size_t limit = top > 0 && (uint64_t)top < reader->count ? (size_t)top : reader->count;
    char rest[48];
    VV_TRY(count_records(reader, &total_ns, error));
    if (reader->count > 0)
        qsort(reader->found, reader->count, sizeof *reader->found, compare);
    for (size_t i = 0; i < limit; i++)
        VV_TRY(put_row(reader, &reader->found[i], lines[reader->found[i].op], sheet, error));
    for (size_t i = limit; i < reader->count; i++)
        if (reader->found[i].is_counted)
            rest_ns = add_time(rest_ns, total_of(&reader->found[i]));
    snprintf(rest, sizeof rest, "(%zu more)", reader->count - limit);
    if (limit < reader->count)
        VV_TRY(put_sum(sheet, VV_ROW_REMAINDER, rest, rest_ns, error));
    if (reader->count > 0)
        VV_TRY(put_sum(sheet, VV_ROW_TOTAL, "total", total_ns, error));
    return vv_sheet_policy(sheet, error,
                           "%zu annotations '%s' of %u records on %u operations; the time of a "
                           "record is counted once",
                           reader->count, reader->key, reader->records.count - 1,
                           reader->module->op_count);
}

static enum varve_code read_all(struct reader *reader, int64_t top, struct vv_sheet *sheet,
                                struct varve_error *error)
{
    uint32_t *lines = NULL;
    for (uint32_t row = 0; row < reader->module->op_count; row++)
        VV_TRY(read_op(reader, row, error));
    VV_TRY(vv_mlir_number_lines(reader->module, &lines, error));
    enum varve_code code = fill(reader, top, lines, sheet, error);
    free(lines);
    return code;
}

enum varve_code vv_mlir_readback(const struct vv_mlir_module *module, const char *key, int64_t top,
                                 struct vv_sheet *out_sheet, struct varve_error *error)
{
    struct reader reader = { .module = module, .key = key };
    VV_TRY(vv_intern_init(&reader.records, error));
    reader.is_bare = calloc((size_t)module->strings.count + 1, sizeof *reader.is_bare);
    vv_sheet_init(out_sheet, "annotations", "ANNOTATIONS", columns, COLUMNS);
    enum varve_code code = reader.is_bare != NULL
                               ? read_all(&reader, top, out_sheet, error)
                               : vv_fail(error, VARVE_NO_MEMORY, "no memory for a table");
    free(reader.found);
    free(reader.is_bare);
    vv_intern_deinit(&reader.records);
    if (code != VARVE_OK)
        vv_sheet_deinit(out_sheet);
    return code;
}
