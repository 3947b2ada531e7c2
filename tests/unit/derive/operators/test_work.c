/* SPDX-License-Identifier: Apache-2.0 */
/* Whose peaks count: each device's by its name, or as the trace says, and behind the last those of
 * the host. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "derive/operators/work.h"
#include "handmade_device.h"

/* Of another scope there is a device of the same number. */
static const struct said {
    int device;
    uint32_t scope;
    const char *name;
    double flop_per_s, bytes_per_s;
} said[] = {
    { 0, 1, "NVIDIA A40", 0, 0 },
    { 0, 0, "NVIDIA H100 80GB HBM3", 1, 1 },
    { 2, 0, "made up", 7e12, 6e11 },
};

static void say_devices(struct vv_model *model)
{
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        uint32_t row;
        assert_int_equal(vv_model_add_device(model, &row, NULL), VARVE_OK);
        model->devices.device[row] = VARVE_DEVICE(VARVE_DEVICE_KIND_CUDA, said[i].device);
        model->devices.scope[row] = said[i].scope;
        model->devices.name[row] = handmade_text(model, said[i].name);
        model->devices.flop_per_s[row] = said[i].flop_per_s;
        model->devices.memory_bytes_per_s[row] = said[i].bytes_per_s;
    }
}

/* Work on three devices; of one the trace says nothing. */
static struct vv_model *make(void)
{
    struct vv_model *model = handmade_model();
    uint32_t host = handmade_track(model, "host", 100);
    handmade_step(model, host, 1, 0, 1000);
    for (int device = 0; device < 3; device++)
        handmade_work(model, handmade_stream(model, device, 7), "sgemm", 0, 100, 200 + device);
    say_devices(model);
    handmade_finish(model);
    return model;
}

static const char *name_of(const struct vv_op_work *work, size_t device)
{
    return vv_text_of(work->scope.model, work->names[device]);
}

static void each_device_has_the_peaks_of_its_name(void **state)
{
    struct vv_scratch scratch = { 0 };
    static const struct vv_peaks of_host = { .matrix_f32 = 1e12, .bytes = 5e10 };
    (void)state;
    struct vv_model *model = make();
    for (int has_host = 0; has_host < 2; has_host++) {
        struct vv_question question = VV_QUESTION_ALL;
        struct vv_op_work work;
        question.host_peaks = has_host ? &of_host : NULL;
        assert_int_equal(vv_op_work_init(&work, model, &question, &scratch, NULL), VARVE_OK);
        assert_int_equal(work.work.device_count, 3);
        assert_true(work.peaks[0].bytes == 3.35e12);
        assert_true(work.peaks[1].bytes == 0);
        assert_true(work.peaks[2].bytes == 6e11);
        assert_true(work.peaks[2].matrix_f16 == 7e12);
        assert_true(work.peaks[3].bytes == (has_host ? 5e10 : 0));
        assert_true(work.peaks[3].matrix_f32 == (has_host ? 1e12 : 0));
        assert_string_equal(name_of(&work, 0), "NVIDIA H100 80GB HBM3");
        assert_int_equal(work.names[1], 0);
        assert_string_equal(name_of(&work, 2), "made up");
    }
    vv_model_destroy(model);
    vv_scratch_deinit(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_device_has_the_peaks_of_its_name) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
