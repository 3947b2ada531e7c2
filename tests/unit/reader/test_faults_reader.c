/* SPDX-License-Identifier: Apache-2.0 */
/* test_faults_reader.c — the n-th allocation fails, for every n, while a program opens a trace,
 * asks it, and makes its graph: each time the call says so, and what was open before still answers.
 * Leaks show in the sanitizer build. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <stdlib.h>

#include <cmocka.h>

#include "failing_allocation.h"
#include "trace.h"

static void must_say_so(enum varve_code code, const struct varve_error *error)
{
    if (code == VARVE_OK)
        return;
    assert_int_equal(code, VARVE_NO_MEMORY);
    assert_int_equal(error->code, VARVE_NO_MEMORY);
    assert_true(strlen(error->message) > 0);
}

static void opening(void **state)
{
    (void)state;
    const char *path = memory_file(trace_text, strlen(trace_text));
    size_t refused = 0;
    for (long n = 0;; n++) {
        struct varve_trace *trace = NULL;
        struct varve_error error = { .code = VARVE_OK };
        struct varve_open_options options = { .struct_size = sizeof options, .threads = 1 };
        allocations_left = n;
        enum varve_code code = varve_trace_open(&path, 1, &options, &trace, &error);
        bool is_over = allocations_left >= 0;
        allocations_left = -1;
        must_say_so(code, &error);
        assert_int_equal(code == VARVE_OK, trace != NULL);
        refused += code != VARVE_OK;
        varve_trace_close(trace);
        if (is_over)
            break;
    }
    assert_true(refused > 50);
}

static void asking(void **state)
{
    (void)state;
    static const char *const names[] = { "operators", "steps", "kernels", "advice" };
    struct varve_trace *trace = trace_open();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t refused = 0;
        for (long n = 0;; n++) {
            struct varve_table *table = NULL;
            struct varve_error error = { .code = VARVE_OK };
            allocations_left = n;
            enum varve_code code = varve_trace_ask(trace, names[i], NULL, &table, &error);
            bool is_over = allocations_left >= 0;
            allocations_left = -1;
            must_say_so(code, &error);
            assert_int_equal(code == VARVE_OK, table != NULL);
            refused += code != VARVE_OK;
            varve_table_close(table);
            if (is_over)
                break;
        }
        assert_true(refused > 5);
    }
    varve_trace_close(trace);
}

static void making_a_graph(void **state)
{
    (void)state;
    struct varve_trace *trace = trace_open();
    size_t refused = 0;
    for (long n = 0;; n++) {
        struct varve_dag *dag = NULL;
        struct varve_error error = { .code = VARVE_OK };
        allocations_left = n;
        enum varve_code code = varve_dag_make(trace, NULL, &dag, &error);
        bool is_over = allocations_left >= 0;
        allocations_left = -1;
        must_say_so(code, &error);
        assert_int_equal(code == VARVE_OK, dag != NULL);
        refused += code != VARVE_OK;
        varve_dag_close(dag);
        if (is_over)
            break;
    }
    assert_true(refused > 20);
    varve_trace_close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(opening), cmocka_unit_test(asking),
                                        cmocka_unit_test(making_a_graph) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
