/* SPDX-License-Identifier: Apache-2.0 */
/* test_xspace.c — import/xspace_*.c: lines larger than the window, events in any order, shapes. What each field becomes is
 * in tests/import/test_xspace.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "import/xspace.h"
#include "protobuf_bytes.h"
#include "varve/varve.h"

static void add_metadata(struct proto *plane, uint32_t field, uint64_t id, const char *name)
{
    struct proto entry = { 0 }, value = { 0 };
    proto_number(&value, 1, id);
    proto_text(&value, 2, name);
    proto_number(&entry, 1, id);
    proto_message(&entry, 2, &value);
    proto_message(plane, field, &entry);
}

static void add_event(struct proto *line, uint64_t id, uint64_t offset_ps, uint64_t duration_ps,
                      const char *text)
{
    struct proto event = { 0 }, stat = { 0 };
    proto_number(&event, 1, id);
    proto_number(&event, 2, offset_ps);
    proto_number(&event, 3, duration_ps);
    if (text != NULL) {
        proto_number(&stat, 1, 1);
        proto_text(&stat, 5, text);
        proto_message(&event, 4, &stat);
    }
    proto_message(line, 4, &event);
}

static void finish(struct proto *space, struct proto *line)
{
    struct proto plane = { 0 };
    proto_text(&plane, 2, "/host:CPU");
    proto_message(&plane, 3, line);
    add_metadata(&plane, 4, 1, "op");
    add_metadata(&plane, 5, 1, "text");
    proto_message(space, 1, &plane);
}

static void a_line_larger_than_the_window(void **state)
{
    (void)state;
    struct proto space = { 0 }, line = { 0 };
    struct vv_model *model = NULL;
    struct varve_error error;
    static char text[300001];
    memset(text, 'x', sizeof text - 1);
    proto_number(&line, 1, 7);
    for (uint32_t i = 0; i < 40000; i++)
        add_event(&line, 1, i * 1000u * 10, 5000, i % 20000 == 9999 ? text : i % 3 == 0 ? "short" : NULL);
    assert_true(line.count > 4 * 262144);
    finish(&space, &line);
    assert_int_equal(proto_import(&space, &model, &error), VARVE_OK);
    assert_int_equal(model->slices.table.count, 40000);
    for (uint32_t row = 0; row < 40000; row++) {
        assert_int_equal(model->slices.begin_ns[row], row * 10);
        assert_int_equal(model->slices.duration_ns[row], 5);
        assert_int_equal(model->slices.arg_count[row], row % 20000 == 9999 || row % 3 == 0);
    }
    uint32_t arg = model->slices.first_arg[9999];
    assert_string_equal(vv_intern_text(&model->strings, (uint32_t)model->args.value[arg]), text);
    vv_model_destroy(model);
    free(space.data);
}

/* Whatever the order of events in the file, the slices are the same. */
static void order_changes_nothing(void **state)
{
    (void)state;
    static const uint64_t steps[] = { 1, 999, 7, 333, 77 }; /* prime to 1000: each event comes once */
    uint64_t first_sum = 0;
    for (size_t round = 0; round < sizeof steps / sizeof steps[0]; round++) {
        struct proto space = { 0 }, line = { 0 };
        struct vv_model *model = NULL;
        uint64_t sum = 0;
        for (uint64_t i = 0; i < 1000; i++) {
            uint64_t event = i * steps[round] % 1000;
            add_event(&line, 1, event * 10000, event % 7 * 15000, NULL);
        }
        finish(&space, &line);
        assert_int_equal(proto_import(&space, &model, NULL), VARVE_OK);
        for (uint32_t row = 0; row < 1000; row++) {
            assert_int_equal(model->slices.begin_ns[row], row * 10);
            assert_int_equal(model->slices.duration_ns[row], row % 7 * 15);
            sum = sum * 31 + (uint64_t)model->slices.self_ns[row] + model->slices.depth[row];
        }
        first_sum = round == 0 ? sum : first_sum;
        assert_true(sum == first_sum);
        vv_model_destroy(model);
        free(space.data);
    }
}

static void shape_is(const char *text, const char *expected, uint32_t tensors)
{
    struct vv_xspace space = { 0 };
    const struct vv_xspace_shape *shape;
    uint32_t id;
    assert_int_equal(vv_model_create(&space.model, NULL), VARVE_OK);
    assert_int_equal(vv_model_text(space.model, text, &id, NULL), VARVE_OK);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(vv_xspace_shape(&space, id, &shape, NULL), VARVE_OK);
        if (expected == NULL) {
            assert_null(shape);
        } else {
            assert_non_null(shape);
            assert_string_equal(vv_intern_text(&space.model->strings, shape->text), expected);
            assert_int_equal(shape->tensor_count, tensors);
        }
    }
    assert_int_equal(space.model->tensors.table.count, tensors);
    vv_model_destroy(space.model);
    vv_key_map_deinit(&space.shapes);
    free(space.shape_items);
    free(space.text);
}

static void shapes(void **state)
{
    (void)state;
    shape_is("f32[8,128]{1,0:T(8,128)}", "[8,128] f32", 1);
    shape_is("pred[]", "[] bool", 1);
    shape_is("[32,128]", "[32,128]", 1);
    shape_is("(bf16[2]{0}, /*index=1*/s32[<=5], u32[]{:S(2)})", "[2] bf16, [5] i32, [] u32", 3);
    shape_is("((f8e4m3fn[1]), token[])", "[1] f8e4m3, [] token", 2);
    shape_is("", NULL, 0);
    shape_is("f32", NULL, 0);
    shape_is("f32[8", NULL, 0);
    shape_is("f32[8,]x", NULL, 0);
    shape_is("(f32[8], s32[4]", NULL, 0);
    shape_is("f32[8] and more", NULL, 0);
}

static void sources(void **state)
{
    (void)state;
    struct vv_xspace space = { 0 };
    uint32_t id, row;
    assert_int_equal(vv_model_create(&space.model, NULL), VARVE_OK);
    assert_int_equal(vv_model_text(space.model, "a b/train.py:37", &id, NULL), VARVE_OK);
    assert_int_equal(vv_xspace_source(&space, id, &row, NULL), VARVE_OK);
    assert_string_equal(vv_intern_text(&space.model->strings, space.model->sources.file[row]), "a b/train.py");
    assert_int_equal(space.model->sources.line[row], 37);
    static const char *const others[] = { "", "train.py", ":5", "train.py:", "train.py:5x" };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        assert_int_equal(vv_model_text(space.model, others[i], &id, NULL), VARVE_OK);
        assert_int_equal(vv_xspace_source(&space, id, &row, NULL), VARVE_OK);
        assert_int_equal(row, VV_NONE);
    }
    vv_model_destroy(space.model);
    vv_key_map_deinit(&space.sources);
}

static void counts_alone(void **state)
{
    (void)state;
    struct proto space = { 0 }, line = { 0 };
    struct vv_model *model = NULL;
    char path[64];
    for (uint32_t i = 0; i < 10; i++)
        add_event(&line, 1, 1000 * i, 500, "text");
    finish(&space, &line);
    int file = memfd_create("counts", MFD_CLOEXEC);
    assert_int_equal(write(file, space.data, space.count), space.count);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    assert_int_equal(vv_import_counts(path, &model, NULL), VARVE_OK);
    assert_int_equal(model->run.events, 10);
    assert_int_equal(model->run.end_ns, 9);
    assert_int_equal(model->slices.table.count, 0);
    vv_model_destroy(model);
    close(file);
    free(space.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_larger_than_the_window),
        cmocka_unit_test(order_changes_nothing),
        cmocka_unit_test(shapes),
        cmocka_unit_test(sources),
        cmocka_unit_test(counts_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
