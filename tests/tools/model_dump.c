/* SPDX-License-Identifier: Apache-2.0 */
/* model_dump.c — the tables of a finished model as JSON, one row a line, for the tests of
 * importers.
 *
 *     model_dump [--threads N] PATH...        {"table": "slices", "row": 0, "begin_ns": …, "name":
 *     "conv2d", …, "args": {…}}
 *
 * Columns that hold a string's id are printed as the string, VV_NONE as null; slices and marks
 * carry their arguments, a list of [key, value] in order. `health` and `run` are the first two
 * lines. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/json_write.h"
#include "import/importer.h"
#include "model/arg_walk.h"
#include "model/model.h"

static const struct vv_model *model;

/* Columns, by name, that hold the id of a string; `dtype` does in collectives only. */
static const char *const string_columns[] = {
    "name", "uuid", "host", "category", "key", "file", "stack", "module", "shapes", "scalars",
    "group", "ranks", "series",
    "path", "format", "type", "framework_type", "origins", "contexts",
};

static bool is_string(const char *table, const char *column)
{
    if (strcmp(table, "collectives") == 0 && strcmp(column, "dtype") == 0)
        return true;
    for (size_t i = 0; i < sizeof string_columns / sizeof string_columns[0]; i++)
        if (strcmp(string_columns[i], column) == 0)
            return true;
    return false;
}

static void put_text(uint32_t id)
{
    vv_json_write_bytes(stdout, vv_intern_text(&model->strings, id), model->strings.lengths[id]);
}

static void put_signed(const char *table, const char *column, int64_t value)
{
    printf(", \"%s\": ", column);
    (void)table;
    vv_json_write_int(stdout, value);
}

static void put_unsigned(const char *table, const char *column, uint64_t value)
{
    (void)table;
    printf(", \"%s\": ", column);
    vv_json_write_uint(stdout, value);
}

static void put_row_number(const char *table, const char *column, uint32_t value)
{
    printf(", \"%s\": ", column);
    if (is_string(table, column) && value < model->strings.count)
        put_text(value);
    else if (value == VV_NONE)
        fputs("null", stdout);
    else
        printf("%u", value);
}

static void put_real(const char *table, const char *column, double value)
{
    (void)table;
    printf(", \"%s\": ", column);
    vv_json_write_real(stdout, value);
}

static void put_value(uint8_t kind, uint64_t value)
{
    double real;
    switch (kind) {
    case VV_ARG_INT:
        vv_json_write_int(stdout, (int64_t)value);
        break;
    case VV_ARG_REAL:
        memcpy(&real, &value, sizeof real);
        vv_json_write_real(stdout, real);
        break;
    case VV_ARG_TEXT:
    case VV_ARG_JSON:
        put_text((uint32_t)value);
        break;
    case VV_ARG_BOOL:
        fputs(value != 0 ? "true" : "false", stdout);
        break;
    default:
        fputs("null", stdout);
        break;
    }
}

static void put_args(uint32_t first, uint16_t count)
{
    struct vv_arg_walk walk = vv_arg_walk(model, first, count);
    const char *joint = "";
    fputs(", \"args\": [", stdout);
    for (uint32_t row; vv_arg_next(&walk, &row); joint = ", ") {
        fputs(joint, stdout);
        fputs("[", stdout);
        put_text(model->args.key[row]);
        fputs(", ", stdout);
        put_value(model->args.kind[row], model->args.value[row]);
        fputs("]", stdout);
    }
    fputs("]", stdout);
}

#define PUT(table, column, cell)                                                       \
    _Generic((cell), int64_t: put_signed, int32_t: put_signed, uint64_t: put_unsigned, \
             uint32_t: put_row_number, uint16_t: put_unsigned, uint8_t: put_unsigned,  \
             double: put_real)(table, column, cell);
#define PUT_CELL(T, type, column) PUT(table, #column, rows->column[row])

static void open_row(const char *table, uint64_t row)
{
    printf("{\"table\": \"%s\", \"row\": %llu", table, (unsigned long long)row);
}

#define DUMP(NAME, COLUMNS, EXTRA)                               \
    static void dump_##NAME(void)                                \
    {                                                            \
        const char *const table = #NAME;                         \
        const struct vv_##NAME *rows = &model->NAME;             \
        for (uint64_t row = 0; row < rows->table.count; row++) { \
            open_row(table, row);                                \
            COLUMNS(PUT_CELL, 0)                                 \
            EXTRA                                                \
            puts("}");                                           \
        }                                                        \
    }

DUMP(processes, VV_PROCESS_COLUMNS, )
DUMP(tracks, VV_TRACK_COLUMNS, )
DUMP(slices, VV_SLICE_COLUMNS, put_args(rows->first_arg[row], rows->arg_count[row]);)
DUMP(ops, VV_OP_COLUMNS, )
DUMP(tensors, VV_TENSOR_COLUMNS, )
DUMP(dims, VV_DIM_COLUMNS, )
DUMP(activities, VV_ACTIVITY_COLUMNS, )
DUMP(collectives, VV_COLLECTIVE_COLUMNS, )
DUMP(launch_shapes, VV_LAUNCH_SHAPE_COLUMNS, )
DUMP(waits, VV_WAIT_COLUMNS, )
DUMP(devices, VV_DEVICE_COLUMNS, )
DUMP(sources, VV_SOURCE_COLUMNS, )
DUMP(placements, VV_PLACEMENT_COLUMNS, )
DUMP(clocks, VV_CLOCK_COLUMNS, )
DUMP(graphs, VV_GRAPH_COLUMNS, )
DUMP(nodes, VV_NODE_COLUMNS, )
DUMP(edges, VV_EDGE_COLUMNS, )
DUMP(loaded_models, VV_LOADED_MODEL_COLUMNS, )
DUMP(executions, VV_EXECUTION_COLUMNS, )
DUMP(tasks, VV_TASK_COLUMNS, )
DUMP(trace_points, VV_TRACE_POINT_COLUMNS, )
DUMP(planned_points, VV_PLANNED_POINT_COLUMNS, )
DUMP(steps, VV_STEP_COLUMNS, )
DUMP(marks, VV_MARK_COLUMNS, put_args(rows->first_arg[row], rows->arg_count[row]);)
DUMP(counters, VV_COUNTER_COLUMNS, )
DUMP(flows, VV_FLOW_COLUMNS, )
DUMP(memory, VV_MEMORY_COLUMNS, )
DUMP(inputs, VV_INPUT_COLUMNS, )

static void dump_facts(void)
{
    const struct vv_facts *facts = &model->facts;
    for (uint64_t row = 0; row < facts->table.count; row++) {
        open_row("facts", row);
        put_row_number("facts", "key", facts->key[row]);
        put_row_number("facts", "process", facts->process[row]);
        fputs(", \"value\": ", stdout);
        put_value(facts->kind[row], facts->value[row]);
        puts("}");
    }
}

/* Every field of struct vv_health, in its order. */
static void dump_health(void)
{
    const struct vv_health *health = &model->health;
    open_row("health", 0);
#define PUT_HEALTH(name) put_unsigned("health", #name, health->name);
    PUT_HEALTH(unfinished)
    PUT_HEALTH(unmatched_ends) PUT_HEALTH(begun_before) PUT_HEALTH(flows_before)
        PUT_HEALTH(unmatched_flows) PUT_HEALTH(unmatched_async) PUT_HEALTH(overlaps)
            PUT_HEALTH(zero_length) PUT_HEALTH(clock_steps_back) PUT_HEALTH(negative)
                PUT_HEALTH(unlinked) PUT_HEALTH(workless)
                    PUT_HEALTH(duplicate_correlations) PUT_HEALTH(unplaced)
                    PUT_HEALTH(ignored) PUT_HEALTH(unknown_nodes) PUT_HEALTH(repaired_texts)
                        PUT_HEALTH(truncated_files)
                            puts("}");
}

static void dump_run(void)
{
    const struct vv_run *run = &model->run;
    open_row("run", 0);
    put_row_number("processes", "host", run->host);
    put_signed("run", "begin_ns", run->begin_ns);
    put_signed("run", "end_ns", run->end_ns);
    put_unsigned("run", "events", run->events);
    put_unsigned("run", "lost", run->lost);
    puts("}");
}

int main(int argc, char **argv)
{
    struct vv_import_options options = { 0 };
    struct vv_model *read = NULL;
    struct varve_error error;
    if (argc > 3 && strcmp(argv[1], "--threads") == 0) {
        options.threads = (unsigned)atoi(argv[2]);
        argv += 2;
        argc -= 2;
    }
    if (argc < 2) {
        fprintf(stderr, "model_dump [--threads N] PATH...\n");
        return 2;
    }
    if (vv_import_all((const char *const *)(argv + 1), (size_t)argc - 1, &options, &read, &error) !=
        VARVE_OK) {
        fprintf(stderr, "model_dump: %s\n", error.message);
        return 3;
    }
    model = read;
    dump_health();
    dump_run();
    dump_processes();
    dump_tracks();
    dump_slices();
    dump_ops();
    dump_tensors();
    dump_dims();
    dump_activities();
    dump_collectives();
    dump_launch_shapes();
    dump_waits();
    dump_devices();
    dump_sources();
    dump_placements();
    dump_clocks();
    dump_graphs();
    dump_nodes();
    dump_edges();
    dump_loaded_models();
    dump_executions();
    dump_tasks();
    dump_trace_points();
    dump_planned_points();
    dump_steps();
    dump_marks();
    dump_counters();
    dump_flows();
    dump_memory();
    dump_inputs();
    dump_facts();
    vv_model_destroy(read);
    return fflush(stdout) == 0 ? 0 : 4;
}
