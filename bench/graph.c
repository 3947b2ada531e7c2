/* SPDX-License-Identifier: Apache-2.0 */
/* graph.c — how long a trace takes to become a picture of its graph, and how much memory.
 *
 *     build/bench/graph [-r ROUNDS] [MILLIONS...]               default: 1 and 10 million events
 *
 * A child records so many events of ours: steps, in each 24 layers, in each 8 operators. Each round
 * is a process of its own, which reads the trace, makes the graph folded as varve dag does, and
 * writes each form to /dev/null; of some rounds the fastest counts, and each round's peak memory is
 * its own. The same forms of 100,000 nodes that are not folded, 200,000 edges: what placing them
 * costs is in svg's row. The order of 10^6 intervals of random lengths, and of 10^5 beside it, for
 * the growth. Wanted, seconds: 1 M events 3, 10^7 20, 100,000 nodes placed 5, 10^6 levels 1. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "graph/build/interval_order.h"
#include "graph/dag/levels.h"
#include "graph/forms/forms.h"
#include "graph/graph.h"
#include "graph/picture/picture.h"
#include "import/importer.h"
#include "varve/varve.h"

#define FOLDER "build/bench_graph_trace.varve"
#define LAYERS 24
#define OPERATORS 8
#define STEP_EVENTS (2 * (1 + LAYERS * (1 + OPERATORS)))
#define PLACED_NODES 100000u
#define FORMS_MAX 16

VARVE_SITE(layer, "layer", VARVE_LAYER_STEP);
VARVE_SITE(norm, "norm", VARVE_LAYER_OP);
VARVE_SITE(query, "query", VARVE_LAYER_OP);
VARVE_SITE(key, "key", VARVE_LAYER_OP);
VARVE_SITE(attention, "attention", VARVE_LAYER_OP);
VARVE_SITE(project, "project", VARVE_LAYER_OP);
VARVE_SITE(add, "add", VARVE_LAYER_OP);
VARVE_SITE(up, "up", VARVE_LAYER_OP);
VARVE_SITE(down, "down", VARVE_LAYER_OP);

/* What a child says of itself, and what the system says of it. */
struct result {
    double read_s, make_s, form_s[FORMS_MAX];
    uint64_t events, nodes, edges;
    double peak_bytes;
    bool is_done;
};

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void fail(const struct varve_error *error)
{
    fprintf(stderr, "graph: %s\n", error->message);
    _exit(1);
}

/* ---- the trace ---- */

static void record(uint64_t events)
{
    struct varve_site *const operators[OPERATORS] = { &norm, &query, &key, &attention, &project,
                                                      &add, &up, &down };
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    struct varve_error error;
    options.output = FOLDER;
    if (varve_session_start(&options, &error) != VARVE_OK)
        fail(&error);
    for (uint64_t step = 0; step < events / STEP_EVENTS; step++) {
        varve_step_begin((int64_t)step);
        for (int l = 0; l < LAYERS; l++) {
            varve_begin(&layer);
            for (int o = 0; o < OPERATORS; o++) {
                varve_begin(operators[o]);
                varve_end();
            }
            varve_end();
        }
        varve_step_end();
    }
    if (varve_session_stop(&error) != VARVE_OK)
        fail(&error);
    _exit(0);
}

static int drop(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

/* ---- one round, in a child ---- */

static void write_forms(const struct vv_dag *dag, struct result *result)
{
    struct varve_error error;
    struct vv_picture picture;
    if (vv_picture_init(&picture, dag, NULL, &error) != VARVE_OK)
        fail(&error);
    for (size_t i = 0; vv_form_names[i] != NULL && i < FORMS_MAX; i++) {
        const struct vv_form *form;
        FILE *nothing = fopen("/dev/null", "w");
        double begin = now_s();
        if (nothing == NULL || vv_form_find(vv_form_names[i], "", &form, &error) != VARVE_OK)
            fail(&error);
        if (form->write(dag, &picture, nothing, &error) == VARVE_OK)
            result->form_s[i] = now_s() - begin;
        else
            result->form_s[i] = -1;
        fclose(nothing);
    }
    vv_picture_deinit(&picture);
    result->nodes = dag->nodes.table.count;
    result->edges = dag->edges.table.count;
    result->is_done = true;
}

static struct result draw_trace(void)
{
    const char *path = FOLDER;
    const struct vv_question question = VV_QUESTION_ALL;
    struct result result = { 0 };
    struct varve_error error;
    struct vv_model *model;
    struct vv_dag dag;
    double begin = now_s();
    if (vv_import_all(&path, 1, NULL, &model, &error) != VARVE_OK)
        fail(&error);
    result.read_s = now_s() - begin;
    result.events = model->run.events;
    begin = now_s();
    if (vv_graph_make(model, &question, &dag, &error) != VARVE_OK)
        fail(&error);
    result.make_s = now_s() - begin;
    write_forms(&dag, &result);
    return result;
}

/* Each node has two edges to nodes that are near before it: a graph as deep as those of traces. */
static struct result draw_nodes(void)
{
    struct result result = { 0 };
    struct varve_error error;
    struct vv_dag dag;
    uint32_t row, seed = 1;
    char name[40];
    if (vv_dag_init(&dag, &error) != VARVE_OK)
        fail(&error);
    for (uint32_t n = 0; n < PLACED_NODES; n++) {
        snprintf(name, sizeof name, "model/layer%u/op%u", n / 40, n % 40);
        if (vv_dag_add_node(&dag, name, VV_DAG_OPERATOR, &row, &error) != VARVE_OK)
            fail(&error);
        dag.nodes.count[row] = 1;
        dag.nodes.total_ns[row] = dag.nodes.self_ns[row] = 1 + n * INT64_C(7919) % 100000;
        for (int e = 0; e < 2 && n > 0; e++) {
            uint32_t reach = n < 200 ? n : 200;
            seed = seed * 1664525u + 1013904223u;
            if (vv_dag_add_edge(&dag, n - 1 - (seed >> 8) % reach, n, VV_DAG_EDGE_DATA, &row,
                                &error) != VARVE_OK)
                fail(&error);
        }
    }
    double begin = now_s();
    if (vv_dag_levels(&dag, false, &error) != VARVE_OK)
        fail(&error);
    result.make_s = now_s() - begin;
    write_forms(&dag, &result);
    return result;
}

static struct result in_child(struct result (*work)(void))
{
    struct result result = { 0 };
    struct rusage usage;
    int ends[2], status;
    if (pipe(ends) != 0)
        return result;
    pid_t child = fork();
    if (child == 0) {
        result = work();
        _exit(write(ends[1], &result, sizeof result) == (ssize_t)sizeof result ? 0 : 1);
    }
    close(ends[1]);
    if (child < 0 || read(ends[0], &result, sizeof result) != (ssize_t)sizeof result)
        result.is_done = false;
    close(ends[0]);
    if (child > 0 && wait4(child, &status, 0, &usage) == child)
        result.peak_bytes = (double)usage.ru_maxrss * 1024;
    return result;
}

static double least(double one, double other) { return one < other ? one : other; }

/* The least of each part, and the largest peak. */
static struct result best_of(struct result (*work)(void), int rounds)
{
    struct result best = in_child(work);
    for (int round = 1; round < rounds; round++) {
        struct result result = in_child(work);
        best.is_done = best.is_done && result.is_done;
        best.read_s = least(best.read_s, result.read_s);
        best.make_s = least(best.make_s, result.make_s);
        for (size_t i = 0; i < FORMS_MAX; i++)
            best.form_s[i] = least(best.form_s[i], result.form_s[i]);
        best.peak_bytes = result.peak_bytes > best.peak_bytes ? result.peak_bytes : best.peak_bytes;
    }
    return best;
}

static void print_result(const struct result *result, double items, const char *item)
{
    if (!result->is_done) {
        printf("failed\n");
        return;
    }
    printf("%" PRIu64 " nodes, %" PRIu64 " edges; peak %.0f MB, %.1f bytes %s\n", result->nodes,
           result->edges, result->peak_bytes * 1e-6, result->peak_bytes / items, item);
    if (result->read_s > 0)
        printf("  %-28s %8.3f s\n", "read", result->read_s);
    printf("  %-28s %8.3f s\n", result->read_s > 0 ? "build and fold" : "levels",
           result->make_s);
    for (size_t i = 0; vv_form_names[i] != NULL && i < FORMS_MAX; i++) {
        if (result->form_s[i] < 0)
            printf("  write %-22s  refused\n", vv_form_names[i]);
        else
            printf("  write %-22s %8.3f s   all together %8.3f s\n", vv_form_names[i],
                   result->form_s[i], result->read_s + result->make_s + result->form_s[i]);
    }
    fflush(stdout);
}

/* ---- the order of intervals ---- */

static double order(size_t count, int rounds)
{
    struct vv_interval *items = calloc(count, sizeof *items);
    uint32_t *level = calloc(count, sizeof *level), *before = calloc(count, sizeof *before);
    double best_s = 1e9;
    struct varve_error error;
    uint32_t seed = 7;
    if (items == NULL || level == NULL || before == NULL)
        abort();
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        items[i].begin_ns = (int64_t)(seed >> 4) * 16;
        seed = seed * 1664525u + 1013904223u;
        items[i].end_ns = items[i].begin_ns + (seed >> 12);
    }
    for (int round = 0; round < rounds; round++) {
        double begin = now_s();
        if (vv_interval_order(items, count, level, before, &error) != VARVE_OK)
            fail(&error);
        best_s = least(best_s, now_s() - begin);
    }
    free(items);
    free(level);
    free(before);
    return best_s;
}

static void measure_trace(double millions, int rounds)
{
    int status = 1;
    nftw(FOLDER, drop, 8, FTW_DEPTH | FTW_PHYS);
    pid_t child = fork();
    if (child == 0)
        record((uint64_t)(millions * 1e6));
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
        printf("%.6g M events: not recorded\n", millions);
        return;
    }
    struct result result = best_of(draw_trace, rounds);
    printf("%" PRIu64 " events: ", result.events);
    print_result(&result, (double)result.events, "an event");
    nftw(FOLDER, drop, 8, FTW_DEPTH | FTW_PHYS);
}

int main(int argc, char **argv)
{
    int rounds = 3, option;
    while ((option = getopt(argc, argv, "r:")) != -1) {
        if (option != 'r' || (rounds = atoi(optarg)) < 1) {
            fprintf(stderr, "usage: graph [-r ROUNDS] [MILLIONS...]\n");
            return 2;
        }
    }
    if (optind == argc) {
        measure_trace(1, rounds);
        measure_trace(10, rounds);
    }
    for (int i = optind; i < argc; i++)
        measure_trace(strtod(argv[i], NULL), rounds);
    struct result result = best_of(draw_nodes, rounds);
    printf("not folded: ");
    print_result(&result, PLACED_NODES, "a node");
    double small_s = order(100000, rounds), large_s = order(1000000, rounds);
    printf("order of 1 000 000 intervals   %8.3f s, %.1f times that of 100 000\n", large_s,
           large_s / small_s);
    return 0;
}
