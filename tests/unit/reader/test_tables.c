/* SPDX-License-Identifier: Apache-2.0 */
/* test_tables.c — reader/trace.c, table.c, answer.c: what a trace has, cell by cell and column by
 * column, and that nothing a caller hands over does worse than an error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/columns.h"
#include "reader/handles.h"
#include "trace.h"
#include "varve/varve.h"

static struct varve_error error;

static void fails(enum varve_code code, enum varve_code wanted, const char *words)
{
    assert_int_equal(code, wanted);
    assert_int_equal(error.code, wanted);
    if (strstr(error.message, words) == NULL)
        fail_msg("'%s' is not in: %s", words, error.message);
}

static uint32_t column(const struct varve_table *table, const char *name)
{
    uint32_t number = 0;
    assert_int_equal(varve_table_find(table, name, &number, &error), VARVE_OK);
    return number;
}

static struct varve_cell cell(const struct varve_table *table, uint64_t row, const char *name)
{
    struct varve_cell found;
    assert_int_equal(varve_table_cell(table, row, column(table, name), &found, &error), VARVE_OK);
    return found;
}

static void a_trace_says_what_it_is(void **state)
{
    (void)state;
    struct varve_trace *trace = trace_open();
    struct varve_trace_info info = { .struct_size = sizeof info };
    assert_int_equal(varve_trace_describe(trace, &info, &error), VARVE_OK);
    assert_string_equal(info.format, "chrome");
    assert_int_equal(info.path_count, 1);
    assert_int_equal(info.events, 10);
    assert_int_equal(info.lost, 0);
    assert_int_equal(info.truncated_files, 0);
    assert_int_equal(info.findings, 0);
    assert_int_equal(info.end_ns - info.begin_ns, 1900000);
    assert_string_equal(varve_reader_version(), "0.1.0");
    varve_trace_close(trace);
}

static void cells_of_a_model(void **state)
{
    (void)state;
    struct varve_trace *trace = trace_open();
    const struct varve_table *slices;
    assert_int_equal(varve_trace_table(trace, "slices", &slices, &error), VARVE_OK);
    assert_string_equal(varve_table_name(slices), "slices");
    assert_null(varve_table_policy(slices));
    assert_int_equal(varve_table_rows(slices), 10);
    int64_t total_ns = 0;
    size_t convolutions = 0;
    for (uint64_t row = 0; row < 10; row++) {
        struct varve_cell name = cell(slices, row, "name");
        assert_int_equal(name.type, VARVE_CELL_TEXT);
        if (strcmp(name.text, "aten::conv2d") != 0)
            continue;
        convolutions++;
        struct varve_cell duration = cell(slices, row, "duration_ns");
        assert_int_equal(duration.type, VARVE_CELL_I64);
        total_ns += duration.integer;
        assert_int_equal(cell(slices, row, "self_ns").integer, 450000);
        assert_int_equal(cell(slices, row, "activity").integer, VARVE_NO_ROW);
    }
    assert_int_equal(convolutions, 2);
    assert_int_equal(total_ns, 1000000);
    varve_trace_close(trace);
}

/* The same by pointers, for every table and column. */
static void columns_of_a_model(void **state)
{
    (void)state;
    static const uint64_t widths[] = { [VARVE_CELL_U8] = 1, [VARVE_CELL_U16] = 2,
                                       [VARVE_CELL_U32] = 4, [VARVE_CELL_U64] = 8,
                                       [VARVE_CELL_I32] = 4, [VARVE_CELL_I64] = 8,
                                       [VARVE_CELL_DOUBLE] = 8, [VARVE_CELL_STRING] = 4 };
    struct varve_trace *trace = trace_open();
    size_t tables = 0, strings = 0;
    for (const char *name; (name = varve_trace_table_name(tables)) != NULL; tables++) {
        const struct varve_table *table;
        assert_int_equal(varve_trace_table(trace, name, &table, &error), VARVE_OK);
        for (uint32_t c = 0; c < varve_table_columns(table); c++) {
            struct varve_column about = { .struct_size = sizeof about };
            assert_int_equal(varve_table_column(table, c, &about, &error), VARVE_OK);
            assert_int_equal(about.struct_size, sizeof about);
            assert_in_range(about.type, VARVE_CELL_U8, VARVE_CELL_STRING);
            assert_int_equal(about.stride_bytes, widths[about.type]);
            assert_null(about.present);
            assert_non_null(about.unit);
            for (uint64_t row = 0; row < varve_table_rows(table); row++) {
                struct varve_cell found = cell(table, row, about.name);
                const char *at = (const char *)about.cells + row * about.stride_bytes;
                uint32_t id;
                if (about.type == VARVE_CELL_I64)
                    assert_memory_equal(&found.integer, at, sizeof found.integer);
                if (about.type != VARVE_CELL_STRING)
                    continue;
                memcpy(&id, at, sizeof id);
                strings += id != 0;
                assert_string_equal(found.text, varve_table_string(table, id));
            }
        }
    }
    assert_int_equal(tables, VV_TABLE_COUNT);
    assert_true(strings > 20);
    varve_trace_close(trace);
}

static void units_stand_last_in_names(void **state)
{
    (void)state;
    static const struct { const char *table, *column, *unit; } wanted[] = {
        { "slices", "begin_ns", "ns" }, { "ops", "bytes", "bytes" }, { "ops", "flop", "count" },
        { "devices", "flop_per_s", "flop/s" }, { "devices", "memory_bytes_per_s", "bytes/s" },
        { "processes", "record_cost_ps", "ps" }, { "slices", "arg_count", "count" },
        { "slices", "name", "" }, { "slices", "depth", "" },
    };
    struct varve_trace *trace = trace_open();
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const struct varve_table *table;
        struct varve_column about = { .struct_size = sizeof about };
        assert_int_equal(varve_trace_table(trace, wanted[i].table, &table, &error), VARVE_OK);
        assert_int_equal(varve_table_column(table, column(table, wanted[i].column), &about,
                                            &error), VARVE_OK);
        assert_string_equal(about.unit, wanted[i].unit);
    }
    varve_trace_close(trace);
}

static void answers(void **state)
{
    (void)state;
    struct varve_trace *trace = trace_open();
    struct varve_table *table;
    struct varve_question question = { .struct_size = sizeof question, .steps = "2" };
    assert_int_equal(varve_trace_ask(trace, "operators", &question, &table, &error), VARVE_OK);
    varve_trace_close(trace); /* an answer outlives its trace */
    assert_string_equal(varve_table_name(table), "operators");
    assert_non_null(strstr(varve_table_policy(table), "step"));
    uint64_t rows = varve_table_rows(table);
    assert_int_equal(varve_table_row_kind(table, rows - 1), VARVE_ROW_TOTAL);
    assert_int_equal(varve_table_row_kind(table, rows), VARVE_ROW_PLAIN);
    bool is_found = false;
    for (uint64_t row = 0; row < rows; row++) {
        struct varve_cell name = cell(table, row, "name"), flop = cell(table, row, "median_ns");
        if (name.type != VARVE_CELL_TEXT || strcmp(name.text, "aten::conv2d") != 0)
            continue;
        is_found = true;
        assert_int_equal(cell(table, row, "total_ns").integer, 500000);
        assert_int_equal(flop.integer, 500000);
    }
    assert_true(is_found);
    /* by pointers: rows have a stride, and cells without a value say so */
    size_t absent = 0;
    for (uint32_t c = 0; c < varve_table_columns(table); c++) {
        struct varve_column about = { .struct_size = sizeof about };
        assert_int_equal(varve_table_column(table, c, &about, &error), VARVE_OK);
        for (uint64_t row = 0; row < rows; row++) {
            struct varve_cell found;
            assert_int_equal(varve_table_cell(table, row, c, &found, &error), VARVE_OK);
            bool is_there = about.present[row * about.stride_bytes] != 0;
            assert_int_equal(is_there, found.type != VARVE_CELL_NONE);
            absent += !is_there;
            const char *at = (const char *)about.cells + row * about.stride_bytes;
            if (is_there && about.type == VARVE_CELL_TEXT)
                assert_ptr_equal(*(const char *const *)at, found.text);
            if (is_there && about.type == VARVE_CELL_I64)
                assert_int_equal(*(const int64_t *)at, found.integer);
        }
    }
    assert_true(absent > 0);
    varve_table_close(table);
}

/* Every table answers, and the lists of names end. */
static void every_table_answers(void **state)
{
    (void)state;
    struct varve_trace *trace = trace_open();
    size_t count = 0;
    for (const char *name; (name = varve_answer_name(count)) != NULL; count++) {
        struct varve_table *table;
        assert_true(strlen(varve_answer_says(count)) > 5);
        assert_int_equal(varve_trace_ask(trace, name, NULL, &table, &error), VARVE_OK);
        assert_string_equal(varve_table_name(table), name);
        varve_table_close(table);
    }
    assert_true(count > 50);
    assert_null(varve_answer_name(SIZE_MAX));
    assert_null(varve_answer_says(count));
    assert_null(varve_trace_table_name(SIZE_MAX));
    varve_trace_close(trace);
}

/* The last part of the test: what is wrong is said. */
static void a_graph_refuses(struct varve_dag *dag, const struct varve_table *nodes)
{
    fails(varve_dag_table(dag, "node", &nodes, &error), VARVE_NOT_FOUND, "Nearest: nodes");
    fails(varve_dag_table(dag, "weather", &nodes, &error), VARVE_NOT_FOUND, "nodes, edges");
    fails(varve_dag_table(dag, NULL, &nodes, &error), VARVE_INVALID, "NULL");
    fails(varve_dag_table(NULL, "nodes", &nodes, &error), VARVE_INVALID, "NULL");
    fails(varve_dag_table(dag, "nodes", NULL, &error), VARVE_INVALID, "NULL");
    fails(varve_dag_make(NULL, NULL, &dag, &error), VARVE_INVALID, "NULL");
    fails(varve_dag_write(NULL, "x.json", NULL, &error), VARVE_INVALID, "NULL");
    fails(varve_dag_write(dag, NULL, NULL, &error), VARVE_INVALID, "NULL");
    fails(varve_dag_write(dag, "/nowhere/x.json", NULL, &error), VARVE_NOT_FOUND, "/nowhere");
    struct varve_drawing drawing = { .struct_size = sizeof drawing, .form = "json" };
    fails(varve_dag_write(dag, "/dev/full", &drawing, &error), VARVE_EXISTS, "no file");
    drawing.theme = "darc";
    fails(varve_dag_write(dag, "/nowhere/x", &drawing, &error), VARVE_INVALID, "dar");
    drawing.struct_size = 8;
    fails(varve_dag_write(dag, "/nowhere/x", &drawing, &error), VARVE_INVALID, "struct_size is 8");
}

static void a_graph_is_tables(void **state)
{
    (void)state;
    struct varve_trace *trace = trace_open();
    struct varve_dag *dag;
    const struct varve_table *nodes, *edges, *notes;
    assert_int_equal(varve_dag_make(trace, NULL, &dag, &error), VARVE_OK);
    varve_trace_close(trace); /* a graph outlives its trace */
    assert_int_equal(varve_dag_table(dag, "nodes", &nodes, &error), VARVE_OK);
    assert_int_equal(varve_dag_table(dag, "edges", &edges, &error), VARVE_OK);
    assert_int_equal(varve_dag_table(dag, "notes", &notes, &error), VARVE_OK);
    assert_string_equal(varve_table_name(nodes), "nodes");
    assert_true(varve_table_rows(notes) > 0);
    int64_t kernels = 0, kernel_ns = 0, launched = 0;
    for (uint64_t row = 0; row < varve_table_rows(nodes); row++) {
        struct varve_cell kind = cell(nodes, row, "kind");
        assert_non_null(kind.text);
        assert_ptr_equal(kind.text, varve_table_word(nodes, column(nodes, "kind"),
                                                     (uint64_t)kind.integer));
        assert_ptr_equal(varve_table_text(nodes, row, "kind"), kind.text);
        assert_int_equal(varve_table_integer(nodes, row, "kind"), kind.integer);
        assert_string_equal(varve_table_text(nodes, row, "name"), cell(nodes, row, "name").text);
        assert_int_equal(varve_table_integer(nodes, row, "total_ns"),
                         cell(nodes, row, "total_ns").integer);
        assert_null(varve_table_text(nodes, row, "total_ns"));
        assert_int_equal(varve_table_integer(nodes, row, "name"), 0);
        assert_null(varve_table_text(nodes, row, "nam"));
        if (strcmp(kind.text, "kernel") != 0)
            continue;
        assert_string_equal(cell(nodes, row, "name").text, "gemm");
        kernels += cell(nodes, row, "count").integer;
        kernel_ns += cell(nodes, row, "total_ns").integer;
    }
    assert_int_equal(kernels, 2);
    assert_int_equal(kernel_ns, 400000);
    for (uint64_t row = 0; row < varve_table_rows(edges); row++) {
        uint64_t to = (uint64_t)cell(edges, row, "to").integer;
        assert_true(to < varve_table_rows(nodes));
        if (strcmp(cell(edges, row, "kind").text, "flow") == 0 &&
            strcmp(cell(nodes, to, "kind").text, "kernel") == 0)
            launched += cell(edges, row, "count").integer;
    }
    assert_int_equal(launched, 2);
    assert_null(varve_table_word(nodes, column(nodes, "kind"), 200));
    assert_null(varve_table_text(nodes, varve_table_rows(nodes), "name"));
    assert_null(varve_table_text(nodes, 0, NULL));
    assert_null(varve_table_word(nodes, column(nodes, "name"), 0));
    varve_table_close((struct varve_table *)(uintptr_t)nodes);
    assert_true(varve_table_rows(nodes) > 0);
    size_t names = 0;
    while (varve_dag_table_name(names) != NULL)
        names++;
    assert_int_equal(names, 4);
    a_graph_refuses(dag, nodes);
    assert_string_equal(varve_dag_form_name(0), "json");
    assert_null(varve_dag_form_name(SIZE_MAX));
    varve_dag_close(dag);
    varve_dag_close(NULL);
}

/* ---- hostile ---- */

static void nulls_are_errors(void **state)
{
    (void)state;
    const char *const none[] = { NULL }, *const there[] = { "/nowhere/x.varve" };
    struct varve_trace *trace = NULL;
    struct varve_table *table = NULL;
    const struct varve_table *const_table = NULL;
    struct varve_column about = { .struct_size = sizeof about };
    struct varve_trace_info info = { .struct_size = sizeof info };
    struct varve_cell found;
    uint32_t number;
    fails(varve_trace_open(NULL, 1, NULL, &trace, &error), VARVE_INVALID, "no path");
    fails(varve_trace_open(there, 0, NULL, &trace, &error), VARVE_INVALID, "no path");
    fails(varve_trace_open(none, 1, NULL, &trace, &error), VARVE_INVALID, "path 0 is NULL");
    fails(varve_trace_open(there, 1, NULL, NULL, &error), VARVE_INVALID, "no place");
    fails(varve_trace_open(there, 1, NULL, &trace, &error), VARVE_NOT_FOUND, "/nowhere/x.varve");
    assert_int_equal(varve_trace_open(there, 1, NULL, &trace, NULL), VARVE_NOT_FOUND);
    assert_null(trace);
    fails(varve_trace_describe(NULL, &info, &error), VARVE_INVALID, "NULL");
    fails(varve_trace_table(NULL, "slices", &const_table, &error), VARVE_INVALID, "NULL");
    fails(varve_trace_ask(NULL, "steps", NULL, &table, &error), VARVE_INVALID, "NULL");
    fails(varve_table_column(NULL, 0, &about, &error), VARVE_INVALID, "NULL");
    fails(varve_table_find(NULL, "name", &number, &error), VARVE_INVALID, "NULL");
    fails(varve_table_cell(NULL, 0, 0, &found, &error), VARVE_INVALID, "NULL");
    assert_null(varve_table_string(NULL, 0));
    assert_null(varve_table_word(NULL, 0, 0));
    assert_null(varve_table_text(NULL, 0, "name"));
    assert_int_equal(varve_table_integer(NULL, 0, "name"), 0);
    assert_null(varve_table_name(NULL));
    assert_null(varve_table_policy(NULL));
    assert_int_equal(varve_table_rows(NULL) + varve_table_columns(NULL) +
                     varve_table_row_kind(NULL, 0), 0);
    varve_table_close(NULL);
    varve_trace_close(NULL);
    trace = trace_open();
    fails(varve_trace_describe(trace, NULL, &error), VARVE_INVALID, "no place");
    fails(varve_trace_table(trace, NULL, &const_table, &error), VARVE_INVALID, "NULL");
    fails(varve_trace_table(trace, "slices", NULL, &error), VARVE_INVALID, "NULL");
    fails(varve_trace_ask(trace, NULL, NULL, &table, &error), VARVE_INVALID, "NULL");
    fails(varve_trace_ask(trace, "steps", NULL, NULL, &error), VARVE_INVALID, "NULL");
    assert_int_equal(varve_trace_table(trace, "slices", &const_table, NULL), VARVE_OK);
    fails(varve_table_cell(const_table, 0, 0, NULL, &error), VARVE_INVALID, "no place");
    fails(varve_table_column(const_table, 0, NULL, &error), VARVE_INVALID, "no place");
    fails(varve_table_find(const_table, NULL, &number, &error), VARVE_INVALID, "NULL");
    varve_table_close((struct varve_table *)(uintptr_t)const_table); /* the trace's: stays */
    assert_int_equal(varve_table_rows(const_table), 10);
    varve_trace_close(trace);
}

static void what_there_is_not_is_an_error(void **state)
{
    (void)state;
    struct varve_trace *trace = trace_open();
    const struct varve_table *slices;
    struct varve_table *table = NULL;
    struct varve_cell found = { .integer = 77 };
    struct varve_column about = { .struct_size = sizeof about };
    uint32_t number = 77;
    assert_int_equal(varve_trace_table(trace, "slices", &slices, &error), VARVE_OK);
    fails(varve_trace_table(trace, "slice", &slices, &error), VARVE_NOT_FOUND, "Nearest: slices");
    fails(varve_trace_table(trace, "", &slices, &error), VARVE_NOT_FOUND, "''");
    fails(varve_table_find(slices, "begin_n", &number, &error), VARVE_NOT_FOUND,
          "Nearest: begin_ns");
    fails(varve_table_cell(slices, 10, 0, &found, &error), VARVE_INVALID, "10 rows");
    fails(varve_table_cell(slices, UINT64_MAX, 0, &found, &error), VARVE_INVALID, "10 rows");
    fails(varve_table_cell(slices, 0, UINT32_MAX, &found, &error), VARVE_INVALID, "columns");
    fails(varve_table_column(slices, 99, &about, &error), VARVE_INVALID, "no column 99");
    assert_int_equal(found.integer, 77);
    assert_int_equal(number, 77);
    assert_int_equal(varve_trace_table(trace, "slices", &slices, &error), VARVE_OK);
    assert_string_equal(varve_table_string(slices, UINT32_MAX), "");
    assert_null(varve_table_word(slices, 0, UINT64_MAX));
    assert_null(varve_table_word(slices, UINT32_MAX, 0));
    fails(varve_trace_ask(trace, "operator", NULL, &table, &error), VARVE_INVALID,
          "Nearest: operators");
    static const struct { struct varve_question question; const char *table, *words; } wrong[] = {
        { { .by = "shap" }, "operators", "Nearest: shape" },
        { { .compat = "htb" }, "devices", "Nearest: hta" },
        { { .steps = "two" }, "operators", "two" },
        { { .filter = "self >" }, "operators", "self >" },
        { { .rank = "x" }, "operators", "x" },
        { { .top = -1 }, "operators", "below 0" },
        { { .instance = -1 }, "critical", "below 0" },
        { { .steps = "1" }, "inputs", "leave" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct varve_question question = wrong[i].question;
        question.struct_size = sizeof question;
        enum varve_code code = varve_trace_ask(trace, wrong[i].table, &question, &table, &error);
        if (i + 1 < sizeof wrong / sizeof *wrong)
            fails(code, VARVE_INVALID, wrong[i].words);
        else if (code == VARVE_OK)
            varve_table_close(table);
    }
    varve_trace_close(trace);
}

static void structs_may_grow(void **state)
{
    (void)state;
    struct varve_trace *trace = trace_open();
    struct varve_table *table;
    struct { struct varve_question known; uint64_t more; } newer = { .known = { 0 } };
    struct { struct varve_column known; uint64_t more; } column_newer = { .more = 5 };
    const struct varve_table *slices;
    newer.known.struct_size = sizeof newer;
    assert_int_equal(varve_trace_ask(trace, "operators", &newer.known, &table, &error), VARVE_OK);
    varve_table_close(table);
    newer.more = 1;
    fails(varve_trace_ask(trace, "operators", &newer.known, &table, &error), VARVE_UNSUPPORTED,
          "does not know");
    newer.known.struct_size = 0;
    fails(varve_trace_ask(trace, "operators", &newer.known, &table, &error), VARVE_INVALID,
          "struct_size is 0");
    newer.known.struct_size = UINT32_MAX;
    fails(varve_trace_ask(trace, "operators", &newer.known, &table, &error), VARVE_INVALID,
          "struct_size is 4294967295");
    newer.known.struct_size = sizeof newer.known;
    newer.known.flags = 4;
    fails(varve_trace_ask(trace, "operators", &newer.known, &table, &error), VARVE_UNSUPPORTED,
          "unknown bits");
    assert_int_equal(varve_trace_table(trace, "slices", &slices, &error), VARVE_OK);
    column_newer.known.struct_size = sizeof column_newer;
    assert_int_equal(varve_table_column(slices, 0, &column_newer.known, &error), VARVE_OK);
    assert_int_equal(column_newer.more, 0);
    column_newer.known.struct_size = 8;
    fails(varve_table_column(slices, 0, &column_newer.known, &error), VARVE_INVALID,
          "struct_size is 8");
    varve_trace_close(trace);
}

static void options_of_reading(void **state)
{
    (void)state;
    const char *path = memory_file(trace_text, strlen(trace_text));
    const char *const twice[] = { path, path };
    struct varve_open_options options = { .struct_size = sizeof options,
                                          .step_by = "aten::relu", .threads = 1 };
    struct varve_trace *trace = NULL;
    const struct varve_table *steps;
    fails(varve_trace_open(twice, 2, NULL, &trace, &error), VARVE_INVALID, "named twice");
    assert_int_equal(varve_trace_open(&path, 1, &options, &trace, &error), VARVE_OK);
    assert_int_equal(varve_trace_table(trace, "steps", &steps, &error), VARVE_OK);
    assert_int_equal(varve_table_rows(steps), 2);
    assert_int_equal(cell(steps, 0, "duration_ns").integer, 100000);
    varve_trace_close(trace);
    options.step_by = "..";
    fails(varve_trace_open(&path, 1, &options, &trace, &error), VARVE_INVALID, "step_by");
    options = (struct varve_open_options){ .struct_size = sizeof options, .max_memory_bytes = 1 };
    fails(varve_trace_open(&path, 1, &options, &trace, &error), VARVE_LIMIT, "");
    options.struct_size = 4;
    fails(varve_trace_open(&path, 1, &options, &trace, &error), VARVE_INVALID, "struct_size is 4");
    path = memory_file("no trace", 8);
    fails(varve_trace_open(&path, 1, NULL, &trace, &error), VARVE_UNSUPPORTED, "no trace");
    path = memory_file(trace_text, strlen(trace_text) / 2);
    assert_int_equal(varve_trace_open(&path, 1, NULL, &trace, &error), VARVE_OK);
    struct varve_trace_info info = { .struct_size = sizeof info };
    assert_int_equal(varve_trace_describe(trace, &info, &error), VARVE_OK);
    assert_int_equal(info.truncated_files, 1);
    assert_int_equal(info.findings, 1);
    varve_trace_close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trace_says_what_it_is), cmocka_unit_test(cells_of_a_model),
        cmocka_unit_test(columns_of_a_model),      cmocka_unit_test(units_stand_last_in_names),
        cmocka_unit_test(answers),                 cmocka_unit_test(every_table_answers),
        cmocka_unit_test(a_graph_is_tables),
        cmocka_unit_test(nulls_are_errors),        cmocka_unit_test(what_there_is_not_is_an_error),
        cmocka_unit_test(structs_may_grow),        cmocka_unit_test(options_of_reading),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
