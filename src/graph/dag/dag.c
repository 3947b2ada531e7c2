/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/dag/dag.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/columns.h"

/* The dag's tables, in the order of the model's. */
static const struct { enum vv_table_row row; size_t offset; } tables[] = {
    { VV_TABLE_DAG_NODES, offsetof(struct vv_dag, nodes) },
    { VV_TABLE_DAG_EDGES, offsetof(struct vv_dag, edges) },
    { VV_TABLE_DAG_OCCURRENCES, offsetof(struct vv_dag, occurrences) },
    { VV_TABLE_DAG_NOTES, offsetof(struct vv_dag, notes) },
};
#define TABLE_COUNT (sizeof tables / sizeof *tables)

static struct vv_table *table_at(struct vv_dag *dag, size_t which)
{
    return (struct vv_table *)((uintptr_t)dag + tables[which].offset);
}

enum varve_code vv_dag_init(struct vv_dag *dag, struct varve_error *error)
{
    memset(dag, 0, sizeof *dag);
    return vv_intern_init(&dag->strings, error);
}

void vv_dag_deinit(struct vv_dag *dag)
{
    for (size_t t = 0; t < TABLE_COUNT; t++) {
        const struct vv_model_table *table = &vv_model_tables[tables[t].row];
        vv_table_free(table_at(dag, t), table->columns, table->column_count);
    }
    vv_intern_deinit(&dag->strings);
    memset(dag, 0, sizeof *dag);
}

enum varve_code vv_dag_text(struct vv_dag *dag, const char *text, uint32_t *out_id,
                            struct varve_error *error)
{
    *out_id = 0;
    if (text == NULL || text[0] == '\0')
        return VARVE_OK;
    return vv_intern_add(&dag->strings, text, strlen(text), out_id, error);
}

static enum varve_code append(struct vv_dag *dag, size_t which, uint32_t *out_row,
                              struct varve_error *error)
{
    struct vv_table *table = table_at(dag, which);
    const struct vv_model_table *kind = &vv_model_tables[tables[which].row];
    VV_TRY(vv_table_reserve(table, kind->columns, kind->column_count, 1, error));
    *out_row = (uint32_t)table->count++;
    table->used = table->count;
    return VARVE_OK;
}

enum varve_code vv_dag_add_node(struct vv_dag *dag, const char *name, enum vv_dag_kind kind,
                                uint32_t *out_row, struct varve_error *error)
{
    uint32_t text;
    VV_TRY(vv_dag_text(dag, name, &text, error));
    VV_TRY(append(dag, 0, out_row, error));
    struct vv_dag_nodes *nodes = &dag->nodes;
    nodes->id[*out_row] = (uint64_t)*out_row + 1;
    nodes->name[*out_row] = text;
    nodes->kind[*out_row] = (uint8_t)kind;
    nodes->parent[*out_row] = nodes->level[*out_row] = VV_NONE;
    return VARVE_OK;
}

enum varve_code vv_dag_add_edge(struct vv_dag *dag, uint32_t from, uint32_t to,
                                enum vv_dag_edge_kind kind, uint32_t *out_row,
                                struct varve_error *error)
{
    VV_TRY(append(dag, 1, out_row, error));
    dag->edges.from[*out_row] = from;
    dag->edges.to[*out_row] = to;
    dag->edges.count[*out_row] = 1;
    dag->edges.kind[*out_row] = (uint8_t)kind;
    return VARVE_OK;
}

enum varve_code vv_dag_add_occurrence(struct vv_dag *dag, uint32_t node, int64_t step,
                                      uint64_t count, int64_t total_ns, struct varve_error *error)
{
    uint32_t row;
    VV_TRY(append(dag, 2, &row, error));
    dag->occurrences.step[row] = step;
    dag->occurrences.count[row] = count;
    dag->occurrences.total_ns[row] = total_ns;
    if (dag->nodes.occurrence_count[node]++ == 0)
        dag->nodes.first_occurrence[node] = row;
    return VARVE_OK;
}

enum varve_code vv_dag_add_note(struct vv_dag *dag, const char *key, const char *text,
                                struct varve_error *error)
{
    uint32_t key_id, text_id, row;
    VV_TRY(vv_dag_text(dag, key, &key_id, error));
    VV_TRY(vv_dag_text(dag, text, &text_id, error));
    VV_TRY(append(dag, 3, &row, error));
    dag->notes.key[row] = key_id;
    dag->notes.text[row] = text_id;
    return VARVE_OK;
}

enum varve_code vv_dag_note(struct vv_dag *dag, struct varve_error *error, const char *key,
                            const char *format, ...)
{
    char text[512];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    return vv_dag_add_note(dag, key, text, error);
}

const char *vv_dag_find_note(const struct vv_dag *dag, const char *key)
{
    uint32_t id = vv_intern_find(&dag->strings, key, strlen(key));
    for (uint64_t row = 0; row < dag->notes.table.count; row++)
        if (dag->notes.key[row] == id)
            return vv_dag_string(dag, dag->notes.text[row]);
    return NULL;
}

/* ---- copies ---- */

static enum varve_code copy_strings(const uint32_t *from, uint32_t *to, uint64_t count,
                                    const struct vv_intern *strings, struct vv_intern *out_strings,
                                    struct varve_error *error)
{
    for (uint64_t row = 0; row < count; row++) {
        const char *text = vv_intern_text(strings, from[row]);
        VV_TRY(vv_intern_add(out_strings, text, strlen(text), &to[row], error));
    }
    return VARVE_OK;
}

/* Who has the tables: a dag or a model, with its strings. */
struct holder {
    uintptr_t base;
    struct vv_intern *strings;
    bool is_model;
};

static struct vv_table *table_in(struct holder holder, size_t which)
{
    size_t offset = holder.is_model ? vv_model_tables[tables[which].row].table_offset
                                    : tables[which].offset;
    return (struct vv_table *)(holder.base + offset);
}

static enum varve_code copy_table(size_t which, struct holder from, struct holder to,
                                  struct varve_error *error)
{
    const struct vv_model_table *kind = &vv_model_tables[tables[which].row];
    const struct vv_table *table = table_in(from, which);
    struct vv_table *out_table = table_in(to, which);
    uint64_t first = out_table->count;
    if (table->count == 0)
        return VARVE_OK;
    VV_TRY(vv_table_reserve(out_table, kind->columns, kind->column_count, table->count, error));
    for (size_t c = 0; c < kind->column_count; c++) {
        const struct vv_column *column = &kind->columns[c];
        const void *cells = *(void *const *)((uintptr_t)table + column->pointer_offset);
        char *out_cells = *(char **)((uintptr_t)out_table + column->pointer_offset);
        out_cells += first * column->width_bytes;
        if (column->type == VARVE_CELL_STRING)
            VV_TRY(copy_strings(cells, (uint32_t *)(void *)out_cells, table->count, from.strings,
                                to.strings, error));
        else
            memcpy(out_cells, cells, table->count * column->width_bytes);
    }
    out_table->count = out_table->used = first + table->count;
    return VARVE_OK;
}

static enum varve_code copy_tables(struct holder from, struct holder to, struct varve_error *error)
{
    for (size_t which = 0; which < TABLE_COUNT; which++)
        VV_TRY(copy_table(which, from, to, error));
    return VARVE_OK;
}

static struct holder dag_holder(const struct vv_dag *dag)
{
    return (struct holder){ (uintptr_t)dag, (struct vv_intern *)&dag->strings, false };
}

static struct holder model_holder(const struct vv_model *model)
{
    return (struct holder){ (uintptr_t)model, (struct vv_intern *)&model->strings, true };
}

enum varve_code vv_dag_copy(const struct vv_dag *dag, struct vv_dag *out_dag,
                            struct varve_error *error)
{
    return copy_tables(dag_holder(dag), dag_holder(out_dag), error);
}

enum varve_code vv_dag_from_model(const struct vv_model *model, struct vv_dag *out_dag,
                                  struct varve_error *error)
{
    return copy_tables(model_holder(model), dag_holder(out_dag), error);
}

/* Rows of a model's graph before those that were added. */
struct before { uint64_t nodes, edges, occurrences; };

/* The added rows refer to each other. Their ids go on after the largest one, if there is room. */
static void shift(struct vv_model *model, struct before before)
{
    struct vv_dag_nodes *nodes = &model->dag_nodes;
    struct vv_dag_edges *edges = &model->dag_edges;
    uint64_t id_max = 0, added_max = 0;
    for (uint64_t row = 0; row < nodes->table.count; row++) {
        uint64_t *most = row < before.nodes ? &id_max : &added_max;
        *most = nodes->id[row] > *most ? nodes->id[row] : *most;
    }
    bool has_room = added_max <= UINT64_MAX - id_max - 1;
    for (uint64_t row = 0; row < nodes->table.count; row++) {
        if (!has_room)
            nodes->id[row] = row + 1;
        if (row < before.nodes)
            continue;
        if (has_room)
            nodes->id[row] += id_max + 1;
        if (nodes->parent[row] != VV_NONE)
            nodes->parent[row] += (uint32_t)before.nodes;
        nodes->first_occurrence[row] += (uint32_t)before.occurrences;
    }
    for (uint64_t row = before.edges; row < edges->table.count; row++) {
        edges->from[row] += (uint32_t)before.nodes;
        edges->to[row] += (uint32_t)before.nodes;
    }
}

enum varve_code vv_dag_to_model(const struct vv_dag *dag, struct vv_model *model,
                                struct varve_error *error)
{
    const struct before before = { model->dag_nodes.table.count, model->dag_edges.table.count,
                                   model->dag_occurrences.table.count };
    struct holder from = dag_holder(dag);
    for (size_t which = 0; which < TABLE_COUNT; which++)
        VV_TRY(vv_model_reserve(model, tables[which].row, table_in(from, which)->count, error));
    VV_TRY(copy_tables(from, model_holder(model), error));
    if (before.nodes > 0)
        shift(model, before);
    return VARVE_OK;
}

/* ---- words ---- */

static const char *const kind_words[VV_DAG_KINDS] = {
    [VV_DAG_OTHER] = "other", [VV_DAG_OPERATOR] = "operator", [VV_DAG_RANGE] = "range",
    [VV_DAG_CALL] = "call", [VV_DAG_KERNEL] = "kernel", [VV_DAG_COPY] = "copy",
    [VV_DAG_WAIT] = "wait", [VV_DAG_COLLECTIVE] = "collective", [VV_DAG_PYTHON] = "python",
    [VV_DAG_FUNCTION] = "function", [VV_DAG_TENSOR] = "tensor", [VV_DAG_GROUP] = "group",
    [VV_DAG_REST] = "rest", [VV_DAG_OUTSIDE] = "outside",
    [VV_DAG_BEFORE] = "before",
};

static const char *const edge_words[VV_DAG_EDGE_KINDS] = {
    [VV_DAG_EDGE_DATA] = "data", [VV_DAG_EDGE_FLOW] = "flow", [VV_DAG_EDGE_NESTING] = "nesting",
    [VV_DAG_EDGE_STREAM] = "stream", [VV_DAG_EDGE_SYNC] = "sync", [VV_DAG_EDGE_ORDER] = "order",
};

const char *vv_dag_kind_word(enum vv_dag_kind kind)
{
    return kind_words[kind];
}

const char *vv_dag_edge_word(enum vv_dag_edge_kind kind)
{
    return edge_words[kind];
}

static size_t find_word(const char *const *words, size_t count, const char *word)
{
    size_t i = 0;
    while (i < count && strcmp(words[i], word) != 0)
        i++;
    return i;
}

enum vv_dag_kind vv_dag_find_kind(const char *word)
{
    return (enum vv_dag_kind)find_word(kind_words, VV_DAG_KINDS, word);
}

enum vv_dag_edge_kind vv_dag_find_edge_kind(const char *word)
{
    return (enum vv_dag_edge_kind)find_word(edge_words, VV_DAG_EDGE_KINDS, word);
}
