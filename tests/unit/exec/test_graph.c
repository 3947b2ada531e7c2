/* SPDX-License-Identifier: Apache-2.0 */
/* test_graph.c — exec/graph.c, graph_bytes.c and model.c: numbers of graphs and models, and what
 * is kept of a description. Nothing is recorded here: tests/import/test_executor_records.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "exec/graph.h"
#include "exec/graph_bytes.h"
#include "made_graph.h"

static struct made_graph made;
static struct varve_error error;

static uint32_t registered(void)
{
    uint32_t graph;
    assert_int_equal(varve_graph_register(&made.info, &graph, &error), VARVE_OK);
    return graph;
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    const int64_t dims[] = { -1, INT64_MIN, INT64_MAX };
    const struct varve_graph_tensor tensor = { VARVE_OUTPUT, VARVE_BF16, 3, 0, dims, "NCHW",
                                               UINT64_MAX };
    const char *const origins[] = { "one", "two" };
    const uint32_t contexts[] = { UINT32_MAX };
    const struct varve_graph_edge edges[] = { { 0, 3, 1, 200 },
                                              { 0, VARVE_EDGE_CONTROL, 1, VARVE_EDGE_CONTROL } };
    uint8_t bytes[1024];
    uint32_t graphs, node_counts[1];
    make_graph(&made, 2, edges, 2);
    made.info.graph_id = INT64_MIN;
    made.nodes[0] = (struct varve_graph_node){
        .name = "conv", .type = "Conv2D", .framework_type = NULL, .origins = origins,
        .origin_count = 2, .task_type = VARVE_TASK_COPY, .block_dim = UINT32_MAX,
        .mix_block_dim = 128, .stream = -1, .flop = UINT64_MAX, .bytes = 127, .tensors = &tensor,
        .tensor_count = 1, .context_count = 1, .contexts = contexts, .parent_input = INT32_MIN };
    size_t size = vv_graph_bytes_count(&made.info, &graphs);
    assert_int_equal(graphs, 1);
    assert_in_range(size, 1, sizeof bytes);
    assert_false(vv_graph_bytes_write(&made.info, bytes, size - 1, node_counts, 1));
    assert_true(vv_graph_bytes_write(&made.info, bytes, size, node_counts, 1));
    assert_int_equal(node_counts[0], 2);

    struct vv_graph_cursor cursor = { bytes, 0 };
    struct vv_item_graph graph;
    struct vv_item_node node;
    struct vv_item_tensor kept;
    struct vv_item_edge edge;
    assert_int_equal(vv_graph_next(&cursor), VV_ITEM_GRAPH);
    vv_graph_read_graph(&cursor, &graph);
    assert_string_equal(graph.name, "g");
    assert_true(graph.graph_id == INT64_MIN && graph.node_count == 2 && graph.edge_count == 2);
    assert_int_equal(vv_graph_next(&cursor), VV_ITEM_NODE);
    vv_graph_read_node(&cursor, &node);
    assert_string_equal(node.name, "conv");
    assert_string_equal(node.type, "Conv2D");
    assert_string_equal(node.framework_type, "");
    assert_true(node.task_type == VARVE_TASK_COPY && node.block_dim == UINT32_MAX &&
                node.mix_block_dim == 128 && node.stream == -1 && node.flop == UINT64_MAX &&
                node.bytes == 127 && node.parent_input == INT32_MIN);
    vv_graph_read_tensor(&cursor, &kept);
    assert_true(kept.side == VARVE_OUTPUT && kept.dtype == VARVE_BF16 && kept.rank == 3 &&
                kept.identity == UINT64_MAX);
    assert_memory_equal(kept.dims, dims, sizeof dims);
    assert_string_equal(kept.format, "NCHW");
    assert_string_equal(vv_graph_read_text(&cursor), "one");
    assert_string_equal(vv_graph_read_text(&cursor), "two");
    assert_int_equal(vv_graph_read_number(&cursor), UINT32_MAX);
    assert_int_equal(vv_graph_next(&cursor), VV_ITEM_NODE);
    vv_graph_read_node(&cursor, &node);
    for (int e = 0; e < 2; e++) {
        assert_int_equal(vv_graph_next(&cursor), VV_ITEM_EDGE);
        vv_graph_read_edge(&cursor, &edge);
        assert_memory_equal(&edge, &edges[e], sizeof edge);
    }
    assert_int_equal(vv_graph_next(&cursor), VV_ITEM_END);
    assert_int_equal(cursor.at, size);
}

static void numbers_are_never_used_again(void **state)
{
    (void)state;
    make_graph(&made, 1, NULL, 0);
    uint32_t first = registered();
    varve_graph_unregister(first);
    uint32_t second = registered();
    assert_int_equal(second, first + 1);
    varve_graph_unregister(first); /* does nothing */
    varve_graph_unregister(0);
    assert_true(vv_graph_is_there(second));
    assert_false(vv_graph_is_there(first));
    varve_graph_unregister(second);
}

/* Bodies follow their graph, each followed by its own; they go with it, and not alone. */
static void bodies_are_numbered_in_order(void **state)
{
    (void)state;
    static struct made_graph inner, outer, last;
    make_graph(&inner, 2, NULL, 0);
    make_graph(&outer, 1, NULL, 0);
    make_graph(&last, 1, NULL, 0);
    make_graph(&made, 2, NULL, 0);
    inner.info.name = "inner";
    const struct varve_graph_info *const inners[] = { &inner.info },
                                  *const bodies[] = { &outer.info, &last.info };
    outer.nodes[0].subgraphs = inners;
    outer.nodes[0].subgraph_count = 1;
    made.nodes[1].subgraphs = bodies;
    made.nodes[1].subgraph_count = 2;
    uint32_t graph = registered();
    struct varve_placement place = VARVE_PLACEMENT_INIT;
    place.node = 1; /* only `made` and `inner` have a node 1 */
    assert_int_equal(varve_graph_place(graph, &place, 1, &error), VARVE_OK);
    assert_int_equal(varve_graph_place(graph + 1, &place, 1, &error), VARVE_INVALID);
    assert_int_equal(varve_graph_place(graph + 2, &place, 1, &error), VARVE_OK);
    assert_int_equal(varve_graph_place(graph + 3, &place, 1, &error), VARVE_INVALID);
    assert_int_equal(varve_graph_place(graph + 4, &place, 1, &error), VARVE_NOT_FOUND);
    varve_graph_unregister(graph + 2);
    assert_true(vv_graph_is_there(graph + 2));
    varve_graph_unregister(graph);
    for (uint32_t g = graph; g < graph + 4; g++)
        assert_false(vv_graph_is_there(g));
}

static void wrong_placements_are_refused(void **state)
{
    (void)state;
    struct varve_placement places[2] = { VARVE_PLACEMENT_INIT, VARVE_PLACEMENT_INIT };
    make_graph(&made, 2, NULL, 0);
    uint32_t graph = registered();
    places[1].first_use = 5;
    places[1].last_use = 4;
    assert_int_equal(varve_graph_place(graph, places, 2, &error), VARVE_INVALID);
    assert_string_equal(error.message, "varve_graph_place: placement 1, of node 0: its last use is "
                                       "before its first");
    places[1].struct_size = 0;
    assert_int_equal(varve_graph_place(graph, places, 2, &error), VARVE_INVALID);
    assert_int_equal(varve_graph_place(graph, NULL, 0, &error), VARVE_OK);
    varve_graph_unregister(graph);
}

static void there_may_be_so_many_graphs(void **state)
{
    (void)state;
    uint32_t graph, first = 0, count = 0;
    make_graph(&made, 0, NULL, 0);
    enum varve_code code;
    while ((code = varve_graph_register(&made.info, &graph, &error)) == VARVE_OK) {
        first = first == 0 ? graph : first;
        count++;
    }
    assert_int_equal(code, VARVE_LIMIT);
    assert_int_equal(count, VARVE_GRAPHS_MAX);
    assert_int_equal(graph, 0);
    varve_graph_unregister(first + 7);
    uint32_t again = registered();
    for (uint32_t g = first; g <= again; g++)
        varve_graph_unregister(g);
}

static void models_have_numbers_of_their_own(void **state)
{
    (void)state;
    struct varve_model_info info = VARVE_MODEL_INFO_INIT;
    uint32_t model, second;
    info.graph = 4000000000u;
    assert_int_equal(varve_model_load_begin(&info, &model, &error), VARVE_NOT_FOUND);
    assert_int_equal(model, 0);
    info.graph = 0;
    assert_int_equal(varve_model_load_begin(&info, &model, &error), VARVE_OK);
    varve_model_load_end(model);
    varve_model_unload(model);
    varve_model_unload(model);
    assert_int_equal(varve_model_load_begin(&info, &second, &error), VARVE_OK);
    assert_int_equal(second, model + 1);
    varve_model_unload(second);
    info.struct_size = 8;
    assert_int_equal(varve_model_load_begin(&info, &model, &error), VARVE_INVALID);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(VV_EMULATED)
#define HAS_LIMITS 0 /* they need address space of their own                                    */
#else
#define HAS_LIMITS 1
#endif

/* Where there is no address space, a registration fails, says so, and keeps errno. */
static void without_memory_a_graph_is_refused(void **state)
{
    (void)state;
    if (!HAS_LIMITS)
        skip();
    struct rlimit limit, none;
    uint32_t graph;
    const struct varve_graph_edge edge = { 0, 0, 1, 0 };
    make_graph(&made, 2, &edge, 1);
    varve_graph_unregister(registered());
    assert_int_equal(getrlimit(RLIMIT_AS, &limit), 0);
    none = limit;
    none.rlim_cur = 1 << 20; /* less than the process has */
    assert_int_equal(setrlimit(RLIMIT_AS, &none), 0);
    errno = 77;
    enum varve_code with_edge = varve_graph_register(&made.info, &graph, &error);
    int errno_after = errno;
    made.info.edge_count = 0;
    enum varve_code alone = varve_graph_register(&made.info, &graph, &error);
    setrlimit(RLIMIT_AS, &limit);
    assert_int_equal(with_edge, VARVE_NO_MEMORY);
    assert_int_equal(alone, VARVE_NO_MEMORY);
    assert_int_equal(errno_after, 77);
    varve_graph_unregister(registered());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(numbers_are_never_used_again),
        cmocka_unit_test(bodies_are_numbered_in_order),
        cmocka_unit_test(wrong_placements_are_refused),
        cmocka_unit_test(there_may_be_so_many_graphs),
        cmocka_unit_test(models_have_numbers_of_their_own),
        cmocka_unit_test(without_memory_a_graph_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
