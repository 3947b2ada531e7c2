/* SPDX-License-Identifier: Apache-2.0 */
/* main.c — a small runtime of its own: a graph of operators whose ready ones two workers take from
 * a queue.
 *
 * What a runtime marks: a step for each run of the graph (run_graph), a range for each operator, by
 * the name that the graph gives it, with sizes and floating-point operations (execute), the arrow
 * from the operator that made it ready to the worker that runs it (push, pop), the buffers that
 * results lie in (execute, release), and the workers' names (work). */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <varve/varve.h>

enum { SIZE = 160, WORKERS = 2, INPUTS_MAX = 2, STEPS = 30 };

typedef void kernel(const float *a, const float *b, float *out);

struct operator {
    const char *name;
    kernel *run;
    int inputs[INPUTS_MAX]; /* operators whose results these are; -1 = none */
    uint64_t flop;
};

static void multiply(const float *a, const float *b, float *out)
{
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++) {
            float sum = 0;
            for (int k = 0; k < SIZE; k++)
                sum += a[i * SIZE + k] * b[k * SIZE + j];
            out[i * SIZE + j] = sum / SIZE;
        }
}

static void add(const float *a, const float *b, float *out)
{
    for (int i = 0; i < SIZE * SIZE; i++)
        out[i] = a[i] + b[i];
}

static void fill(const float *a, const float *b, float *out)
{
    (void)a, (void)b;
    for (int i = 0; i < SIZE * SIZE; i++)
        out[i] = (float)(i % 7) / 7;
}

#define PRODUCT_FLOP (UINT64_C(2) * SIZE * SIZE * SIZE)
static const struct operator graph[] = {
    { "input", fill, { -1, -1 }, 0 },
    { "query", multiply, { 0, 0 }, PRODUCT_FLOP },
    { "key", multiply, { 0, 0 }, PRODUCT_FLOP },
    { "value", multiply, { 0, 0 }, PRODUCT_FLOP },
    { "scores", multiply, { 1, 2 }, PRODUCT_FLOP },
    { "context", multiply, { 4, 3 }, PRODUCT_FLOP },
    { "residual", add, { 5, 0 }, SIZE * SIZE },
};
enum { OPERATORS = sizeof graph / sizeof *graph };

/* ---- one run of the graph ---- */

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int ready[OPERATORS], ready_count;
    int missing[OPERATORS]; /* inputs that are still to come */
    int done;
    int64_t step;
    bool is_over;
    float *results[OPERATORS];
} run = { .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

VARVE_SITE(ready_site, "ready", VARVE_LAYER_HOST);

/* An arrow's number is the same at both ends, and no other arrow's. */
static uint64_t arrow_of(int operator)
{
    return (uint64_t)run.step << 16 | (uint64_t)operator;
}

/* With the mutex, by whoever made it ready. */
static void push(int operator)
{
    run.ready[run.ready_count++] = operator;
    varve_flow_out(&ready_site, arrow_of(operator));
    pthread_cond_broadcast(&run.changed);
}

/* An operator to run; -1 = there will be no more. */
static int pop(void)
{
    pthread_mutex_lock(&run.mutex);
    while (run.ready_count == 0 && !run.is_over)
        pthread_cond_wait(&run.changed, &run.mutex);
    int operator = run.ready_count > 0 ? run.ready[--run.ready_count] : -1;
    pthread_mutex_unlock(&run.mutex);
    return operator;
}

static void execute(int number)
{
    const struct operator *operator = &graph[number];
    const float *inputs[INPUTS_MAX] = { NULL };
    struct varve_tensor tensors[INPUTS_MAX];
    static const int64_t sizes[] = { SIZE, SIZE };
    struct varve_op_info info = VARVE_OP_INFO_INIT;
    float *result = malloc(sizeof *result * SIZE * SIZE);
    if (result == NULL)
        abort();
    varve_begin_name(operator->name, VARVE_LAYER_OP);
    varve_flow_in(&ready_site, arrow_of(number));
    varve_alloc(result, sizeof *result * SIZE * SIZE, VARVE_DEVICE(VARVE_DEVICE_KIND_CPU, 0));
    for (int i = 0; i < INPUTS_MAX && operator->inputs[i] >= 0; i++) {
        inputs[i] = run.results[operator->inputs[i]];
        tensors[info.input_count++] = (struct varve_tensor){ VARVE_F32, 2, sizes };
    }
    info.flop = operator->flop;
    info.bytes = sizeof *result * SIZE * SIZE * (info.input_count + 1);
    info.inputs = tensors;
    varve_op(&info);
    operator->run(inputs[0], inputs[1], result);
    varve_end();
    run.results[number] = result;
}

/* Its result is there: whatever lacked nothing else is ready. */
static void finish(int number)
{
    pthread_mutex_lock(&run.mutex);
    for (int other = 0; other < OPERATORS; other++)
        for (int i = 0; i < INPUTS_MAX; i++)
            if (graph[other].inputs[i] == number && --run.missing[other] == 0)
                push(other);
    run.done++;
    pthread_cond_broadcast(&run.changed);
    pthread_mutex_unlock(&run.mutex);
}

static void *work(void *name)
{
    int operator;
    varve_thread_name(name);
    while ((operator = pop()) >= 0) {
        execute(operator);
        finish(operator);
    }
    return NULL;
}

static void release(void)
{
    for (int operator = 0; operator < OPERATORS; operator++) {
        varve_free(run.results[operator], VARVE_DEVICE(VARVE_DEVICE_KIND_CPU, 0));
        free(run.results[operator]);
    }
}

static double run_graph(int64_t step)
{
    varve_step_begin(step);
    pthread_mutex_lock(&run.mutex);
    run.step = step;
    run.done = 0;
    for (int operator = 0; operator < OPERATORS; operator++) {
        run.missing[operator] = 0;
        for (int i = 0; i < INPUTS_MAX; i++)
            run.missing[operator] += graph[operator].inputs[i] >= 0;
        if (run.missing[operator] == 0)
            push(operator);
    }
    while (run.done < OPERATORS)
        pthread_cond_wait(&run.changed, &run.mutex);
    pthread_mutex_unlock(&run.mutex);
    double last = (double)run.results[OPERATORS - 1][0];
    release();
    varve_step_end();
    return last;
}

int main(void)
{
    static char names[WORKERS][16];
    pthread_t workers[WORKERS];
    double sum = 0;
    for (int i = 0; i < WORKERS; i++) {
        snprintf(names[i], sizeof names[i], "worker %d", i);
        if (pthread_create(&workers[i], NULL, work, names[i]) != 0)
            abort();
    }
    for (int64_t step = 0; step < STEPS; step++)
        sum += run_graph(step);
    pthread_mutex_lock(&run.mutex);
    run.is_over = true;
    pthread_cond_broadcast(&run.changed);
    pthread_mutex_unlock(&run.mutex);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    printf("%.3f\n", sum);
}
