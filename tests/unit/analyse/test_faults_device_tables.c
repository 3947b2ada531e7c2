/* SPDX-License-Identifier: Apache-2.0 */
/* test_faults_device_tables.c — the n-th allocation of each table of devices fails, for every n: each time the answer is
 * VARVE_NO_MEMORY, and after all of them the table. Leaks show in the sanitizer build. The build wraps malloc, calloc
 * and realloc for programs of this name. */
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

/* Two devices and two streams; kernels, copies, sets, collectives; a loader, a sync, Python; a step that is cut. */
static struct vv_model *everything(void)
{
    static const char *const names[] = { "conv", "Memcpy HtoD", "ncclKernel", "Memset", "relu" };
    struct vv_model *model = handmade_model();
    uint32_t host = handmade_track(model, "train", 100);
    uint32_t streams[] = { handmade_stream(model, 0, 7), handmade_stream(model, 0, 9), handmade_stream(model, 1, 7) };
    uint64_t correlation = 0;
    for (int64_t step = 0; step < 3; step++) {
        int64_t at = 100000 * step;
        handmade_step(model, host, step, at, at + 90000);
        handmade_slice(model, host, "train.py(3): step", VARVE_LAYER_PYTHON, at, at + 90000);
        handmade_op(model, host, "enumerate(DataLoader)#_Iter.__next__", at, at + 20000);
        for (int64_t i = 0; i < (step < 2 ? 10 : 2); i++) {
            int64_t begin = at + 20000 + 5000 * i;
            handmade_call(model, host, "cudaLaunchKernel", ++correlation, begin, begin + 500);
            handmade_work(model, streams[i % 3], names[i % 5], i == 3 ? 0 : correlation, begin + 1000, begin + 4000 + 900 * (i % 3));
        }
        handmade_call(model, host, "cudaDeviceSynchronize", 0, at + 80000, at + 85000);
    }
    handmade_finish(model);
    return model;
}

static void each_allocation_fails_once(void **state)
{
    (void)state;
    static const char *const tables[] = { "step_split", "devices", "overlap", "idle", "idle_gaps", "idle_streams",
                                          "launches", "queue", "copies", "syncs", "waits" };
    struct vv_model *model = everything();
    for (size_t i = 0; i < 2 * sizeof tables / sizeof *tables; i++) {
        struct vv_question question = VV_QUESTION_ALL;
        const struct vv_table_entry *table;
        struct varve_error error;
        struct vv_sheet sheet;
        enum varve_code code = VARVE_NO_MEMORY;
        long failures = 0;
        assert_int_equal(vv_table_find(tables[i / 2], &table, &error), VARVE_OK);
        question.compat = i % 2 == 1 ? "hta" : NULL;
        for (; code != VARVE_OK; failures++) {
            assert_true(failures < 2000);
            allocations_left = failures;
            code = table->analyse(model, &question, &sheet, &error);
            allocations_left = -1;
            assert_true(code == VARVE_OK || code == VARVE_NO_MEMORY);
        }
        if (failures < 6 || sheet.row_count == 0)
            fail_msg("%s: %ld allocations, %zu rows", tables[i / 2], failures - 1, sheet.row_count);
        vv_sheet_deinit(&sheet);
    }
    vv_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_allocation_fails_once) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
