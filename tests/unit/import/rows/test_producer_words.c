/* SPDX-License-Identifier: Apache-2.0 */
/* What producers say in words, as columns: every word of every table of
 * import/rows/producer_words.h. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "handmade_device.h"
#include "import/rows/producer_words.h"

static struct vv_model *model;
static uint32_t stream;

static int begin(void **state)
{
    (void)state;
    model = handmade_model();
    stream = handmade_stream(model, 0, 7);
    return 0;
}

static int end(void **state)
{
    (void)state;
    vv_model_destroy(model);
    return 0;
}

static void add_number(uint32_t slice, const char *key, int64_t value)
{
    uint32_t arg;
    assert_int_equal(vv_model_add_arg(model, &arg, NULL), VARVE_OK);
    model->args.key[arg] = handmade_text(model, key);
    model->args.kind[arg] = VV_ARG_INT;
    model->args.value[arg] = (uint64_t)value;
    model->slices.first_arg[slice] =
        model->slices.arg_count[slice] == 0 ? arg : model->slices.first_arg[slice];
    model->slices.arg_count[slice]++;
}

static void add_text(uint32_t slice, const char *key, const char *text)
{
    add_number(slice, key, handmade_text(model, text));
    model->args.kind[model->args.table.count - 1] = VV_ARG_TEXT;
}

static void add_real(uint32_t slice, const char *key, double value)
{
    add_number(slice, key, 0);
    model->args.kind[model->args.table.count - 1] = VV_ARG_REAL;
    memcpy(&model->args.value[model->args.table.count - 1], &value, sizeof value);
}

static uint32_t add_work(const char *name, enum vv_activity_kind kind, int64_t at)
{
    uint32_t slice = handmade_slice(model, stream, name, VARVE_LAYER_DEVICE, at, at + 5);
    handmade_activity(model, slice, kind, 0);
    return slice;
}

static uint32_t activity_of(uint32_t slice)
{
    return model->slices.activity[slice];
}

struct shape { int64_t grid[3], block[3], registers, shared_bytes; double occupancy; };

static void assert_shape(uint32_t slice, const struct shape *wanted)
{
    const struct vv_launch_shapes *shapes = &model->launch_shapes;
    uint32_t row = model->activities.shape[activity_of(slice)];
    assert_true(row < shapes->table.count);
    const int64_t cells[] = { shapes->grid_x[row], shapes->grid_y[row], shapes->grid_z[row],
                              shapes->block_x[row],
                              shapes->block_y[row], shapes->block_z[row], shapes->registers[row],
                              shapes->shared_bytes[row] };
    const int64_t asked[] = { wanted->grid[0], wanted->grid[1], wanted->grid[2], wanted->block[0],
                              wanted->block[1],
                              wanted->block[2], wanted->registers, wanted->shared_bytes };
    assert_memory_equal(cells, asked, sizeof cells);
    assert_true(shapes->occupancy[row] == wanted->occupancy);
}

static void launches_have_shapes_in_every_producers_words(void **state)
{
    (void)state;
    uint32_t kineto = add_work("kineto", VV_ACTIVITY_KERNEL, 0),
             older = add_work("older", VV_ACTIVITY_KERNEL, 10);
    uint32_t nsys = add_work("nsys", VV_ACTIVITY_KERNEL, 20),
             rocprof = add_work("rocprof", VV_ACTIVITY_KERNEL, 30);
    uint32_t xspace = add_work("xspace", VV_ACTIVITY_KERNEL, 40),
             again = add_work("again", VV_ACTIVITY_KERNEL, 50);
    uint32_t silent = add_work("silent", VV_ACTIVITY_KERNEL, 60);
    add_text(kineto, "grid", "[4, 2, 1]");
    add_text(kineto, "block", "[128, 1, 1]");
    add_number(kineto, "registers per thread", 32);
    add_number(kineto, "shared memory", 0);
    add_number(kineto, "est. achieved occupancy %", 25);
    add_real(older, "theoretical occupancy %", 12.5);
    const char *const axes[] = { "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ" };
    for (int i = 0; i < 6; i++)
        add_number(nsys, axes[i], i + 2);
    add_number(nsys, "registersPerThread", 48);
    add_number(nsys, "staticSharedMemory", 1000);
    add_number(nsys, "dynamicSharedMemory", 24);
    add_text(rocprof, "grid_size", "{\"x\":1000,\"y\":8,\"z\":1}");
    add_text(rocprof, "workgroup_size", "{\"x\":64,\"y\":4,\"z\":1}");
    add_number(rocprof, "arch_vgpr_count", 96);
    add_number(rocprof, "group_segment_size", 512);
    const char details[] =
        " regs:40 static_shared:1000 dynamic_shared:24 grid:5,1,3 block:256,1,1 occ_pct:50";
    add_text(xspace, "kernel_details", details);
    add_text(again, "kernel_details", details);
    add_text(silent, "kernel_details", "occ_pct:0"); /* XLA has not asked */
    assert_int_equal(vv_words_to_columns(model, NULL), VARVE_OK);
    assert_shape(kineto, &(struct shape){ { 4, 2, 1 }, { 128, 1, 1 }, 32, 0, 0.25 });
    assert_shape(older, &(struct shape){ { 0 }, { 0 }, -1, -1, 0.125 });
    assert_shape(nsys, &(struct shape){ { 2, 3, 4 }, { 5, 6, 7 }, 48, 1024, -1 });
    assert_shape(rocprof, &(struct shape){ { 16, 2, 1 }, { 64, 4, 1 }, 96, 512, -1 });
    assert_shape(xspace, &(struct shape){ { 5, 1, 3 }, { 256, 1, 1 }, 40, 1024, 0.5 });
    assert_int_equal(model->activities.shape[activity_of(again)],
                     model->activities.shape[activity_of(xspace)]);
    assert_int_equal(model->activities.shape[activity_of(silent)], VV_NONE);
    assert_int_equal(model->launch_shapes.table.count, 5);
}

/* Out of all bounds: the cell stays as it was, and sums end at the largest number. */
static void absurd_numbers_are_nothing(void **state)
{
    (void)state;
    uint32_t slice = add_work("absurd", VV_ACTIVITY_KERNEL, 0);
    add_text(slice, "grid", "[99999999999999999999, 2, 1]");
    add_number(slice, "registersPerThread", INT64_MIN);
    add_real(slice, "est. achieved occupancy %", NAN);
    for (int i = 0; i < 2000; i++)
        add_number(slice, "shared memory", INT64_C(8999999999999999));
    assert_int_equal(vv_words_to_columns(model, NULL), VARVE_OK);
    assert_shape(slice, &(struct shape){ { 0 }, { 0 }, -1, INT64_MAX, -1 });
}

static void waits_name_what_they_wait_for(void **state)
{
    (void)state;
    uint32_t wait = add_work("Stream Wait Event", VV_ACTIVITY_SYNC, 0),
             sync = add_work("Stream Sync", VV_ACTIVITY_SYNC, 10);
    uint32_t kernel = add_work("kernel", VV_ACTIVITY_KERNEL, 20);
    add_number(wait, "wait_on_stream", 20);
    add_number(wait, "wait_on_cuda_event_record_corr_id", INT64_C(1) << 60);
    add_number(sync, "wait_on_stream", -1);
    add_number(kernel, "wait_on_stream", 3);
    assert_int_equal(vv_words_to_columns(model, NULL), VARVE_OK);
    assert_int_equal(model->waits.table.count, 1);
    assert_int_equal(model->activities.wait[activity_of(wait)], 0);
    assert_int_equal(model->waits.stream[0], 20);
    assert_int_equal(model->waits.correlation[0], INT64_C(1) << 60);
    assert_int_equal(model->activities.wait[activity_of(sync)], VV_NONE);
    assert_int_equal(model->activities.wait[activity_of(kernel)], VV_NONE);
}

static void slices_have_flags_and_flows_kinds(void **state)
{
    (void)state;
    static const struct { const char *category; uint8_t flag; } wanted[] = {
        { "user_annotation", VV_SLICE_ANNOTATION }, { "overhead", VV_SLICE_OVERHEAD },
        { "cuda_profiler_range", VV_SLICE_COUNTED }, { "cpu_op", 0 },
    };
    static const struct { const char *name, *category; uint8_t kind; } flows[] = {
        { "fwdbwd", "fwdbwd", VV_FLOW_BACKWARD }, { "fwd_bwd", "", VV_FLOW_BACKWARD },
        { "", "forward_backward", VV_FLOW_BACKWARD }, { "ac2g", "ac2g", VV_FLOW_OTHER },
    };
    uint32_t track = handmade_track(model, "main", 1), slices[4], rows[4];
    for (int i = 0; i < 4; i++) {
        slices[i] = handmade_slice(model, track, "range", VARVE_LAYER_API, 10 * i, 10 * i + 5);
        model->slices.category[slices[i]] = handmade_text(model, wanted[i].category);
        assert_int_equal(vv_model_add_flow(model, &rows[i], NULL), VARVE_OK);
        model->flows.name[rows[i]] = handmade_text(model, flows[i].name);
        model->flows.category[rows[i]] = handmade_text(model, flows[i].category);
    }
    model->slices.flags[slices[0]] = VV_SLICE_STEP;
    assert_int_equal(vv_words_to_columns(model, NULL), VARVE_OK);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(model->slices.flags[slices[i]],
                         wanted[i].flag | (i == 0 ? VV_SLICE_STEP : 0));
        assert_int_equal(model->flows.kind[rows[i]], flows[i].kind);
    }
}

enum { LAUNCHES = 200000 };

/* Of launches with 91 shapes, and of waits, as a model with so many threads reads them. */
static void read_launches(unsigned threads, uint32_t *out_shapes, uint32_t *out_waits)
{
    uint32_t keys[2] = { handmade_text(model, "registersPerThread"),
                         handmade_text(model, "wait_on_stream") };
    model->threads = threads;
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        uint32_t slice = add_work("work", i % 5 == 0 ? VV_ACTIVITY_SYNC : VV_ACTIVITY_KERNEL, i),
                 arg;
        assert_int_equal(vv_model_add_arg(model, &arg, NULL), VARVE_OK);
        model->args.key[arg] = keys[i % 5 == 0];
        model->args.kind[arg] = VV_ARG_INT;
        model->args.value[arg] = i / 2000 * 7919 % 91;
        model->slices.first_arg[slice] = arg;
        model->slices.arg_count[slice] = 1;
    }
    assert_int_equal(vv_words_to_columns(model, NULL), VARVE_OK);
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        out_shapes[i] = model->activities.shape[activity_of(i)];
        out_waits[i] = model->activities.wait[activity_of(i)];
    }
    assert_int_equal(model->launch_shapes.table.count, 91);
    assert_int_equal(model->waits.table.count, LAUNCHES / 5);
    for (uint32_t i = 0; i < LAUNCHES; i++)
        assert_int_equal(i % 5 == 0 ? model->waits.stream[out_waits[i]]
                                    : model->launch_shapes.registers[out_shapes[i]],
                         i / 2000 * 7919 % 91);
}

static void pieces_make_no_difference(void **state)
{
    static uint32_t shapes[2][LAUNCHES], waits[2][LAUNCHES];
    read_launches(1, shapes[0], waits[0]);
    end(state);
    begin(state);
    read_launches(3, shapes[1], waits[1]);
    assert_memory_equal(shapes[0], shapes[1], sizeof shapes[0]);
    assert_memory_equal(waits[0], waits[1], sizeof waits[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(launches_have_shapes_in_every_producers_words, begin, end),
        cmocka_unit_test_setup_teardown(absurd_numbers_are_nothing, begin, end),
        cmocka_unit_test_setup_teardown(waits_name_what_they_wait_for, begin, end),
        cmocka_unit_test_setup_teardown(slices_have_flags_and_flows_kinds, begin, end),
        cmocka_unit_test_setup_teardown(pieces_make_no_difference, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
