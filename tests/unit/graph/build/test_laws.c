/* SPDX-License-Identifier: Apache-2.0 */
/* Laws of the graph of any program: it adds up to table operators and to the steps, edges lead to
 * higher levels, and the order in which slices are added does not matter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "graph/build/build.h"
#include "handmade_device.h"

#define MOST 60
#define THREADS 3

/* What may be added to a model, in any order. */
struct event {
    enum { OP, PHASE, STEP, CALL, WORK } kind;
    uint32_t thread, name, number;
    int64_t begin, end;
};

struct program { struct event events[MOST]; size_t count; };

/* Slices that nest, or cross where `crosses`; steps that do not touch; calls with work. */
static void write_program(struct program *program, bool crosses)
{
    int64_t ends[THREADS] = { 0 };
    program->count = 0;
    for (uint32_t step = 0; step < (uint32_t)rand() % 4; step++)
        program->events[program->count++] =
            (struct event){ STEP, 0, 0, step, 300 * step, 300 * step + 200 + rand() % 100 };
    while (program->count < 10 + (size_t)rand() % (MOST - 14)) {
        uint32_t thread = (uint32_t)rand() % THREADS;
        int64_t begin = crosses ? rand() % 1000 : ends[thread] + rand() % 40;
        int64_t end = begin + (rand() % 5 == 0 ? 0 : rand() % 60);
        struct event event = { rand() % 6 == 0 ? PHASE : OP, thread, (uint32_t)rand() % 4, 0, begin,
                               end };
        if (rand() % 4 == 0) {
            event.kind = CALL;
            event.number = (uint32_t)program->count + 1;
            program->events[program->count++] =
                (struct event){ WORK, (uint32_t)rand() % 2, 0, event.number, begin + rand() % 50,
                                begin + 50 + rand() % 50 };
        }
        program->events[program->count++] = event;
        if (end - begin > 10) /* a slice inside */
            program->events[program->count++] =
                (struct event){ OP, thread, (uint32_t)rand() % 4, 0, begin + 2, end - 3 };
        ends[thread] = end;
    }
}

static struct vv_model *make(const struct program *program, const size_t *order)
{
    static const char *const names[] = { "a", "b", "c", "d" };
    struct vv_model *model = handmade_model();
    uint32_t threads[THREADS], streams[2];
    for (uint32_t t = 0; t < THREADS; t++)
        threads[t] = handmade_track(model, names[t], 100 + t);
    for (uint32_t s = 0; s < 2; s++)
        streams[s] = handmade_stream(model, 0, 7 + s);
    for (size_t i = 0; i < program->count; i++) {
        const struct event *event = &program->events[order[i]];
        if (event->kind == STEP)
            handmade_step(model, threads[0], event->number, event->begin, event->end);
        else if (event->kind == PHASE)
            handmade_phase(model, threads[event->thread], "phase", event->begin, event->end);
        else if (event->kind == CALL)
            handmade_call(model, threads[event->thread], "launch", event->number, event->begin,
                          event->end);
        else if (event->kind == WORK)
            handmade_work(model, streams[event->thread], "kernel", event->number, event->begin,
                          event->end);
        else
            handmade_op(model, threads[event->thread], names[event->name], event->begin,
                        event->end);
        /* ties are decided by the program */
        model->slices.order[model->slices.table.count - 1] = (uint32_t)order[i];
    }
    handmade_finish(model);
    return model;
}

static struct vv_dag build(const struct vv_model *model, const struct vv_question *question)
{
    struct varve_error error = { 0 };
    struct vv_dag dag;
    if (vv_graph_build(model, question, &dag, &error) != VARVE_OK)
        fail_msg("%s", error.message);
    return dag;
}

static bool is_of_host(const struct vv_dag *dag, uint32_t node)
{
    return dag->nodes.kind[node] != VV_DAG_OUTSIDE && dag->nodes.device[node] == 0;
}

static void adds_up_to_operators(const struct vv_model *model, const struct vv_dag *dag,
                                 const struct vv_question *question)
{
    struct vv_sheet sheet;
    int64_t sum_ns = 0, table_ns = 0;
    assert_int_equal(vv_analyse(vv_analyse_operators, model, question, &sheet, NULL), VARVE_OK);
    for (size_t row = 0; row < sheet.row_count; row++) {
        const char *name = sheet_cell_of(&sheet, row, "name")->text;
        int64_t self_ns = 0;
        if (strcmp(sheet_cell_of(&sheet, row, "row")->text, "operator") != 0)
            continue;
        for (uint32_t node = 0; node < dag->nodes.table.count; node++)
            if (is_of_host(dag, node) &&
                strcmp(vv_dag_string(dag, dag->nodes.name[node]), name) == 0)
                self_ns += dag->nodes.self_ns[node];
        assert_int_equal(self_ns, sheet_int_of(&sheet, row, "self_ns"));
        table_ns += self_ns;
    }
    for (uint32_t node = 0; node < dag->nodes.table.count; node++)
        sum_ns += is_of_host(dag, node) ? dag->nodes.self_ns[node] : 0;
    assert_int_equal(sum_ns, table_ns);
    vv_sheet_deinit(&sheet);
}

/* Of the steps' thread: what lies in no step, or reaches beyond its own, is the difference. */
static void adds_up_to_steps(const struct vv_model *model, const struct vv_dag *dag)
{
    int64_t sum_ns = 0, steps_ns = 0;
    bool has_steps = model->steps.table.count > 0;
    for (uint32_t step = 0; step < model->steps.table.count; step++)
        steps_ns += model->steps.duration_ns[step];
    for (uint32_t node = 0; node < dag->nodes.table.count; node++)
        if (strcmp(vv_dag_string(dag, dag->nodes.where[node]), "a") == 0)
            sum_ns += dag->nodes.self_ns[node];
    if (has_steps && vv_dag_find_note(dag, "beyond steps") == NULL)
        assert_int_equal(sum_ns, steps_ns);
    else if (has_steps)
        assert_true(sum_ns > steps_ns);
}

static void has_levels(const struct vv_dag *dag)
{
    for (uint32_t edge = 0; edge < dag->edges.table.count; edge++)
        assert_true(dag->nodes.level[dag->edges.from[edge]] <
                    dag->nodes.level[dag->edges.to[edge]]);
    for (uint32_t node = 0; node < dag->nodes.table.count; node++) {
        assert_true(dag->nodes.self_ns[node] >= 0);
        assert_true(dag->nodes.self_ns[node] <= dag->nodes.total_ns[node]);
    }
}

/* The same nodes and edges: rows are the same, as the model is sorted. */
static void is_same(const struct vv_dag *a, const struct vv_dag *b)
{
    assert_int_equal(a->nodes.table.count, b->nodes.table.count);
    assert_int_equal(a->edges.table.count, b->edges.table.count);
    for (uint32_t node = 0; node < a->nodes.table.count; node++) {
        assert_string_equal(vv_dag_string(a, a->nodes.name[node]),
                            vv_dag_string(b, b->nodes.name[node]));
        assert_int_equal(a->nodes.begin_ns[node], b->nodes.begin_ns[node]);
        assert_int_equal(a->nodes.self_ns[node], b->nodes.self_ns[node]);
        assert_int_equal(a->nodes.level[node], b->nodes.level[node]);
    }
}

static void any_program(void **state)
{
    (void)state;
    srand(3);
    for (int round = 0; round < 1500; round++) {
        struct vv_question question = VV_QUESTION_ALL;
        struct program program;
        size_t order[MOST];
        write_program(&program, round % 2 == 0);
        for (size_t i = 0; i < program.count; i++)
            order[i] = i;
        struct vv_model *model = make(&program, order);
        question.selection.warm_up = true;
        struct vv_dag dag = build(model, &question);
        adds_up_to_operators(model, &dag, &question);
        adds_up_to_steps(model, &dag);
        has_levels(&dag);
        for (size_t i = program.count; i > 1; i--) {
            size_t other = (size_t)rand() % i, kept = order[i - 1];
            order[i - 1] = order[other];
            order[other] = kept;
        }
        struct vv_model *shuffled = make(&program, order);
        struct vv_dag same = build(shuffled, &question);
        is_same(&dag, &same);
        vv_dag_deinit(&same);
        vv_dag_deinit(&dag);
        if (model->steps.table.count > 0) { /* one step of several */
            question.selection.first_step = question.selection.last_step = 0;
            dag = build(model, &question);
            adds_up_to_operators(model, &dag, &question);
            vv_dag_deinit(&dag);
        }
        vv_model_destroy(shuffled);
        vv_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(any_program) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
