/* SPDX-License-Identifier: Apache-2.0 */
/* test_xspace.c — import/xspace_*.c: lines larger than the window, events in any order, shapes.
 * What each field becomes is in tests/import/test_xspace.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "import/xspace/xspace.h"
#include "protobuf_bytes.h"
#include "same_model.h"
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
        add_event(&line, 1, i * 1000u * 10, 5000,
                  i % 20000 == 9999 ? text
                  : i % 3 == 0      ? "short"
                                    : NULL);
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
    static const uint64_t steps[] = { 1, 999, 7, 333, 77 }; /* prime to 1000: each event comes
                                                               once */
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
    space.sink = (struct vv_xspace_sink){ .space = &space, .rows = space.model };
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
    free(space.sink.text);
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
    assert_string_equal(vv_intern_text(&space.model->strings, space.model->sources.file[row]),
                        "a b/train.py");
    assert_int_equal(space.model->sources.line[row], 37);
    static const char *const others[] = { "", "train.py", ":5", "train.py:", "train.py:5x" };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        assert_int_equal(vv_model_text(space.model, others[i], &id, NULL), VARVE_OK);
        assert_int_equal(vv_xspace_source(&space, id, &row, NULL), VARVE_OK);
        assert_int_equal(row, 0); /* none: a blank row                                           */
        assert_int_equal(space.model->sources.file[row], 0);
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

static void add_stat(struct proto *event, uint64_t id, uint32_t field, uint64_t number,
                     const char *text)
{
    struct proto stat = { 0 };
    proto_number(&stat, 1, id);
    if (text != NULL)
        proto_text(&stat, field, text);
    else
        proto_number(&stat, field, number);
    proto_message(event, 4, &stat);
}

/* Lines of all kinds of events, with texts, shapes and places that stand in no metadata; the ids of
 * some lines follow their events. */
static void add_mixed_lines(struct proto *plane, uint32_t lines)
{
    char text[64];
    for (uint32_t l = 0; l < lines; l++) {
        struct proto line = { 0 };
        if (l % 5 != 4)
            proto_number(&line, 1, l % 7 + 1);
        for (uint32_t i = 0; i < 400; i++) {
            struct proto event = { 0 };
            proto_number(&event, 1, i % 50 == 7 ? 1000 + l % 3 : i % 17 == 5 ? 2 : 1);
            if (i % 40 == 3)
                proto_number(&event, 5, 12);
            else
                proto_number(&event, 2, ((uint64_t)l * 400 + i) * 10000);
            proto_number(&event, 3, 5000);
            snprintf(text, sizeof text, i % 2 == 0 ? "f32[%u,%u]{1,0}" : "text %u of %u", l / 3 + 1,
                     i);
            if (i % 9 == 0)
                add_stat(&event, 2, 5, 0, text);
            snprintf(text, sizeof text, "train_%u.py:%u", l / 2, i);
            if (i % 10 == 0)
                add_stat(&event, 3, 5, 0, text);
            if (i % 17 == 5)
                add_stat(&event, 4, 4, i, NULL);
            if (i % 4 == 0)
                add_stat(&event, 5 + i % 3, 3, (l * 400 + i) / 8, NULL);
            if (i % 21 == 0)
                add_stat(&event, 99, 4, i, NULL);
            proto_message(&line, 4, &event);
        }
        if (l % 5 == 4)
            proto_number(&line, 1, l % 7 + 1);
        proto_message(plane, 3, &line);
    }
}

static struct vv_model *import_with(const struct proto *proto, unsigned threads)
{
    const struct vv_import_options options = { .threads = threads };
    struct vv_model *model = NULL;
    struct varve_error error;
    char path[64];
    int file = memfd_create("proto", MFD_CLOEXEC);
    assert_int_equal(write(file, proto->data, proto->count), proto->count);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    const char *paths[] = { path };
    assert_int_equal(vv_import_all(paths, 1, &options, &model, &error), VARVE_OK);
    model->inputs.path[0] = 0; /* another descriptor */
    close(file);
    return model;
}

/* Several waves of chunks: the model is the same, down to the numbers of its texts. */
static void threads_change_nothing(void **state)
{
    (void)state;
    struct proto space = { 0 };
    for (uint32_t p = 0; p < 3; p++) {
        static const char *const names[] = { "/host:CPU", "/device:GPU:0", "/host:CUPTI" };
        static const char *const stats[] = { "shape", "source", "allocation_bytes",
                                             "correlation_id", "_p", "_c" };
        struct proto plane = { 0 };
        proto_text(&plane, 2, names[p]);
        add_mixed_lines(&plane, 400);
        add_metadata(&plane, 4, 1, "op");
        add_metadata(&plane, 4, 2, "MemoryAllocation");
        for (uint64_t i = 0; i < 6; i++)
            add_metadata(&plane, 5, i + 2, stats[i]);
        proto_message(&space, 1, &plane);
    }
    assert_true(space.count > 6u << 20);
    struct vv_model *one = import_with(&space, 1), *four = import_with(&space, 4);
    assert_int_equal(one->run.events, 480000);
    assert_int_equal(one->health.unplaced, 12000);
    assert_int_equal(one->slices.table.count + one->marks.table.count, 468000);
    assert_true(one->flows.table.count > 1000 && one->ops.table.count > 1000 &&
                one->sources.table.count > 1000);
    assert_true(same_model(one, four));
    vv_model_destroy(one);
    vv_model_destroy(four);
    free(space.data);
}

/* What the metadata says stands in args once, however many events say something of their own. */
static void events_share_what_their_metadata_says(void **state)
{
    (void)state;
    struct proto space = { 0 }, line = { 0 }, plane = { 0 }, entry = { 0 }, value = { 0 };
    struct vv_model *model = NULL;
    proto_number(&line, 1, 7);
    for (uint32_t i = 0; i < 1000; i++)
        add_event(&line, 1, i * 10000u, 5000, i % 2 == 0 ? "own" : NULL);
    proto_text(&plane, 2, "/host:CPU");
    proto_message(&plane, 3, &line);
    proto_number(&value, 1, 1);
    proto_text(&value, 2, "op");
    for (uint64_t i = 0; i < 20; i++) {
        struct proto stat = { 0 };
        proto_number(&stat, 1, 1);
        proto_number(&stat, 4, i);
        proto_message(&value, 5, &stat);
    }
    proto_number(&entry, 1, 1);
    proto_message(&entry, 2, &value);
    proto_message(&plane, 4, &entry);
    add_metadata(&plane, 5, 1, "text");
    proto_message(&space, 1, &plane);
    assert_int_equal(proto_import(&space, &model, NULL), VARVE_OK);
    assert_int_equal(model->args.table.count, 20 + 500 * 2);
    assert_int_equal(model->slices.arg_count[1], 20);
    assert_int_equal(model->slices.arg_count[2], 2);
    uint32_t arg = model->slices.first_arg[2];
    assert_int_equal(model->args.kind[arg], VV_ARG_ROWS);
    assert_true(model->args.value[arg] == VV_ARG_ROWS_VALUE(model->slices.first_arg[1], 20));
    assert_string_equal(vv_intern_text(&model->strings, (uint32_t)model->args.value[arg + 1]),
                        "own");
    vv_model_destroy(model);
    free(space.data);
}

/* An operator's row is made of the metadata once; an event that says something else has its own. */
static void events_share_their_operator(void **state)
{
    (void)state;
    struct proto space = { 0 }, line = { 0 }, plane = { 0 }, entry = { 0 }, value = { 0 },
    event = { 0 };
    struct vv_model *model = NULL;
    proto_number(&line, 1, 7);
    for (uint32_t i = 0; i < 3; i++)
        add_event(&line, 1, i * 10000u, 5000, NULL);
    proto_number(&event, 1, 1);
    proto_number(&event, 2, 30000);
    proto_number(&event, 3, 5000);
    add_stat(&event, 1, 4, 40, NULL);
    proto_message(&line, 4, &event);
    proto_text(&plane, 2, "/device:TPU:0");
    proto_message(&plane, 3, &line);
    proto_number(&value, 1, 1);
    proto_text(&value, 2, "fusion");
    struct proto flops = { 0 };
    proto_number(&flops, 1, 1);
    proto_number(&flops, 4, 30);
    proto_message(&value, 5, &flops);
    proto_number(&entry, 1, 1);
    proto_message(&entry, 2, &value);
    proto_message(&plane, 4, &entry);
    add_metadata(&plane, 5, 1, "flops");
    proto_message(&space, 1, &plane);
    assert_int_equal(proto_import(&space, &model, NULL), VARVE_OK);
    assert_int_equal(model->ops.table.count, 2);
    for (uint32_t row = 0; row < 4; row++)
        assert_int_equal(model->ops.flop[model->slices.op[row]], row < 3 ? 30 : 40);
    assert_int_equal(model->slices.op[0], model->slices.op[2]);
    vv_model_destroy(model);
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
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(events_share_what_their_metadata_says),
        cmocka_unit_test(events_share_their_operator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
