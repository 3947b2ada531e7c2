/* SPDX-License-Identifier: Apache-2.0 */
/* The law of profile.h on random traces: the self times of all records and the unnamed time are,
 * for each thread, the time during which anything ran, counted here nanosecond by nanosecond. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "handmade_device.h"
#include "profile_text.h"

enum { SPAN_NS = 400, SLICES = 60, TRACES = 300 };

static int below(int limit)
{
    return rand() % limit;
}

static void random_slice(struct vv_model *model, uint32_t track, bool *busy)
{
    static const char *const names[] = { "a/MatMul:MatMul", "b/Relu:Relu", "aten::mm", "aten::add",
                                         "forward", "wait", "x_kernel_time", "loop:While" };
    static const uint16_t layers[] = { VARVE_LAYER_OP, VARVE_LAYER_OP, VARVE_LAYER_HOST,
                                       VARVE_LAYER_PYTHON, VARVE_LAYER_RUNTIME };
    int64_t begin = below(SPAN_NS), end = begin + below(SPAN_NS - (int)begin);
    handmade_slice(model, track, names[below(8)], layers[below(5)], begin, end);
    for (int64_t at = begin; at < end; at++)
        busy[at] = true;
}

/* Nested, overlapping, of no length: whatever comes. */
static void no_time_is_counted_twice(void **state)
{
    (void)state;
    srand(17);
    for (int trace = 0; trace < TRACES; trace++) {
        struct vv_model *model = handmade_model();
        int64_t expected = 0, sum;
        int tracks = 1 + below(3);
        for (int t = 0; t < tracks; t++) {
            bool busy[SPAN_NS] = { false };
            uint32_t track = handmade_track(model, "thread", 10 + t);
            for (int step = 0, steps = below(3); step < steps; step++)
                handmade_step(model, track, step, step * 100, step * 100 + 90);
            for (int i = below(SLICES); i > 0; i--)
                random_slice(model, track, busy);
            for (uint32_t s = 0; s < model->steps.table.count; s++)
                for (int64_t at = 0; model->steps.track[s] == track && at < 90; at++)
                    busy[model->steps.begin_ns[s] - HANDMADE_BEGIN_NS + at] = true;
            for (int at = 0; at < SPAN_NS; at++)
                expected += busy[at];
        }
        handmade_finish(model);
        struct vv_question question = VV_QUESTION_ALL;
        question.selection.warm_up = true;
        struct vv_mlir_profile profile = profile_of(model, &question);
        sum = profile.unnamed_ns;
        for (size_t i = 0; i < profile.record_count; i++) {
            const struct vv_mlir_record *record = &profile.records[i];
            assert_true(record->self_ns >= 0 && record->count >= 0);
            assert_true(record->min_ns <= record->p50_ns && record->p50_ns <= record->p95_ns);
            assert_true(record->p95_ns <= record->max_ns && record->max_ns <= record->total_ns);
            assert_true(i == 0 || record->first_ns >= profile.records[i - 1].first_ns);
            sum += record->self_ns;
        }
        assert_int_equal(sum, expected);
        vv_mlir_profile_deinit(&profile);
        vv_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(no_time_is_counted_twice) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
