/* SPDX-License-Identifier: Apache-2.0 */
/* test_graph_json.c — import/graph/graph_json.c and import/rocprof*.c on small texts: what is kept,
 * told apart, refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "imported_bytes.h"
#include "varve/varve.h"

static struct vv_model *read_text(const char *text)
{
    struct vv_model *model = NULL;
    struct varve_error error;
    if (imported_bytes(text, strlen(text), &model, &error) != VARVE_OK)
        fail_msg("%s", error.message);
    imported_look(model);
    return model;
}

static const char *format_of(const struct vv_model *model)
{
    return vv_intern_text(&model->strings, model->inputs.format[0]);
}

static void a_graph_has_slices_and_flows(void **state)
{
    (void)state;
    struct vv_model *model = read_text(
        "{\"version\": \"1.0.0\", \"nodes\": [{\"name\": \"a\", \"ts\": 2000000, \"duration\": "
        "5000000, \"id\": 3, \"adj\": [4]}, {\"name\": \"b\", \"ts\": 9000000, \"duration\": 0, "
        "\"id\": 4, \"adj\": []}], \"edges\": [{\"edgeFrom\": 3, \"edgeTo\": 4}]}");
    assert_string_equal(format_of(model), "mlirgraph");
    assert_int_equal(model->slices.table.count, 2);
    assert_int_equal(model->slices.begin_ns[0], 2000);
    assert_int_equal(model->slices.duration_ns[0], 5000);
    assert_int_equal(model->slices.layer[0], VARVE_LAYER_OP);
    assert_int_equal(model->flows.table.count, 1);
    assert_int_equal(model->flows.from_ns[0], 2000);
    assert_int_equal(model->flows.to_ns[0], 9000);
    assert_int_equal(model->flows.from_slice[0], 0);
    assert_int_equal(model->flows.to_slice[0], 1);
    assert_int_equal(model->run.begin_ns, 2000);
    assert_int_equal(model->run.end_ns, 9000);
    assert_int_equal(model->run.events, 2);
    vv_model_destroy(model);
}

/* "key=value key=value" of a slice: numbers, texts, JSON. */
static const char *arguments_of(const struct vv_model *model, uint32_t slice)
{
    static char text[256];
    size_t length = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < model->slices.arg_count[slice]; i++) {
        uint32_t arg = model->slices.first_arg[slice] + i;
        uint64_t value = model->args.value[arg];
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s=", i > 0 ? " " : "",
                                   vv_intern_text(&model->strings, model->args.key[arg]));
        if (model->args.kind[arg] == VV_ARG_INT)
            length +=
                (size_t)snprintf(text + length, sizeof text - length, "%lld", (long long)value);
        else
            length += (size_t)snprintf(text + length, sizeof text - length, "%s",
                                       vv_intern_text(&model->strings, (uint32_t)value));
    }
    return text;
}

/* Neighbours are a list of numbers called "adj", of a node that has a number itself. */
static void a_node_keeps_what_has_no_column(void **state)
{
    static const char *const wanted[] = { "id=3 ts=2000001 adj=[4,5] kind=conv",
                                          "id=4 duration=1001 adj=5", "adj=[3]",
                                          "id=5 list=[3]" };
    static const int64_t to_ns[] = { 9000, 13000 };
    (void)state;
    struct vv_model *model = read_text(
        "{\"nodes\": [{\"name\": \"a\", \"ts\": 2000001, \"duration\": 5000000, \"id\": 3, "
        "\"adj\": [4,5], \"kind\": \"conv\"}, {\"name\": \"b\", \"ts\": 9000000, \"duration\": "
        "1001, \"id\": 4, \"adj\": \"5\"}, {\"name\": \"c\", \"ts\": 12000000, \"duration\": 0, "
        "\"adj\": [3]}, {\"name\": \"d\", \"ts\": 13000000, \"duration\": 0, \"id\": 5, \"list\": "
        "[3]}]}");
    assert_int_equal(model->slices.table.count, 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_string_equal(arguments_of(model, i), wanted[i]);
    assert_int_equal(model->flows.table.count, 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(model->flows.from_ns[i], 2000);
        assert_int_equal(model->flows.to_ns[i], to_ns[i]);
    }
    vv_model_destroy(model);
}

static void a_graph_that_is_cut_is_its_whole_nodes(void **state)
{
    (void)state;
    struct vv_model *model =
        read_text("{\"nodes\": [{\"ts\": 1000, \"duration\": 1000, \"id\": 3, \"adj\": []},"
                  " {\"ts\": 2000, \"dura");
    assert_int_equal(model->slices.table.count, 1);
    assert_int_equal(model->health.truncated_files, 1);
    vv_model_destroy(model);
}

static void numbers_of_rocprof_get_their_names(void **state)
{
    (void)state;
    struct vv_model *model = read_text(
        "{\"rocprofiler-sdk-tool\": [{\"buffer_records\": {\"kernel_dispatch\": [{\"kind\": 11, "
        "\"operation\": 2, \"correlation_id\": {\"internal\": 9, \"external\": 0}, "
        "\"start_timestamp\": 50, \"end_timestamp\": 80, \"dispatch_info\": {\"agent_id\": "
        "{\"handle\": 7}, \"queue_id\": {\"handle\": 2}, \"kernel_id\": 5}}], \"hip_api\": "
        "[{\"kind\": 0, \"operation\": 0, \"thread_id\": 4, \"start_timestamp\": 10, "
        "\"end_timestamp\": 20, \"correlation_id\": {\"internal\": 9}}]}, \"kernel_symbols\": "
        "[{\"kernel_id\": 5, \"formatted_kernel_name\": \"gemm\"}], \"agents\": [{\"id\": "
        "{\"handle\": 7}, \"type\": 2, \"logical_node_type_id\": 1}], \"strings\": "
        "{\"buffer_records\": [{\"kind\": \"HIP\", \"operations\": [\"hipLaunchKernel\"]}]}, "
        "\"metadata\": {\"pid\": 12}}]}");
    assert_string_equal(format_of(model), "rocprofv3");
    assert_int_equal(model->slices.table.count, 2);
    assert_string_equal(vv_intern_text(&model->strings, model->slices.name[0]), "gemm");
    assert_string_equal(vv_intern_text(&model->strings, model->slices.name[1]), "hipLaunchKernel");
    assert_int_equal(model->tracks.device[0], VARVE_DEVICE(VARVE_DEVICE_KIND_OTHER, 1));
    assert_int_equal(model->activities.device[0], VARVE_DEVICE(VARVE_DEVICE_KIND_OTHER, 1));
    assert_int_equal(model->activities.launch[0], 1);
    assert_int_equal(model->health.unlinked, 0);
    assert_int_equal(model->processes.pid[0], 12);
    vv_model_destroy(model);
}

static void deep_nesting_is_refused(void **state)
{
    (void)state;
    char text[2000] = "{\"rocprofiler-sdk-tool\": [{\"metadata\": ";
    struct vv_model *model = NULL;
    struct varve_error error;
    memset(text + strlen(text), '[', 600);
    assert_int_equal(imported_bytes(text, strlen(text), &model, &error), VARVE_LIMIT);
    assert_null(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_graph_has_slices_and_flows),
        cmocka_unit_test(a_node_keeps_what_has_no_column),
        cmocka_unit_test(a_graph_that_is_cut_is_its_whole_nodes),
        cmocka_unit_test(numbers_of_rocprof_get_their_names),
        cmocka_unit_test(deep_nesting_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
