/* SPDX-License-Identifier: Apache-2.0 */
/* test_threads.c — two threads ask one trace for every table, walk its own, and make its graph:
 * both see the same, and ThreadSanitizer sees no race. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>

#include "trace.h"

struct walk {
    const struct varve_trace *trace;
    uint64_t cells, digest;
};

static void take(struct walk *walk, const void *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        walk->digest = (walk->digest ^ ((const unsigned char *)data)[i]) * 1099511628211u;
}

static void walk_table(struct walk *walk, const struct varve_table *table)
{
    struct varve_cell cell;
    for (uint64_t row = 0; row < varve_table_rows(table); row++) {
        for (uint32_t column = 0; column < varve_table_columns(table); column++) {
            if (varve_table_cell(table, row, column, &cell, NULL) != VARVE_OK)
                abort();
            take(walk, &cell.integer, sizeof cell.integer);
            take(walk, &cell.real, sizeof cell.real);
            if (cell.text != NULL)
                take(walk, cell.text, strlen(cell.text));
            walk->cells++;
        }
    }
}

static void *walk_all(void *context)
{
    struct walk *walk = context;
    const struct varve_table *own;
    struct varve_table *answer;
    for (size_t t = 0; varve_trace_table_name(t) != NULL; t++) {
        if (varve_trace_table(walk->trace, varve_trace_table_name(t), &own, NULL) != VARVE_OK)
            abort();
        walk_table(walk, own);
    }
    for (size_t t = 0; varve_answer_name(t) != NULL; t++) {
        if (varve_trace_ask(walk->trace, varve_answer_name(t), NULL, &answer, NULL) != VARVE_OK)
            abort();
        walk_table(walk, answer);
        varve_table_close(answer);
    }
    struct varve_dag *dag;
    if (varve_dag_make(walk->trace, NULL, &dag, NULL) != VARVE_OK)
        abort();
    for (size_t t = 0; varve_dag_table_name(t) != NULL; t++) {
        if (varve_dag_table(dag, varve_dag_table_name(t), &own, NULL) != VARVE_OK)
            abort();
        walk_table(walk, own);
    }
    varve_dag_close(dag);
    return NULL;
}

static void threads_share_a_trace(void **state)
{
    (void)state;
    enum { THREADS = 2 };
    struct varve_trace *trace = trace_open();
    struct walk walks[THREADS] = { { .trace = trace }, { .trace = trace } };
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, walk_all, &walks[i]), 0);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_true(walks[0].cells > 1000);
    assert_int_equal(walks[0].cells, walks[1].cells);
    assert_int_equal(walks[0].digest, walks[1].digest);
    varve_trace_close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(threads_share_a_trace) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
