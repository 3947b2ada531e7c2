/* SPDX-License-Identifier: Apache-2.0 */
/* The laws of a layout, on random graphs of every kind: boxes apart, children inside, edges at
 * their nodes, all in the picture. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "graph/layout/layout.h"

#define ROUNDS 400

static struct varve_error error;
static uint32_t seed;

static uint32_t draw(uint32_t limit)
{
    seed = seed * 1664525u + 1013904223u;
    return limit == 0 ? 0 : (seed >> 8) % limit;
}

static uint32_t add(struct vv_dag *dag, const char *name, uint32_t parent)
{
    uint32_t row;
    assert_int_equal(vv_dag_add_node(dag, name, VV_DAG_OPERATOR, &row, &error), VARVE_OK);
    dag->nodes.parent[row] = parent;
    return row;
}

static void join(struct vv_dag *dag, uint32_t from, uint32_t to)
{
    uint32_t row;
    assert_int_equal(vv_dag_add_edge(dag, from, to, VV_DAG_EDGE_DATA, &row, &error), VARVE_OK);
}

static bool is_inside(const struct vv_layout_box *box, const struct vv_layout_box *outer)
{
    return box->x >= outer->x && box->y >= outer->y &&
           box->x + box->width <= outer->x + outer->width &&
           box->y + box->height <= outer->y + outer->height;
}

static bool overlap(const struct vv_layout_box *a, const struct vv_layout_box *b)
{
    return a->x < b->x + b->width && b->x < a->x + a->width && a->y < b->y + b->height &&
           b->y < a->y + a->height;
}

static bool stands_in(const struct vv_layout *layout, uint32_t row, uint32_t box)
{
    while (row != VV_NONE && row != box)
        row = layout->parent[row];
    return row == box;
}

static bool is_at_outline(struct vv_layout_point point, const struct vv_layout_box *box)
{
    int32_t right = box->x + box->width, bottom = box->y + box->height;
    bool is_in = point.x >= box->x && point.x <= right && point.y >= box->y && point.y <= bottom;
    return is_in && (point.x == box->x || point.x == right || point.y == box->y ||
                     point.y == bottom);
}

static void check_edges(const struct vv_dag *dag, const struct vv_layout *layout)
{
    for (uint32_t e = 0; e < dag->edges.table.count; e++) {
        const struct vv_layout_point *points = &layout->points[layout->first_point[e]];
        uint32_t count = layout->point_count[e];
        assert_true(count >= 2);
        assert_true(is_at_outline(points[0], &layout->boxes[dag->edges.from[e]]));
        assert_true(is_at_outline(points[count - 1], &layout->boxes[dag->edges.to[e]]));
        for (uint32_t i = 0; i < count; i++) {
            assert_in_range(points[i].x, 0, layout->width);
            assert_in_range(points[i].y, 0, layout->height);
        }
    }
}

static void check(const struct vv_dag *dag, bool is_own)
{
    struct vv_layout layout;
    struct vv_layout_options options = { is_own };
    uint32_t count = (uint32_t)dag->nodes.table.count;
    assert_int_equal(vv_layout_make(dag, &options, &layout, &error), VARVE_OK);
    const struct vv_layout_box whole = { 0, 0, layout.width, layout.height };
    for (uint32_t row = 0; row < count; row++) {
        const struct vv_layout_box *box = &layout.boxes[row];
        assert_true(is_inside(box, &whole));
        assert_in_range(box->width, VV_NODE_WIDTH_LEAST, INT32_MAX);
        if (layout.parent[row] != VV_NONE) {
            assert_true(is_inside(box, &layout.boxes[layout.parent[row]]));
            assert_true(layout.is_group[layout.parent[row]]);
            assert_true(box->y >= layout.boxes[layout.parent[row]].y + VV_GROUP_TITLE);
        }
        for (uint32_t other = 0; other < row; other++)
            if (overlap(box, &layout.boxes[other]))
                assert_true(stands_in(&layout, row, other));
    }
    check_edges(dag, &layout);
    vv_layout_deinit(&layout);
}

/* A forest of boxes and edges in all directions: also cycles, edges of a node to itself, and from a
 * box to what stands in it. */
static void random_graphs(void **state)
{
    static const char *const names[] = { "a", "aten::convolution_backward", "名前", "", "x<y>&\"'",
                                         "a name that is far too long for any box in a picture" };
    (void)state;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct vv_dag dag;
        seed = round;
        uint32_t count = draw(round % 10 == 0 ? 300 : 40), depth = draw(3);
        assert_int_equal(vv_dag_init(&dag, &error), VARVE_OK);
        for (uint32_t row = 0; row < count; row++)
            add(&dag, names[draw(6)], row > 0 && draw(4) < depth ? draw(row) : VV_NONE);
        bool is_forward = draw(2) == 0;
        for (uint32_t e = count == 0 ? 0 : draw(2 * count + 1); e > 0; e--) {
            uint32_t a = draw(count), b = draw(count);
            join(&dag, is_forward && b < a ? b : a, is_forward && b < a ? a : b);
        }
        check(&dag, true);
        vv_dag_deinit(&dag);
    }
}

static void shapes(void **state)
{
    (void)state;
    for (int shape = 0; shape < 6; shape++) {
        struct vv_dag dag;
        assert_int_equal(vv_dag_init(&dag, &error), VARVE_OK);
        for (uint32_t row = 0; row < 700; row++) {
            /* side by side; a chain; a star; boxes in boxes; a comb of long edges; a cycle */
            add(&dag, "node", shape == 3 && row > 0 ? row - 1 : VV_NONE);
            if (row > 0 && (shape == 1 || shape == 4 || shape == 5))
                join(&dag, row - 1, row);
            if (row > 0 && (shape == 2 || shape == 4))
                join(&dag, 0, row);
        }
        if (shape == 5)
            join(&dag, 699, 0);
        check(&dag, true);
        vv_dag_deinit(&dag);
    }
}

static struct vv_layout place(const struct vv_dag *dag)
{
    struct vv_layout layout;
    assert_int_equal(vv_layout_make(dag, &(struct vv_layout_options){ true }, &layout, &error),
                     VARVE_OK);
    return layout;
}

/* A diamond: one above, two side by side, one below, all about the same axis. */
static void diamond_is_one(void **state)
{
    struct vv_dag dag;
    (void)state;
    assert_int_equal(vv_dag_init(&dag, &error), VARVE_OK);
    for (int i = 0; i < 4; i++)
        add(&dag, "op", VV_NONE);
    join(&dag, 0, 1);
    join(&dag, 0, 2);
    join(&dag, 1, 3);
    join(&dag, 2, 3);
    struct vv_layout layout = place(&dag);
    const struct vv_layout_box *boxes = layout.boxes;
    assert_int_equal(boxes[1].y, boxes[2].y);
    assert_true(boxes[0].y + boxes[0].height < boxes[1].y);
    assert_true(boxes[1].y + boxes[1].height < boxes[3].y);
    assert_in_range(boxes[0].x - boxes[3].x + 1, 0, 2);
    assert_in_range(2 * boxes[0].x - boxes[1].x - boxes[2].x + 2, 0, 4);
    vv_layout_deinit(&layout);
    vv_dag_deinit(&dag);
}

/* 20,000 nodes side by side, and one after the other: neither is a line. */
static void large_graphs_are_no_lines(void **state)
{
    (void)state;
    for (int is_chain = 0; is_chain < 2; is_chain++) {
        struct vv_dag dag;
        assert_int_equal(vv_dag_init(&dag, &error), VARVE_OK);
        for (uint32_t row = 0; row < 20000; row++) {
            add(&dag, "node", VV_NONE);
            if (is_chain && row > 0)
                join(&dag, row - 1, row);
        }
        struct vv_layout layout = place(&dag);
        assert_true(layout.width < 4 * (int64_t)layout.height);
        assert_true(layout.height < 4 * (int64_t)layout.width);
        vv_layout_deinit(&layout);
        vv_dag_deinit(&dag);
    }
}

/* Graphviz keeps the same laws where it is installed; a program of that name that does harm is
 * stopped, and the layout is our own. */
static void graphviz(void **state)
{
    static const char *const paths[] = { NULL, "", "/nowhere", "harm" };
    char folder[] = "/tmp/varve-dot-XXXXXX", file[64], path[4096];
    const char *standard = getenv("PATH");
    struct vv_dag dag;
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/dot", folder);
    FILE *stream = fopen(file, "w");
    assert_non_null(stream);
    fputs("#!/bin/sh\nwhile :; do echo node 1 2 3; done\n", stream);
    assert_int_equal(fchmod(fileno(stream), 0700), 0);
    fclose(stream);
    snprintf(path, sizeof path, "%s", standard != NULL ? standard : "");
    assert_int_equal(vv_dag_init(&dag, &error), VARVE_OK);
    for (uint32_t row = 0; row < 30; row++)
        add(&dag, "node \"; }", VV_NONE);
    for (uint32_t row = 0; row < 60; row++)
        join(&dag, row / 3, (row * 7) % 30);
    for (int i = 0; i < 4; i++) {
        if (paths[i] != NULL)
            setenv("PATH", strcmp(paths[i], "harm") == 0 ? folder : paths[i], 1);
        check(&dag, false);
    }
    setenv("PATH", path, 1);
    unlink(file);
    rmdir(folder);
    vv_dag_deinit(&dag);
}

static void damage_is_refused(void **state)
{
    struct vv_dag dag;
    struct vv_layout layout;
    (void)state;
    assert_int_equal(vv_dag_init(&dag, &error), VARVE_OK);
    add(&dag, "node", 7); /* a parent that is not there */
    join(&dag, 0, 1);
    assert_int_equal(vv_layout_make(&dag, NULL, &layout, &error), VARVE_CORRUPT);
    assert_string_equal(error.message, "edge 0 of the graph leads to no node");
    vv_dag_deinit(&dag);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_graphs),
        cmocka_unit_test(shapes),
        cmocka_unit_test(diamond_is_one),
        cmocka_unit_test(large_graphs_are_no_lines),
        cmocka_unit_test(graphviz),
        cmocka_unit_test(damage_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
