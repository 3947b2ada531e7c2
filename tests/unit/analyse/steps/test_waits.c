/* SPDX-License-Identifier: Apache-2.0 */
/* Table "waits" of several processes: to each what its thread with steps waited. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "handmade_device.h"
#include "question/question.h"

enum { PROCESSES = 6, STEP_NS = 1000 };

static void load(struct vv_model *model, uint32_t track, int64_t begin, int64_t end)
{
    handmade_op(model, track, "enumerate(DataLoader)#_Iter.__next__", begin, end);
}

/* Process p has a step on its thread "main", which loads for 10 less p in it and for 3 behind it;
 * its thread "other" reads ahead for 20 less p meanwhile. A thread of no known process loads,
 * too. */
static struct vv_model *make(void)
{
    struct vv_model *model = handmade_model();
    uint32_t process = 0;
    for (uint32_t p = 0; p < PROCESSES; p++) {
        if (p > 0)
            assert_int_equal(vv_model_add_process(model, &process, NULL), VARVE_OK);
        uint32_t main = handmade_track(model, "main", 10 * (p + 1)),
                 other = handmade_track(model, "other", 10 * (p + 1) + 1);
        model->processes.pid[process] = 100 + p;
        model->tracks.process[main] = model->tracks.process[other] = process;
        handmade_step(model, main, 0, 0, STEP_NS);
        load(model, main, 0, 10 - p);
        load(model, main, STEP_NS, STEP_NS + 3);
        load(model, other, 500, 520 - p);
    }
    uint32_t nobodys = handmade_track(model, "main", 7);
    model->tracks.process[nobodys] = VV_NONE;
    load(model, nobodys, 0, 700);
    handmade_finish(model);
    return model;
}

static void each_process_waits_for_its_own_threads(void **state)
{
    static const char *const threads[] = { NULL, "main" };
    (void)state;
    struct vv_model *model = make();
    for (size_t i = 0; i < 2; i++) {
        struct vv_question question = VV_QUESTION_ALL;
        struct vv_sheet sheet;
        question.selection.thread = threads[i];
        assert_int_equal(vv_analyse(vv_analyse_waits, model, &question, &sheet, NULL), VARVE_OK);
        assert_int_equal(sheet.row_count, 2 * PROCESSES + 1);
        int64_t sum_ns = 0;
        for (size_t p = 0; p < PROCESSES; p++) {
            int64_t inside_ns = 10 - (int64_t)p;
            for (size_t row = 2 * p; row < 2 * p + 2; row++)
                assert_int_equal(sheet_int_of(&sheet, row, "process"), 100 + p);
            assert_string_equal(sheet_cell_of(&sheet, 2 * p, "row")->text, "step");
            assert_int_equal(sheet_int_of(&sheet, 2 * p, "wait_ns"), inside_ns);
            assert_string_equal(sheet_cell_of(&sheet, 2 * p + 1, "row")->text, "outside");
            assert_int_equal(sheet_int_of(&sheet, 2 * p + 1, "wait_ns"), 3);
            sum_ns += inside_ns + 3;
        }
        assert_int_equal(sheet_int_of(&sheet, 2 * PROCESSES, "wait_ns"), sum_ns);
        vv_sheet_deinit(&sheet);
    }
    vv_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_process_waits_for_its_own_threads) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
