/* SPDX-License-Identifier: Apache-2.0 */
/* mlir.c — reads a program in MLIR text as a graph: its operations with the times that they carry
 * (varve.profile, profiler_data), and what passes from one to another. doc/formats.md.
 *
 * A node is an operation. What stands inside an operation is a node of its own where that is a
 * function, a module, or something inside carries a time; otherwise it is a part of the operation,
 * like the body of a reduction. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/graph/reading.h"
#include "mlir/annotation/find.h"
#include "mlir/module/cursor.h"
#include "mlir/values/values.h"

#define TYPES_MAX 8u /* results whose types are shown                                            */

struct program {
    struct vv_graph_reading graph;
    struct vv_mlir_module module;
    struct vv_mlir_values values;
    char *text;
    size_t length, capacity;
    struct vv_mlir_annotation annotation; /* of the operation that is looked at                  */
    bool *is_annotated, *holds_annotated, *is_node; /* by operation                              */
    uint32_t *node;                       /* by operation: row of the node that it is a part of  */
    uint32_t *argument;                   /* by value: row of the node that it is; or VV_NONE     */
    uint64_t annotated;
};

static bool probe(const char *path, bool is_folder, const char *head, size_t head_bytes)
{
    static const char *const begins[] = { "module ", "module{", "module\n", "\"builtin.module\"",
                                          "func.func ", "#loc", "builtin.module" };
    (void)path;
    uint64_t at = is_folder ? head_bytes : vv_mlir_skip_blanks(head, 0, head_bytes);
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (head_bytes - at >= strlen(begins[i]) &&
            memcmp(head + at, begins[i], strlen(begins[i])) == 0)
            return true;
    /* "#map = affine_map<…>", "!tensor = …" */
    if (at >= head_bytes || (head[at] != '#' && head[at] != '!'))
        return false;
    uint64_t end = vv_mlir_name_end(head, at + 1, head_bytes);
    return end > at + 1 && head_bytes - end > 3 && memcmp(head + end, " = ", 3) == 0;
}

/* ---- annotations ---- */

static bool read_annotation(struct program *program, uint32_t row)
{
    return vv_mlir_annotation_find(&program->module, row, &program->annotation);
}

static int64_t field(const struct program *program, enum vv_mlir_field which, int64_t otherwise)
{
    const struct vv_mlir_annotation *annotation = &program->annotation;
    return vv_mlir_knows(annotation, which) && annotation->values[which] >= 0
               ? annotation->values[which]
               : otherwise;
}

/* Only the primary operation of a group has times. */
static void set_times(struct program *program, uint32_t node)
{
    struct vv_dag_nodes *nodes = &program->graph.dag.nodes;
    int64_t total_ns = field(program, VV_MLIR_FIELD_total, -1), end_ns;
    if (total_ns < 0)
        return;
    int64_t self_ns = field(program, VV_MLIR_FIELD_self, total_ns);
    int64_t begin_ns = field(program, VV_MLIR_FIELD_first, 0);
    nodes->count[node] = (uint64_t)field(program, VV_MLIR_FIELD_count, 1);
    nodes->total_ns[node] = total_ns;
    nodes->self_ns[node] = self_ns < total_ns ? self_ns : total_ns;
    nodes->begin_ns[node] = begin_ns;
    if (__builtin_add_overflow(begin_ns, total_ns, &end_ns))
        nodes->begin_ns[node] = 0, end_ns = total_ns;
    nodes->end_ns[node] = end_ns;
    int64_t mean_ns = nodes->count[node] > 0 ? total_ns / (int64_t)nodes->count[node] : 0;
    nodes->min_ns[node] = field(program, VV_MLIR_FIELD_min, mean_ns);
    nodes->max_ns[node] = field(program, VV_MLIR_FIELD_max, mean_ns);
    nodes->p50_ns[node] = field(program, VV_MLIR_FIELD_p50, mean_ns);
    nodes->p95_ns[node] = field(program, VV_MLIR_FIELD_p95, mean_ns);
}

/* ---- which operations are nodes ---- */

static void look_for_annotations(struct program *program)
{
    const struct vv_mlir_module *module = &program->module;
    for (uint32_t row = module->op_count; row-- > 0;) {
        uint32_t parent = module->ops[row].parent;
        program->is_annotated[row] = read_annotation(program, row);
        program->annotated += program->is_annotated[row];
        if (parent != VV_MLIR_NONE && (program->is_annotated[row] || program->holds_annotated[row]))
            program->holds_annotated[parent] = true;
    }
}

static bool is_outermost_module(const struct program *program, uint32_t row)
{
    const struct vv_mlir_op *op = &program->module.ops[row];
    return op->parent == VV_MLIR_NONE &&
           strcmp(vv_mlir_string(&program->module, op->name), "builtin.module") == 0;
}

/* Are the operations in its regions nodes? */
static bool is_open(const struct program *program, uint32_t row)
{
    const struct vv_mlir_op *op = &program->module.ops[row];
    return op->parent == VV_MLIR_NONE || op->symbol != 0 || program->holds_annotated[row] ||
           strcmp(vv_mlir_string(&program->module, op->name), "builtin.module") == 0;
}

/* ---- nodes ---- */

static enum varve_code set_text(struct program *program, uint32_t *cell, const char *text,
                                size_t length, struct varve_error *error)
{
    return vv_dag_text_of(&program->graph.dag, text, length, cell, error);
}

/* The outermost name that is no tag ("MatMul:", "varve#7:"), without its last part: where the
 * operation stands in the model. */
static enum varve_code set_module(struct program *program, uint32_t row, uint32_t node,
                                  struct varve_error *error)
{
    const struct vv_mlir_module *module = &program->module;
    if (module->ops[row].place == VV_MLIR_NONE)
        return VARVE_OK;
    struct vv_mlir_place place = module->places[module->ops[row].place];
    struct vv_dag_nodes *nodes = &program->graph.dag.nodes;
    for (uint32_t i = 0; i < place.part_count; i++) {
        const struct vv_mlir_part *part = &module->parts[place.first_part + i];
        const char *text = vv_mlir_string(module, part->text);
        size_t length = module->strings.lengths[part->text];
        if (part->kind != VV_MLIR_NAME || part->caller != 0 || length == 0 ||
            text[length - 1] == ':')
            continue;
        const char *slash = memrchr(text, '/', length);
        return set_text(program, &nodes->module[node], text,
                        slash == NULL ? length : (size_t)(slash - text), error);
    }
    return VARVE_OK;
}

static enum varve_code set_source(struct program *program, uint32_t row, uint32_t node,
                                  struct varve_error *error)
{
    const struct vv_mlir_module *module = &program->module;
    if (module->ops[row].place == VV_MLIR_NONE)
        return VARVE_OK;
    struct vv_mlir_place place = module->places[module->ops[row].place];
    for (uint32_t i = 0; i < place.part_count; i++) {
        const struct vv_mlir_part *part = &module->parts[place.first_part + i];
        if (part->kind != VV_MLIR_FILE)
            continue;
        const char *file = vv_mlir_string(module, part->text);
        const char *slash = strrchr(file, '/');
        char text[300];
        if (slash != NULL)
            file = slash + 1;
        int length = snprintf(text, sizeof text, "%.255s:%" PRIu32, file, part->line);
        return set_text(program, &program->graph.dag.nodes.source[node], text, (size_t)length,
                        error);
    }
    return VARVE_OK;
}

static enum varve_code set_outputs(struct program *program, uint32_t row, uint32_t node,
                                   struct varve_error *error)
{
    struct vv_mlir_span types[TYPES_MAX];
    uint32_t count = vv_mlir_result_types(&program->module, row, types, TYPES_MAX);
    if (count == 0)
        return VARVE_OK;
    uint64_t length = types[count - 1].end - types[0].begin;
    return length > 1000 ? VARVE_OK
                         : set_text(program, &program->graph.dag.nodes.outputs[node],
                                    program->module.text + types[0].begin, length, error);
}

static enum varve_code new_node(struct program *program, enum vv_dag_kind kind, uint32_t parent,
                                uint32_t *out_node, struct varve_error *error)
{
    struct vv_graph_reading *graph = &program->graph;
    char id[16];
    VV_TRY(vv_draft_add_node(graph, out_node, error));
    int length = snprintf(id, sizeof id, "%" PRIu32, *out_node + 1);
    VV_TRY(vv_draft_set_id(graph, *out_node, id, (size_t)length, error));
    graph->dag.nodes.kind[*out_node] = (uint8_t)kind;
    if (parent != VV_NONE)
        graph->dag.nodes.parent[*out_node] = graph->nodes.items[parent].id;
    return VARVE_OK;
}

static enum varve_code add_operation(struct program *program, uint32_t row, uint32_t parent,
                                     struct varve_error *error)
{
    const struct vv_mlir_module *module = &program->module;
    const struct vv_mlir_op *op = &module->ops[row];
    bool is_group =
        op->body_at != 0 && is_open(program, row) && !program->is_annotated[row];
    uint32_t node;
    VV_TRY(new_node(program, is_group ? VV_DAG_GROUP : VV_DAG_OPERATOR, parent, &node, error));
    program->node[row] = node;
    const char *name = vv_mlir_string(module, op->name);
    if (is_group && op->symbol != 0)
        name = vv_mlir_string(module, op->symbol);
    VV_TRY(set_text(program, &program->graph.dag.nodes.name[node], name, strlen(name), error));
    VV_TRY(set_module(program, row, node, error));
    VV_TRY(set_source(program, row, node, error));
    VV_TRY(set_outputs(program, row, node, error));
    if (program->is_annotated[row] && read_annotation(program, row))
        set_times(program, node);
    return VARVE_OK;
}

/* Nodes for the arguments of the function `row` that somebody takes. */
static enum varve_code add_arguments(struct program *program, uint32_t row, uint64_t *next,
                                     const bool *is_used, struct varve_error *error)
{
    const struct vv_mlir_values *values = &program->values;
    for (; *next < values->value_count && values->values[*next].op <= row; (*next)++) {
        const struct vv_mlir_value *value = &values->values[*next];
        char name[32];
        uint32_t node;
        if (value->op != row || !value->is_argument || !is_used[*next])
            continue;
        VV_TRY(new_node(program, VV_DAG_OTHER, program->node[row], &node, error));
        int length = snprintf(name, sizeof name, "argument %" PRIu32, value->number);
        VV_TRY(set_text(program, &program->graph.dag.nodes.name[node], name, (size_t)length,
                        error));
        VV_TRY(set_text(program, &program->graph.dag.nodes.outputs[node],
                        program->module.text + value->type.begin,
                        value->type.end - value->type.begin, error));
        program->argument[*next] = node;
    }
    return VARVE_OK;
}

static enum varve_code add_nodes(struct program *program, const bool *is_used,
                                 struct varve_error *error)
{
    const struct vv_mlir_module *module = &program->module;
    uint64_t next = 0;
    for (uint32_t row = 0; row < module->op_count; row++) {
        uint32_t parent = module->ops[row].parent;
        uint32_t around = parent == VV_MLIR_NONE ? VV_NONE : program->node[parent];
        program->node[row] = around;
        if (is_outermost_module(program, row)) {
            program->is_node[row] = true; /* for what is in it */
            continue;
        }
        if (parent != VV_MLIR_NONE && !(program->is_node[parent] && is_open(program, parent)))
            continue;
        program->is_node[row] = true;
        VV_TRY(add_operation(program, row, around, error));
        if (module->ops[row].body_at != 0)
            VV_TRY(add_arguments(program, row, &next, is_used, error));
    }
    return VARVE_OK;
}

/* ---- edges ---- */

struct edge {
    uint32_t from, to, value;
};

static int by_ends(const void *left, const void *right)
{
    const struct edge *a = left, *b = right;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return a->value < b->value ? -1 : a->value > b->value;
}

static bool is_inside(const struct vv_graph_reading *graph, uint32_t node, uint32_t group)
{
    while (node != VV_NONE && node > group) {
        uint32_t id = graph->dag.nodes.parent[node];
        node = id == VV_NONE ? VV_NONE : graph->rows.items[id];
    }
    return node == group;
}

static enum varve_code add_edges(struct program *program, struct edge *edges,
                                 struct varve_error *error)
{
    const struct vv_mlir_values *values = &program->values;
    struct vv_graph_reading *graph = &program->graph;
    size_t count = 0;
    for (size_t i = 0; i < values->use_count; i++) {
        const struct vv_mlir_use *use = &values->uses[i];
        uint32_t from = values->values[use->value].is_argument
                            ? program->argument[use->value]
                            : program->node[values->values[use->value].op];
        uint32_t to = program->node[use->op];
        if (from != VV_NONE && to != VV_NONE && !is_inside(graph, from, to) &&
            !is_inside(graph, to, from))
            edges[count++] = (struct edge){ from, to, use->value };
    }
    if (count > 0)
        qsort(edges, count, sizeof *edges, by_ends);
    for (size_t i = 0; i < count; i++) {
        const struct vv_mlir_value *value = &values->values[edges[i].value];
        uint32_t row;
        if (i > 0 && by_ends(&edges[i], &edges[i - 1]) == 0)
            continue;
        VV_TRY(vv_draft_add_edge(graph, graph->nodes.items[edges[i].from].id,
                                 graph->nodes.items[edges[i].to].id, &row, error));
        graph->dag.edges.bytes[row] = value->bytes > 0 ? (uint64_t)value->bytes : 0;
        if (value->type.end - value->type.begin < 1000)
            VV_TRY(set_text(program, &graph->dag.edges.name[row],
                            program->module.text + value->type.begin,
                            value->type.end - value->type.begin, error));
    }
    return VARVE_OK;
}

/* ---- the file ---- */

static enum varve_code load(struct program *program, struct varve_error *error)
{
    const struct vv_import_job *job = program->graph.job;
    for (;;) {
        size_t got;
        VV_TRY(vv_array_reserve(&program->text, &program->capacity, program->length + 65536, 1,
                                error));
        VV_TRY(vv_source_read(job->source, program->text + program->length, 65536, &got, error));
        program->length += got;
        if (got == 0)
            return VARVE_OK;
        VV_TRY(vv_source_may_hold(job->source, program->length, job->options->max_memory_bytes,
                                  error));
    }
}

static enum varve_code add_notes(struct program *program, struct varve_error *error)
{
    struct vv_dag *dag = &program->graph.dag;
    return vv_dag_note(dag, error, "operations",
                       "%" PRIu32 ", of which %" PRIu64 " carry a profile%s",
                       program->module.op_count, program->annotated,
                       program->annotated > 0 ? "" : ": varve annotate writes it");
}

static enum varve_code make(struct program *program, struct varve_error *error)
{
    size_t ops = (size_t)program->module.op_count + 1;
    size_t values = program->values.value_count + 1;
    program->is_annotated = calloc(ops, sizeof *program->is_annotated);
    program->holds_annotated = calloc(ops, sizeof *program->holds_annotated);
    program->is_node = calloc(ops, sizeof *program->is_node);
    program->node = calloc(ops, sizeof *program->node);
    program->argument = malloc(values * sizeof *program->argument);
    bool *is_used = calloc(values, sizeof *is_used);
    struct edge *edges = calloc(program->values.use_count + 1, sizeof *edges);
    enum varve_code code = VARVE_OK;
    if (program->is_annotated == NULL || program->holds_annotated == NULL ||
        program->is_node == NULL || program->node == NULL || program->argument == NULL ||
        is_used == NULL || edges == NULL)
        code = vv_fail(error, VARVE_NO_MEMORY, "no memory for %zu operations", ops);
    if (code == VARVE_OK) {
        memset(program->argument, 0xff, values * sizeof *program->argument);
        for (size_t i = 0; i < program->values.use_count; i++)
            is_used[program->values.uses[i].value] = true;
        look_for_annotations(program);
        code = add_nodes(program, is_used, error);
    }
    if (code == VARVE_OK)
        code = add_edges(program, edges, error);
    if (code == VARVE_OK)
        code = add_notes(program, error);
    free(edges);
    free(is_used);
    return code;
}

static enum varve_code read(const struct vv_import_job *job, struct varve_error *error)
{
    struct program program = { .text = NULL };
    enum varve_code code = vv_graph_reading_begin(&program.graph, job, error);
    program.graph.is_ours = true; /* nothing is guessed */
    if (code == VARVE_OK)
        code = load(&program, error);
    if (code == VARVE_OK)
        code = vv_mlir_read(job->path, program.text, program.length, &program.module, error);
    if (code == VARVE_OK)
        code = vv_mlir_values_find(&program.module, &program.values, error);
    if (code == VARVE_OK)
        code = make(&program, error);
    code = vv_graph_reading_end(&program.graph, code, error);
    free(program.is_annotated);
    free(program.holds_annotated);
    free(program.is_node);
    free(program.node);
    free(program.argument);
    vv_mlir_values_deinit(&program.values);
    vv_mlir_deinit(&program.module);
    free(program.text);
    return code;
}

const struct vv_importer vv_importer_mlir = {
    .name = "mlir",
    .title = "MLIR text",
    .probe = probe,
    .read = read,
};
