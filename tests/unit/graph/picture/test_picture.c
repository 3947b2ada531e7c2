/* SPDX-License-Identifier: Apache-2.0 */
/* What colour a node gets, and what the legend says of it. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "graph/picture/picture.h"

static struct varve_error error;

static uint32_t add(struct vv_dag *dag, const char *name, int64_t total_ns, uint64_t count)
{
    uint32_t row;
    assert_int_equal(vv_dag_add_node(dag, name, VV_DAG_OPERATOR, &row, &error), VARVE_OK);
    dag->nodes.total_ns[row] = dag->nodes.self_ns[row] = total_ns;
    dag->nodes.count[row] = count;
    return row;
}

static void start(struct vv_dag *dag, size_t count, const int64_t *totals_ns)
{
    assert_int_equal(vv_dag_init(dag, &error), VARVE_OK);
    for (size_t i = 0; i < count; i++)
        add(dag, "op", totals_ns[i], 1);
}

static struct vv_picture draw(const struct vv_dag *dag, enum vv_picture_metric metric,
                              enum vv_picture_scale scale)
{
    struct vv_picture picture;
    struct vv_picture_options options = { metric, scale, VV_THEME_AUTO, true };
    assert_int_equal(vv_picture_init(&picture, dag, &options, &error), VARVE_OK);
    return picture;
}

static const char *legend_of(const struct vv_picture *picture, const char *key)
{
    for (size_t i = 0; i < picture->legend_count; i++)
        if (strcmp(picture->legend[i].key, key) == 0)
            return picture->legend[i].text;
    return NULL;
}

static void scales_place_a_value(void **state)
{
    static const int64_t totals_ns[] = { 1000, 10000, 100000, 50500, 0 };
    static const unsigned classes[VV_SCALES][5] = {
        [VV_SCALE_LINEAR] = { 0, 3, 32, 16, VV_COLOUR_ZERO },
        [VV_SCALE_LOG] = { 0, 16, 32, 27, VV_COLOUR_ZERO },
        [VV_SCALE_RANK] = { 0, 11, 32, 21, VV_COLOUR_ZERO },
    };
    static const char *const says[VV_SCALES] = {
        "total time, linear: 1.00 µs to 100 µs", "total time, logarithmic: 1.00 µs to 100 µs",
        "total time, by rank: 1.00 µs to 100 µs",
    };
    struct vv_dag dag;
    (void)state;
    start(&dag, 5, totals_ns);
    for (unsigned scale = 0; scale < VV_SCALES; scale++) {
        struct vv_picture picture = draw(&dag, VV_METRIC_TOTAL, (enum vv_picture_scale)scale);
        for (uint32_t row = 0; row < 5; row++)
            assert_int_equal(vv_picture_class(&picture, row), classes[scale][row]);
        assert_string_equal(legend_of(&picture, "colour"), says[scale]);
        assert_string_equal(legend_of(&picture, "grey"), "no time: 1 node");
        vv_picture_deinit(&picture);
    }
    vv_dag_deinit(&dag);
}

static void equal_ones_have_the_middle(void **state)
{
    static const int64_t totals_ns[] = { 3000000, 3000000, 3000000 };
    struct vv_dag dag;
    (void)state;
    start(&dag, 3, totals_ns);
    for (unsigned scale = 0; scale < VV_SCALES; scale++) {
        struct vv_picture picture = draw(&dag, VV_METRIC_SELF, (enum vv_picture_scale)scale);
        for (uint32_t row = 0; row < 3; row++)
            assert_int_equal(vv_picture_class(&picture, row), VV_COLOUR_MIDDLE);
        assert_non_null(strstr(legend_of(&picture, "colour"), ": all equal, 3.00 ms"));
        vv_picture_deinit(&picture);
    }
    vv_dag_deinit(&dag);
}

static void nothing_is_not_the_least(void **state)
{
    static const int64_t totals_ns[] = { 0, 0 };
    struct vv_dag dag;
    struct vv_picture picture;
    (void)state;
    start(&dag, 2, totals_ns);
    add(&dag, "never ran", 0, 0);
    picture = draw(&dag, VV_METRIC_TOTAL, VV_SCALE_LOG);
    assert_int_equal(vv_picture_class(&picture, 0), VV_COLOUR_ZERO);
    assert_int_equal(vv_picture_class(&picture, 2), VV_COLOUR_ASIDE);
    assert_string_equal(legend_of(&picture, "colour"), "total time, logarithmic: no node has any");
    assert_string_equal(legend_of(&picture, "dashed outline"),
                        "time not known, or of what is not shown: 1 node");
    vv_picture_deinit(&picture);
    vv_dag_deinit(&dag);

    start(&dag, 0, NULL); /* an empty graph */
    picture = draw(&dag, VV_METRIC_SHARE, VV_SCALE_RANK);
    assert_int_equal(picture.legend_count, 1);
    vv_picture_deinit(&picture);
    vv_dag_deinit(&dag);
}

/* A group is no part of the scale. What is not one node has no colour of it. */
static void scale_is_that_of_the_leaves(void **state)
{
    struct vv_dag dag;
    (void)state;
    start(&dag, 0, NULL);
    uint32_t group = add(&dag, "layer", 9000, 24);
    dag.nodes.self_ns[group] = 0;
    for (int64_t ns = 1000; ns <= 3000; ns += 1000)
        dag.nodes.parent[add(&dag, "op", ns, 24)] = group;
    uint32_t rest = add(&dag, "rest", 80000, 7000);
    dag.nodes.kind[rest] = VV_DAG_REST;
    struct vv_picture picture = draw(&dag, VV_METRIC_TOTAL, VV_SCALE_LINEAR);
    assert_string_equal(legend_of(&picture, "colour"), "total time, linear: 1.00 µs to 3.00 µs");
    assert_int_equal(vv_picture_class(&picture, group), VV_COLOUR_CLASSES - 1);
    assert_int_equal(vv_picture_class(&picture, 1), 0);
    assert_int_equal(vv_picture_class(&picture, rest), VV_COLOUR_ASIDE);
    assert_int_equal(picture.whole_ns, 86000);

    struct vv_node_text text;
    vv_picture_node_text(&picture, group, &text);
    assert_string_equal(text.time, "9.00 µs");
    assert_string_equal(text.share, "10.5 %");
    assert_string_equal(text.count, "24 ×");
    vv_picture_deinit(&picture);
    vv_dag_deinit(&dag);
}

static void every_metric_has_its_unit(void **state)
{
    static const int64_t totals_ns[] = { 2000, 6000 };
    static const char *const says[VV_METRICS] = {
        "total time, linear: 2.00 µs to 6.00 µs", "self time, linear: 1.00 µs to 6.00 µs",
        "mean time of one execution, linear: 500 ns to 6.00 µs",
        "share of the time, linear: 28.6 % to 85.7 %",
        "memory allocated, linear: 1.00 kB to 5.00 MB", "executions, linear: 1 to 4",
    };
    struct vv_dag dag;
    (void)state;
    start(&dag, 2, totals_ns);
    dag.nodes.self_ns[0] = 1000;
    dag.nodes.count[0] = 4;
    dag.nodes.memory_bytes[0] = 5000000;
    dag.nodes.memory_bytes[1] = 1000;
    for (unsigned metric = 0; metric < VV_METRICS; metric++) {
        struct vv_picture picture = draw(&dag, (enum vv_picture_metric)metric, VV_SCALE_LINEAR);
        assert_string_equal(legend_of(&picture, "colour"), says[metric]);
        vv_picture_deinit(&picture);
    }
    vv_dag_deinit(&dag);
}

/* The graphs of the thesis are in picoseconds. */
static void picoseconds_count(void **state)
{
    static const int64_t totals_ns[] = { 0, 1 };
    struct vv_dag dag;
    (void)state;
    start(&dag, 2, totals_ns);
    dag.nodes.total_rest_ps[0] = 205;
    struct vv_picture picture = draw(&dag, VV_METRIC_TOTAL, VV_SCALE_LOG);
    assert_int_equal(vv_picture_class(&picture, 0), 0);
    assert_string_equal(legend_of(&picture, "colour"), "total time, logarithmic: 205 ps to 1 ns");
    vv_picture_deinit(&picture);
    vv_dag_deinit(&dag);
}

static void legend_names_edges_and_notes(void **state)
{
    static const int64_t totals_ns[] = { 1, 2, 3 };
    struct vv_dag dag;
    uint32_t edge;
    (void)state;
    start(&dag, 3, totals_ns);
    assert_int_equal(vv_dag_add_edge(&dag, 0, 1, VV_DAG_EDGE_SYNC, &edge, &error), VARVE_OK);
    assert_int_equal(vv_dag_add_edge(&dag, 1, 2, VV_DAG_EDGE_DATA, &edge, &error), VARVE_OK);
    assert_int_equal(vv_dag_note(&dag, &error, "steps", "1..10"), VARVE_OK);
    dag.nodes.flags[1] = VV_DAG_CRITICAL;
    dag.nodes.critical_ns[1] = 1500;
    struct vv_picture picture = draw(&dag, VV_METRIC_TOTAL, VV_SCALE_LINEAR);
    assert_int_equal(picture.legend_count, 5);
    assert_string_equal(legend_of(&picture, "thick outline"), "critical path: 1 node, 1.50 µs");
    assert_string_equal(legend_of(&picture, "data"), "solid: 1 edge");
    assert_string_equal(legend_of(&picture, "sync"), "short dashes: 1 edge");
    assert_string_equal(legend_of(&picture, "steps"), "1..10");
    assert_null(legend_of(&picture, "flow"));
    vv_picture_deinit(&picture);
    vv_dag_deinit(&dag);
}

static void unknown_words_are_refused(void **state)
{
    struct vv_picture_options options = { VV_METRIC_TOTAL, VV_SCALE_LINEAR, VV_THEME_AUTO,
                                          true };
    (void)state;
    assert_int_equal(vv_picture_options_read(&options, "self", "rank", NULL, &error), VARVE_OK);
    assert_int_equal(options.metric, VV_METRIC_SELF);
    assert_int_equal(options.scale, VV_SCALE_RANK);
    assert_int_equal(options.theme, VV_THEME_AUTO);
    assert_int_equal(vv_picture_options_read(&options, "heat", NULL, NULL, &error), VARVE_INVALID);
    assert_string_equal(error.message,
                        "no colour by 'heat'. Known: total, self, mean, share, memory, "
                        "count");
    assert_int_equal(vv_picture_options_read(&options, NULL, "ln", NULL, &error), VARVE_INVALID);
    assert_string_equal(error.message, "no scale 'ln'. Known: linear, log, rank");
    assert_int_equal(vv_picture_options_read(&options, NULL, NULL, "grey", &error), VARVE_INVALID);
    assert_int_equal(options.metric, VV_METRIC_SELF);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scales_place_a_value),
        cmocka_unit_test(equal_ones_have_the_middle),
        cmocka_unit_test(nothing_is_not_the_least),
        cmocka_unit_test(scale_is_that_of_the_leaves),
        cmocka_unit_test(every_metric_has_its_unit),
        cmocka_unit_test(picoseconds_count),
        cmocka_unit_test(legend_names_edges_and_notes),
        cmocka_unit_test(unknown_words_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
