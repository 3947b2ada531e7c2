/* SPDX-License-Identifier: Apache-2.0 */
/* test_faults_forms.c — the n-th allocation of a writer fails, for every n and every form: each
 * time the answer is VARVE_NO_MEMORY. And the file is full after n bytes: the writer fails, or the
 * stream has the failure. Leaks show in the sanitizer build. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "failing_allocation.h"
#include "graph/forms/forms.h"
#include "graph/picture/picture.h"

/* librsvg keeps the tables of fonts that fontconfig has read: they are no leak of ours. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libfontconfig\n";
}

static const struct vv_picture_options alone = { .is_alone = true }; /* no other program */

static void add_node(struct vv_dag *dag, const char *name, enum vv_dag_kind kind, uint32_t parent)
{
    uint32_t row;
    assert_int_equal(vv_dag_add_node(dag, name, kind, &row, NULL), VARVE_OK);
    dag->nodes.parent[row] = parent;
    dag->nodes.count[row] = 1 + row;
    dag->nodes.total_ns[row] = dag->nodes.self_ns[row] = 1000 * (1 + row);
    dag->nodes.memory_bytes[row] = 64 * row;
    assert_int_equal(vv_dag_text(dag, "[8,4] f32", &dag->nodes.inputs[row], NULL), VARVE_OK);
    assert_int_equal(vv_dag_add_occurrence(dag, row, 3, 1, 1000, NULL), VARVE_OK);
}

static void make(struct vv_dag *dag)
{
    uint32_t row;
    assert_int_equal(vv_dag_init(dag, NULL), VARVE_OK);
    add_node(dag, "forward", VV_DAG_GROUP, VV_NONE);
    add_node(dag, "aten::mm", VV_DAG_OPERATOR, 0);
    add_node(dag, "a name that is far too long for any box in a picture", VV_DAG_OPERATOR, 0);
    add_node(dag, "sgemm<\"128\">", VV_DAG_KERNEL, VV_NONE);
    for (uint32_t node = 1; node < 3; node++)
        assert_int_equal(vv_dag_add_edge(dag, node, node + 1, VV_DAG_EDGE_DATA, &row, NULL),
                         VARVE_OK);
    dag->nodes.flags[1] = VV_DAG_CRITICAL;
    assert_int_equal(vv_dag_note(dag, NULL, "steps", "10"), VARVE_OK);
}

/* What a file of n bytes does with more. */
struct full { size_t left, written; };

static ssize_t put(void *cookie, const char *bytes, size_t count)
{
    struct full *full = cookie;
    (void)bytes;
    if (full->left < count)
        return 0;
    full->left -= count;
    full->written += count;
    return (ssize_t)count;
}

/* Writes all of a form. The stream's own buffer is not one of the writer's allocations. */
static enum varve_code write_form(const struct vv_form *form, const struct vv_dag *dag,
                                  struct full *full, bool *out_has_failed)
{
    static char buffer[512];
    struct vv_picture picture = { .dag = NULL };
    struct varve_error error;
    long left = allocations_left;
    allocations_left = -1;
    FILE *stream = fopencookie(full, "w", (cookie_io_functions_t){ .write = put });
    assert_non_null(stream);
    assert_int_equal(setvbuf(stream, buffer, _IOFBF, sizeof buffer), 0);
    allocations_left = left;
    enum varve_code code = vv_picture_init(&picture, dag, &alone, &error);
    if (code == VARVE_OK)
        code = form->write(dag, &picture, stream, &error);
    allocations_left = -1;
    vv_picture_deinit(&picture);
    *out_has_failed = fflush(stream) != 0 || ferror(stream);
    (void)fclose(stream);
    return code;
}

static bool is_here(const struct vv_form *form)
{
    return form->find == NULL || form->find(NULL) == VARVE_OK;
}

static const struct vv_form *form_of(size_t number)
{
    const struct vv_form *form;
    assert_int_equal(vv_form_find(vv_form_names[number], "", &form, NULL), VARVE_OK);
    return form;
}

static void every_allocation_fails_once(void **state)
{
    struct vv_dag dag;
    (void)state;
    make(&dag);
    for (size_t i = 0; vv_form_names[i] != NULL; i++) {
        const struct vv_form *form = form_of(i);
        struct full full = { SIZE_MAX, 0 };
        bool has_failed;
        if (!is_here(form))
            continue;
        allocation_count = 0;
        assert_int_equal(write_form(form, &dag, &full, &has_failed), VARVE_OK);
        long total = allocation_count;
        assert_false(has_failed);
        assert_true(full.written > 200);
        for (long n = 0; n < total; n++) {
            full = (struct full){ SIZE_MAX, 0 };
            allocations_left = n;
            enum varve_code code = write_form(form, &dag, &full, &has_failed);
            if (code != VARVE_NO_MEMORY)
                fail_msg("%s, allocation %ld of %ld: code %d", form->name, n, total, code);
        }
    }
    vv_dag_deinit(&dag);
}

static void every_full_file_is_seen(void **state)
{
    struct vv_dag dag;
    (void)state;
    make(&dag);
    for (size_t i = 0; vv_form_names[i] != NULL; i++) {
        const struct vv_form *form = form_of(i);
        struct full full = { SIZE_MAX, 0 };
        bool has_failed;
        if (!is_here(form))
            continue;
        assert_int_equal(write_form(form, &dag, &full, &has_failed), VARVE_OK);
        size_t whole = full.written, step = whole / 40 + 1;
        for (size_t bytes = 0; bytes < whole; bytes += step) {
            full = (struct full){ bytes, 0 };
            enum varve_code code = write_form(form, &dag, &full, &has_failed);
            if (code == VARVE_OK && !has_failed)
                fail_msg("%s: nobody saw that only %zu bytes fit", form->name, bytes);
        }
    }
    vv_dag_deinit(&dag);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_fails_once),
        cmocka_unit_test(every_full_file_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
