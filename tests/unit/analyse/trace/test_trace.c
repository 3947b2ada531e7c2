/* SPDX-License-Identifier: Apache-2.0 */
/* Tables "trace", "processes", "threads" and "health": facts, absence, and the line on trust. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "handmade.h"
#include "question/question.h"

static const struct vv_question head = VV_QUESTION_ALL, full = { VV_SELECTION_ALL, .full = true };

static const char *trust_of(const struct vv_model *model, struct vv_sheet *sheet)
{
    assert_int_equal(vv_analyse(vv_analyse_trace, model, &head, sheet, NULL), VARVE_OK);
    return sheet_cell_of(sheet, 0, "trust")->text;
}

static void trust_names_every_reason_for_doubt(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    struct vv_sheet sheet;
    handmade_finish(model);
    assert_string_equal(trust_of(model, &sheet),
                        "no event lost · clock uncertainty unknown · recording cost not measured");
    vv_sheet_deinit(&sheet);

    model->run.events = 7500;
    model->run.lost = 2500;
    model->run.clock_uncertainty_ns = 120;
    model->health.truncated_files = 1;
    model->health.unfinished = 2;
    assert_string_equal(trust_of(model, &sheet),
                        "2500 EVENTS LOST (25 %) · 1 FILE CUT SHORT · clock ±120 ns · "
                        "2 odd records: varve info · recording cost not measured");
    vv_sheet_deinit(&sheet);

    model->health.unfinished = 1;
    assert_non_null(strstr(trust_of(model, &sheet), " · 1 odd record: varve info"));
    vv_sheet_deinit(&sheet);

    model->run.end_ns = model->run.begin_ns + 1000000000;
    model->run.record_cost_ns = 1234567;
    assert_non_null(
        strstr(trust_of(model, &sheet), " · recording took about 1.23 ms, 0.12 % of the run"));
    vv_sheet_deinit(&sheet);
    model->run.record_cost_ns = 1999000000;
    assert_non_null(strstr(trust_of(model, &sheet), "took about 2.00 s, 200 % of the run"));
    vv_sheet_deinit(&sheet);
    model->run.record_cost_ns = 2000000000;
    assert_non_null(strstr(trust_of(model, &sheet), "took about 2.00 s, the run itself 1.00 s"));
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

/* In the time zone of whoever looks. */
static void when_it_was_recorded_is_a_date_or_unknown(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    struct vv_sheet sheet;
    setenv("TZ", "UTC", 1);
    tzset();
    handmade_finish(model);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(vv_analyse(vv_analyse_trace, model, &head, &sheet, NULL), VARVE_OK);
        assert_string_equal(sheet_cell_of(&sheet, 0, "recorded")->text,
                            i == 0 ? "2025-11-21 04:40:00 +0000, 1.00 µs"
                                   : "at an unknown time, 1.00 µs");
        vv_sheet_deinit(&sheet);
        model->run.begin_ns = 0;
        model->run.end_ns = 1000;
    }
    vv_model_destroy(model);
}

static uint32_t add_process(struct vv_model *model, uint64_t keep_bytes, uint64_t keep_ns)
{
    uint32_t row;
    assert_int_equal(vv_model_add_process(model, &row, NULL), VARVE_OK);
    model->processes.keep_bytes[row] = keep_bytes;
    model->processes.keep_ns[row] = keep_ns;
    return row;
}

/* Of several that keep different amounts, what all of them have. */
static void a_flight_recorder_says_what_it_kept(void **state)
{
    (void)state;
    const struct {
        uint64_t keeps[2][2];
        uint64_t begun_before;
        bool full;
        const char *says;
    } cases[] = {
        { { { 0, 10000000000 }, { 0, 10000000000 } },
          3,
          false,
          "flight recorder: the last 10 s of each process were kept; 3 ranges began before" },
        { { { 64000000, 0 }, { 32000000, 0 } },
          1,
          true,
          "flight recorder: the last 32 MB of each process were kept; 1 range began before" },
        { { { 0, 0 }, { 0, 500000000 } },
          1234,
          false,
          "flight recorder: the last 500 ms of 1 of 2 processes were kept; 1234 ranges began "
          "before" },
        { { { 0, 0 }, { 0, 0 } }, 0, true, NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct vv_model *model = NULL;
        struct vv_sheet sheet;
        assert_int_equal(vv_model_create(&model, NULL), VARVE_OK);
        for (size_t p = 0; p < 2; p++)
            add_process(model, cases[i].keeps[p][0], cases[i].keeps[p][1]);
        handmade_finish(model);
        model->health.begun_before = cases[i].begun_before;
        assert_int_equal(vv_analyse(vv_analyse_trace, model, cases[i].full ? &full : &head, &sheet,
                                    NULL),
                         VARVE_OK);
        const struct vv_cell *kept = sheet_cell_of(&sheet, 0, "kept");
        assert_int_equal(kept->present, cases[i].says != NULL);
        assert_int_equal(sheet.columns[vv_sheet_find(&sheet, "kept")].hidden,
                         cases[i].says == NULL);
        assert_int_equal(sheet_cell_of(&sheet, 0, "begun_before")->present, cases[i].says != NULL);
        if (cases[i].says != NULL)
            assert_string_equal(kept->text, cases[i].says);
        vv_sheet_deinit(&sheet);
        vv_model_destroy(model);
    }
}

static void the_storage_is_shown_where_it_is_unusual(void **state)
{
    (void)state;
    struct vv_model *model = NULL;
    struct vv_sheet sheet;
    assert_int_equal(vv_model_create(&model, NULL), VARVE_OK);
    add_process(model, 0, 0);
    uint32_t row = add_process(model, 0, 0);
    handmade_finish(model);
    assert_int_equal(vv_analyse(vv_analyse_processes, model, &head, &sheet, NULL), VARVE_OK);
    assert_true(sheet.columns[vv_sheet_find(&sheet, "storage")].hidden);
    vv_sheet_deinit(&sheet);
    assert_int_equal(vv_model_text(model, "memory, by a thread", &model->processes.storage[row],
                                   NULL),
                     VARVE_OK);
    assert_int_equal(vv_analyse(vv_analyse_processes, model, &head, &sheet, NULL), VARVE_OK);
    assert_false(sheet.columns[vv_sheet_find(&sheet, "storage")].hidden);
    assert_false(sheet_cell_of(&sheet, 0, "storage")->present);
    assert_string_equal(sheet_cell_of(&sheet, 1, "storage")->text, "memory, by a thread");
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

static void what_is_not_known_is_absent(void **state)
{
    (void)state;
    static const char *const unknown[] = { "command", "host", "exit_code", "signal", "cpus",
                                           "clock_uncertainty_ns" };
    struct vv_model *model = handmade_model();
    struct vv_sheet sheet;
    handmade_finish(model);
    assert_int_equal(vv_analyse(vv_analyse_trace, model, &full, &sheet, NULL), VARVE_OK);
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        assert_false(sheet_cell_of(&sheet, 0, unknown[i])->present);
        assert_true(sheet.columns[vv_sheet_find(&sheet, unknown[i])].hidden);
    }
    assert_int_equal(sheet_int_of(&sheet, 0, "duration_ns"), 1000);
    assert_int_equal(sheet_int_of(&sheet, 0, "begin_ns"), HANDMADE_BEGIN_NS);
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

static void threads_tell_how_long_they_were_busy(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    uint32_t main_track = handmade_track(model, "main", 100);
    uint32_t idle = handmade_track(model, "", 101);
    uint32_t async = handmade_track(model, "copy", 0);
    handmade_op(model, main_track, "a", 0, 10);
    handmade_op(model, main_track, "b", 2, 8);
    handmade_op(model, main_track, "c", 20, 25);
    handmade_op(model, async, "copy", 0, 30);
    model->tracks.kind[async] = VV_TRACK_ASYNC;
    model->tracks.lost[idle] = 3;
    handmade_finish(model);
    struct vv_sheet sheet;
    assert_int_equal(vv_analyse(vv_analyse_threads, model, &head, &sheet, NULL), VARVE_OK);
    assert_int_equal(sheet.row_count, 3);
    assert_int_equal(sheet_int_of(&sheet, 0, "busy_ns"), 15);
    assert_int_equal(sheet_int_of(&sheet, 0, "slices"), 3);
    assert_int_equal(sheet_int_of(&sheet, 0, "process"), 100);
    assert_string_equal(sheet_cell_of(&sheet, 1, "name")->text, "thread 101");
    assert_int_equal(sheet_int_of(&sheet, 1, "lost"), 3);
    assert_string_equal(sheet_cell_of(&sheet, 2, "kind")->text, "async");
    assert_false(sheet_cell_of(&sheet, 2, "tid")->present);
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

static void health_lists_only_what_occurred(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    struct vv_sheet sheet;
    handmade_finish(model);
    assert_int_equal(vv_analyse(vv_analyse_health, model, &head, &sheet, NULL), VARVE_OK);
    assert_int_equal(sheet.row_count, 0);
    assert_string_equal(sheet.policy, "nothing lost, nothing odd");
    vv_sheet_deinit(&sheet);

    uint64_t *const counters[] = {
        &model->health.truncated_files, &model->health.unfinished,
             &model->health.unmatched_ends,
        &model->health.unmatched_flows, &model->health.unmatched_async, &model->health.overlaps,
        &model->health.zero_length,     &model->health.clock_steps_back,
        &model->health.begun_before,
        &model->health.flows_before,    &model->health.negative,        &model->health.unlinked,
        &model->health.duplicate_correlations, &model->health.unplaced, &model->health.ignored,
    };
    static const char *const names[] = { "truncated_files", "unfinished",      "unmatched_ends",
                                         "unmatched_flows", "unmatched_async", "overlaps",
                                         "zero_length",     "clock_steps_back", "begun_before",
                                         "flows_before",    "negative",        "unlinked",
                                         "duplicate_correlations", "unplaced", "ignored" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        *counters[i] = i + 1;
    model->run.lost = 99;
    assert_int_equal(vv_analyse(vv_analyse_health, model, &head, &sheet, NULL), VARVE_OK);
    assert_int_equal(sheet.row_count, 16);
    assert_int_equal(sheet_int_of(&sheet, sheet_row_of(&sheet, "finding", "lost"), "count"), 99);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(sheet_int_of(&sheet, sheet_row_of(&sheet, "finding", names[i]), "count"),
                         i + 1);
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trust_names_every_reason_for_doubt),
        cmocka_unit_test(when_it_was_recorded_is_a_date_or_unknown),
        cmocka_unit_test(a_flight_recorder_says_what_it_kept),
        cmocka_unit_test(the_storage_is_shown_where_it_is_unusual),
        cmocka_unit_test(what_is_not_known_is_absent),
        cmocka_unit_test(threads_tell_how_long_they_were_busy),
        cmocka_unit_test(health_lists_only_what_occurred),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
