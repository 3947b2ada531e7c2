/* SPDX-License-Identifier: Apache-2.0 */
/* test_faults_memory.c — the n-th allocation of a table of memory fails, for every n, where more
 * steps are chosen than fit what is first reserved for them: each time the answer is
 * VARVE_NO_MEMORY. Leaks show in the sanitizer build. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "failing_allocation.h"
#include "handmade.h"
#include "model/once.h"
#include "question/question.h"

enum { STEPS = 200 };

static struct vv_model *many_steps(void)
{
    struct vv_model *model = handmade_model();
    uint32_t track = handmade_track(model, "train", 100), row;
    for (int64_t i = 0; i < STEPS; i++) {
        handmade_step(model, track, i, 100 * i, 100 * i + 90);
        handmade_op(model, track, "first", 100 * i + 10, 100 * i + 20);
        assert_int_equal(vv_model_add_memory(model, &row, NULL), VARVE_OK);
        model->memory.time_ns[row] = HANDMADE_BEGIN_NS + 100 * i + 12;
        model->memory.address[row] = 0x1000u * (uint64_t)(i + 1);
        model->memory.bytes[row] = 256;
        model->memory.device[row] = VARVE_DEVICE(VARVE_DEVICE_KIND_CUDA, 0);
        model->memory.track[row] = track;
    }
    handmade_finish(model);
    return model;
}

static void every_allocation_fails_once(void **state)
{
    static vv_analyse_fn *const tables[] = { vv_analyse_memory, vv_analyse_memory_steps,
                                             vv_analyse_memory_peak,
                                             vv_analyse_memory_leaks };
    struct vv_model *model = many_steps();
    struct vv_question question = VV_QUESTION_ALL;
    struct varve_error error;
    (void)state;
    question.selection.first_step = 1;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        struct vv_sheet sheet;
        vv_onces_forget(model->onces);
        allocation_count = 0;
        assert_int_equal(vv_analyse(tables[i], model, &question, &sheet, &error), VARVE_OK);
        assert_true(sheet.row_count > 0);
        vv_sheet_deinit(&sheet);
        long total = allocation_count;
        for (long n = 0; n < total; n++) {
            vv_onces_forget(model->onces);
            allocations_left = n;
            enum varve_code code = vv_analyse(tables[i], model, &question, &sheet, &error);
            allocations_left = -1;
            if (code != VARVE_NO_MEMORY)
                fail_msg("table %zu, allocation %ld of %ld: code %d", i, n, total, code);
        }
    }
    vv_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_allocation_fails_once) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
