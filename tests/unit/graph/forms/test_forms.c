/* SPDX-License-Identifier: Apache-2.0 */
/* test_forms.c — forms are found by name and by extension, and the JSON holds what the graph
 * holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/forms/forms.h"

static void a_form_has_a_name_and_an_extension(void **state)
{
    const struct vv_form *form;
    struct varve_error error;
    (void)state;
    for (size_t i = 0; vv_form_names[i] != NULL; i++) {
        assert_int_equal(vv_form_find(vv_form_names[i], "any", &form, &error), VARVE_OK);
        assert_string_equal(form->name, vv_form_names[i]);
        assert_int_equal(form->extension[0], '.');
    }
    assert_int_equal(vv_form_find(NULL, "a.b/c.json", &form, &error), VARVE_OK);
    assert_ptr_equal(form, &vv_form_json);
    assert_int_equal(vv_form_find("mlirgraph", "c.svg", &form, &error), VARVE_OK);
    assert_ptr_equal(form, &vv_form_mlirgraph);
}

static void an_unknown_form_is_refused(void **state)
{
    static const char *const paths[] = { "graph", "a.json/graph", ".json", "x.jsn", "" };
    const struct vv_form *form;
    struct varve_error error;
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        assert_int_equal(vv_form_find(NULL, paths[i], &form, &error), VARVE_INVALID);
        assert_non_null(strstr(error.message, "Let it end in .json"));
    }
    assert_int_equal(vv_form_find(NULL, "x.jsn", &form, &error), VARVE_INVALID);
    assert_non_null(strstr(error.message, "Nearest: .json"));
    assert_int_equal(vv_form_find("mlirgrph", "x.json", &form, &error), VARVE_INVALID);
    assert_non_null(strstr(error.message, "no form is called 'mlirgrph'. Known: json, "));
    assert_non_null(strstr(error.message, "Nearest: --form mlirgraph"));
}

static void fill(struct vv_dag *dag)
{
    struct varve_error error;
    uint32_t group, a, edge;
    assert_int_equal(vv_dag_init(dag, &error), VARVE_OK);
    assert_int_equal(vv_dag_add_node(dag, "layer", VV_DAG_GROUP, &group, &error), VARVE_OK);
    assert_int_equal(vv_dag_add_node(dag, "a</script>\"\n", VV_DAG_KERNEL, &a, &error), VARVE_OK);
    dag->nodes.parent[a] = group;
    dag->nodes.begin_ns[a] = -2;
    dag->nodes.begin_rest_ps[a] = 300;
    dag->nodes.total_ns[a] = INT64_MAX;
    dag->nodes.flop[a] = UINT64_MAX;
    dag->nodes.level[a] = 0;
    dag->nodes.flags[a] = VV_DAG_CRITICAL;
    assert_int_equal(vv_dag_text(dag, "cuda:0", &dag->nodes.device[a], &error), VARVE_OK);
    assert_int_equal(vv_dag_add_occurrence(dag, a, 7, 2, 11, &error), VARVE_OK);
    assert_int_equal(vv_dag_add_occurrence(dag, a, 8, 1, 12, &error), VARVE_OK);
    assert_int_equal(vv_dag_add_edge(dag, group, a, VV_DAG_EDGE_FLOW, &edge, &error), VARVE_OK);
    dag->edges.count[edge] = 3;
    assert_int_equal(vv_dag_note(dag, &error, "steps", "%d", 10), VARVE_OK);
}

static char *written(const struct vv_dag *dag, bool is_markup)
{
    char *text = NULL;
    size_t bytes;
    struct varve_error error;
    FILE *stream = open_memstream(&text, &bytes);
    assert_non_null(stream);
    assert_int_equal(vv_form_put_json(dag, is_markup, stream, &error), VARVE_OK);
    fclose(stream);
    return text;
}

static void the_json_holds_the_graph(void **state)
{
    struct vv_dag dag;
    (void)state;
    fill(&dag);
    char *text = written(&dag, false);
    assert_string_equal(
        text,
        "{\"version\":\"1.0.0\",\n\"varve\":{\"notes\":[[\"steps\",\"10\"]]},\n\"nodes\":[\n"
        "{\"name\":\"layer\",\"ts\":0,\"duration\":0,\"id\":1,\"adj\":[2],\"kind\":\"group\","
        "\"count\":0},\n{\"name\":\"a</script>\\\"\\u000a\",\"ts\":-1700,"
        "\"duration\":9223372036854775807000,\"id\":2,\"adj\":[],\"kind\":\"kernel\","
        "\"parent\":1,\"count\":0,\"begin_ns\":-2,\"total_ns\":9223372036854775807,"
        "\"flop\":18446744073709551615,\"device\":\"cuda:0\",\"level\":0,\"begin_rest_ps\":300,"
        "\"critical\":true,\"occurrences\":[[7,2,11],[8,1,12]]}],\n\"edges\":[\n"
        "{\"edgeFrom\":1,\"edgeTo\":2,\"kind\":\"flow\",\"count\":3}]}\n");
    free(text);
    text = written(&dag, true);
    assert_null(strpbrk(text, "<>&"));
    assert_non_null(strstr(text, "\"a\\u003c/script\\u003e\\\"\\u000a\""));
    free(text);
    vv_dag_deinit(&dag);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_form_has_a_name_and_an_extension),
        cmocka_unit_test(an_unknown_form_is_refused),
        cmocka_unit_test(the_json_holds_the_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
