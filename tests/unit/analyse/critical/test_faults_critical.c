/* SPDX-License-Identifier: Apache-2.0 */
/* test_faults_critical.c — the n-th allocation of a table of the critical path fails, for every n
 * and every table, by our rules and by HTA's: each time the answer is VARVE_NO_MEMORY. Leaks show
 * in the sanitizer build. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "failing_allocation.h"
#include "handmade_device.h"
#include "question/question.h"

static void say(struct vv_model *model, uint32_t slice, const char *category)
{
    model->slices.category[slice] = handmade_text(model, category);
}

/* A collective of the host, for which the first rank waits. */
static void add_host_collectives(struct vv_model *model, uint32_t process, uint32_t main)
{
    uint32_t run = handmade_track(model, "gloo:all_reduce", 0), late = process == 0 ? 0 : 100;
    model->tracks.process[run] = process;
    model->tracks.kind[run] = VV_TRACK_ASYNC;
    say(model, handmade_op(model, main, "late", 610, 620 + late), "cpu_op");
    say(model, handmade_op(model, main, "c10d::allreduce_", 620 + late, 630 + late), "cpu_op");
    handmade_slice(model, run, "gloo:all_reduce", VARVE_LAYER_COMM, 640 + late, 800);
}

/* A rank: a step, a forward and a backward thread, two streams of which one waits for the other, a
 * collective of the device and one of the host. */
static void add_rank(struct vv_model *model, uint32_t process, int64_t tid)
{
    uint32_t main = handmade_track(model, "main", tid),
             backward = handmade_track(model, "backward", tid + 1);
    uint32_t seven = handmade_stream(model, 0, 7), nine = handmade_stream(model, 0, 9), calls[5];
    const uint32_t tracks[] = { main, backward, seven, nine };
    for (size_t i = 0; i < 4; i++)
        model->tracks.process[tracks[i]] = process;
    handmade_step(model, main, 1, 0, 1000);
    uint32_t forward = handmade_op(model, main, "mm", 10, 20),
             back = handmade_op(model, backward, "mm back", 30, 60);
    say(model, forward, "cpu_op");
    say(model, back, "cpu_op");
    handmade_arguments(model, forward, 0, 5, 0);
    handmade_arguments(model, back, 0, 5, 1);
    static const char *const names[] = { "cudaLaunchKernel", "cudaEventRecord",
                                         "cudaStreamWaitEvent", "cudaLaunchKernel",
                                         "cudaStreamSynchronize" };
    for (int i = 0; i < 5; i++) {
        calls[i] = handmade_call(model, main, names[i], (uint64_t)i + 1, 100 + 20 * i,
                                 i < 4 ? 110 + 20 * i : 600);
        say(model, calls[i], "cuda_runtime");
    }
    uint32_t works[] = { handmade_work(model, seven, "sgemm", 1, 105, 300),
                         handmade_work(model, nine, "ncclDevKernel_AllReduce", 4, 310, 500) };
    for (int i = 0; i < 2; i++)
        for (uint32_t slice = 0; slice < model->slices.table.count; slice++)
            if (model->slices.activity[slice] == works[i])
                say(model, slice, "kernel");
    uint32_t wait = handmade_slice(model, nine, "Stream Wait Event", VARVE_LAYER_DEVICE, 301, 302);
    uint32_t sync = handmade_slice(model, nine, "Stream Sync", VARVE_LAYER_DEVICE, 180, 600);
    const uint32_t syncs[] = { wait, sync };
    for (int i = 0; i < 2; i++) {
        uint32_t activity = handmade_activity(model, syncs[i], VV_ACTIVITY_SYNC, i == 0 ? 3 : 5);
        model->activities.stream[activity] = 9;
        model->activities.device[activity] = model->tracks.device[nine];
        say(model, syncs[i], "cuda_sync");
    }
    uint32_t named;
    assert_int_equal(vv_model_add_wait(model, &named, NULL), VARVE_OK);
    model->waits.stream[named] = 7;
    model->waits.correlation[named] = 2;
    model->activities.wait[model->slices.activity[wait]] = named;
    add_host_collectives(model, process, main);
}

static struct vv_model *two_ranks(void)
{
    struct vv_model *model = handmade_model();
    uint32_t process;
    assert_int_equal(vv_model_add_process(model, &process, NULL), VARVE_OK);
    model->processes.scope[process] = 1;
    model->processes.rank[0] = 0;
    model->processes.rank[process] = 1;
    add_rank(model, 0, 100);
    add_rank(model, process, 200);
    /* HTA counts in microseconds */
    for (uint32_t slice = 0; slice < model->slices.table.count; slice++) {
        model->slices.begin_ns[slice] =
            HANDMADE_BEGIN_NS + 1000 * (model->slices.begin_ns[slice] - HANDMADE_BEGIN_NS);
        model->slices.duration_ns[slice] *= 1000;
    }
    for (uint32_t step = 0; step < model->steps.table.count; step++)
        model->steps.duration_ns[step] *= 1000;
    handmade_finish(model);
    return model;
}

static void every_allocation_fails_once(void **state)
{
    static vv_analyse_fn *const tables[] = { vv_analyse_critical, vv_analyse_critical_bound,
                                             vv_analyse_critical_ops,
                                             vv_analyse_critical_path, vv_analyse_what_if,
                                             vv_analyse_slack, vv_analyse_rank_waits };
    static const char *const rules[] = { NULL, "hta" };
    struct vv_model *model = two_ranks();
    struct varve_error error;
    (void)state;
    for (size_t i = 0; i < 2 * sizeof tables / sizeof *tables; i++) {
        struct vv_question question = VV_QUESTION_ALL;
        struct vv_sheet sheet;
        question.compat = rules[i % 2];
        question.top = 1;
        vv_onces_forget(model->onces);
        allocation_count = 0;
        assert_int_equal(vv_analyse(tables[i / 2], model, &question, &sheet, &error), VARVE_OK);
        /* HTA knows nothing of ranks */
        if (sheet.row_count == 0 && !(tables[i / 2] == vv_analyse_rank_waits && i % 2 == 1))
            fail_msg("table %zu is empty: %s", i, sheet.policy);
        vv_sheet_deinit(&sheet);
        long total = allocation_count;
        assert_true(total > 20);
        for (long n = 0; n < total; n++) {
            vv_onces_forget(model->onces);
            allocations_left = n;
            enum varve_code code = vv_analyse(tables[i / 2], model, &question, &sheet, &error);
            allocations_left = -1;
            if (code != VARVE_NO_MEMORY)
                fail_msg("table %zu, allocation %ld of %ld: code %d", i, n, total, code);
        }
    }
    vv_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
