/* SPDX-License-Identifier: Apache-2.0 */
/* test_faults_tables.c — the n-th allocation of each table fails, for every n: each time the answer is VARVE_NO_MEMORY or
 * the whole table. Leaks show in the sanitizer build. The build wraps malloc, calloc and realloc for programs of this name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyse/analyse.h"
#include "../../support/handmade_device.h"

static long allocations_left = -1; /* before one fails; -1 = none does                          */

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);

static int fails_now(void)
{
    return allocations_left >= 0 && allocations_left-- == 0;
}

void *__wrap_malloc(size_t bytes)
{
    return fails_now() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return fails_now() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *memory, size_t bytes)
{
    return fails_now() ? NULL : __real_realloc(memory, bytes);
}

/* Two steps of training with forward and backward operators on two threads, and their kernels. */
static struct vv_model *training(void)
{
    struct vv_model *model = handmade_model();
    uint32_t train = handmade_track(model, "train", 100), autograd = handmade_track(model, "autograd", 101);
    uint32_t seven = handmade_stream(model, 0, 7);
    for (int64_t step = 0; step < 2; step++) {
        int64_t at = 1000 * step;
        uint64_t correlation = 10 * (uint64_t)step;
        handmade_step(model, train, step, at, at + 1000);
        handmade_slice(model, train, "forward", VARVE_LAYER_API, at + 10, at + 400);
        handmade_arguments(model, handmade_op(model, train, "aten::mm", at + 20, at + 100), 12, step, 0);
        handmade_call(model, train, "cudaLaunchKernel", correlation + 1, at + 30, at + 40);
        handmade_work(model, seven, "sgemm", correlation + 1, at + 60, at + 160);
        handmade_arguments(model, handmade_op(model, autograd, "MmBackward0", at + 500, at + 700), 0, step, 100);
        handmade_call(model, autograd, "cudaLaunchKernel", correlation + 2, at + 510, at + 520);
        handmade_work(model, seven, "sgemm", correlation + 2, at + 530, at + 900);
    }
    handmade_finish(model);
    return model;
}

static void each_allocation_of_each_table_fails_once(void **state)
{
    (void)state;
    struct vv_model *model = training();
    static const char *const filters[] = { NULL, "phase=='forward' || module!='x' && calls>0 || stream==7 || source~'a'" };
    long all = 0;
    for (const struct vv_table_entry *table = vv_tables; table->name != NULL; table++) {
        for (size_t f = 0; f < 2; f++) {
            struct vv_question question = VV_QUESTION_ALL;
            struct varve_error error = { 0 };
            struct vv_sheet sheet;
            long failures = 0;
            question.selection.filter = filters[f];
            for (;; failures++) {
                assert_true(failures < 2000);
                allocations_left = failures;
                enum varve_code code = table->analyse(model, &question, &sheet, &error);
                bool was_reached = allocations_left < 0;
                allocations_left = -1;
                if (code == VARVE_OK)
                    vv_sheet_deinit(&sheet);
                if (code == VARVE_OK && !was_reached)
                    break;
                if (code != VARVE_OK && code != VARVE_NO_MEMORY)
                    fail_msg("%s, allocation %ld: %s", table->name, failures, error.message);
            }
            all += failures;
        }
    }
    assert_true(all > 500);
    vv_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_allocation_of_each_table_fails_once) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
