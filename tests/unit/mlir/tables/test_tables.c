/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of a join: the numbers of small ones, and that rows add up in random ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "handmade.h"
#include "mlir/tables/tables.h"
#include "mlir_matched.h"

static struct vv_sheet table_of(const struct matched *matched, const char *name, int64_t top)
{
    const struct vv_mlir_join join = { &matched->module, &matched->profile, &matched->matches };
    struct vv_sheet sheet;
    for (size_t i = 0; vv_mlir_tables[i].name != NULL; i++)
        if (strcmp(vv_mlir_tables[i].name, name) == 0) {
            assert_int_equal(vv_mlir_table(vv_mlir_tables[i].make, &join, top, &sheet, NULL),
                             VARVE_OK);
            assert_string_equal(sheet.name, name);
            return sheet;
        }
    fail_msg("no table %s", name);
    abort();
}

static int64_t sum_of(const struct vv_sheet *sheet, const char *column, bool is_total)
{
    int64_t sum = 0;
    for (size_t row = 0; row < sheet->row_count; row++) {
        const struct vv_cell *cell = sheet_cell_of(sheet, row, column);
        if (cell->present && (sheet->kinds[row] == VV_ROW_TOTAL) == is_total)
            sum += cell->integer;
    }
    return sum;
}

/* Two operations with one name, one of its own, and one that no record names. */
static const char text[] = "\"tf.MatMul\"() : () -> () loc(\"a/x\")\n"
                           "\"tf.Relu\"() : () -> () loc(\"b/y\")\n"
                           "\"tf.Relu\"() : () -> () loc(\"b/y\")\n"
                           "\"tf.Add\"() : () -> ()\n";

static void begin(struct matched *matched)
{
    matched_begin(matched, text);
    matched_record(matched, "a/x", "MatMul", 50);
    matched_record(matched, "b/y", "Relu", 20);
    matched_record(matched, "b/y", "Tanh", 10);
    matched_record(matched, "c/long", "Mul", 12);
    matched_record(matched, "c/short", "Mul", 8);
    matched->profile.unnamed_ns = 7;
    matched->profile.producer = "TensorFlow";
    matched_run(matched, NULL);
}

static void coverage_in_numbers(void **state)
{
    (void)state;
    static const struct { const char *column; int64_t value; } cells[] = {
        { "operations", 4 }, { "located", 3 }, { "annotated", 3 }, { "groups", 2 },
        { "records", 5 }, { "records_found", 3 }, { "time_ns", 100 }, { "matched_ns", 80 },
        { "ambiguous_ns", 30 }, { "unnamed_ns", 7 },
    };
    struct matched matched;
    begin(&matched);
    struct vv_sheet sheet = table_of(&matched, "coverage", 0);
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        assert_int_equal(sheet_int_of(&sheet, 0, cells[i].column), cells[i].value);
    assert_true(sheet_cell_of(&sheet, 0, "matched_share")->real == 0.8);
    assert_string_equal(sheet.policy, "self time of what TensorFlow names on threads");
    vv_sheet_deinit(&sheet);
    matched_end(&matched);
}

static void levels_and_what_is_left(void **state)
{
    (void)state;
    struct matched matched;
    begin(&matched);
    struct vv_sheet levels = table_of(&matched, "coverage_levels", 0);
    assert_int_equal(levels.row_count, 3);
    size_t name = sheet_row_of(&levels, "level", "name");
    assert_int_equal(sheet_int_of(&levels, name, "time_ns"), 80);
    assert_int_equal(sheet_int_of(&levels, name, "other_type"), 1);
    assert_int_equal(sheet_int_of(&levels, sheet_row_of(&levels, "level", "(not found)"),
                                  "records"), 2);
    assert_int_equal(sum_of(&levels, "time_ns", false), 100);
    assert_int_equal(sum_of(&levels, "time_ns", true), 100);
    vv_sheet_deinit(&levels);
    struct vv_sheet unmatched = table_of(&matched, "unmatched", 1);
    assert_int_equal(unmatched.row_count, 3);
    assert_int_equal(sheet_int_of(&unmatched, sheet_row_of(&unmatched, "name", "c/long"),
                                  "self_ns"), 12);
    assert_int_equal(sheet_int_of(&unmatched, sheet_row_of(&unmatched, "name", "1 more: --top 0"),
                                  "self_ns"), 8);
    assert_int_equal(sum_of(&unmatched, "self_ns", true), 20);
    vv_sheet_deinit(&unmatched);
    struct vv_sheet ambiguous = table_of(&matched, "ambiguous", 0);
    assert_int_equal(ambiguous.row_count, 2);
    assert_int_equal(sheet_int_of(&ambiguous, 0, "members"), 2);
    assert_int_equal(sheet_int_of(&ambiguous, 0, "line"), 2);
    assert_int_equal(sheet_int_of(&ambiguous, 0, "self_ns"), 30);
    vv_sheet_deinit(&ambiguous);
    matched_end(&matched);
}

/* ---- of another module ---- */

static void another_module_is_refused(void **state)
{
    (void)state;
    static const struct { const char *module, *says; } cases[] = {
        { text, "0 of 2 names of the trace are in 'net.mlir', with 0.0 % of its time: it is a "
                "profile of another module, or of another version of it" },
        { "\"tf.Add\"() : () -> ()\n",
          "'net.mlir' has no locations, so 0 of 2 names of the trace are found in it: print it "
          "with --mlir-print-debuginfo, or with enable_debug_info=True" },
    };
    for (size_t i = 0; i < 2; i++) {
        struct matched matched;
        struct varve_error error;
        matched_begin(&matched, cases[i].module);
        matched_record(&matched, "q/r", "Mul", 50);
        matched_record(&matched, "q/s", "Mul", 50);
        matched_run(&matched, NULL);
        const struct vv_mlir_join join = { &matched.module, &matched.profile, &matched.matches };
        assert_int_equal(vv_mlir_check_profile(&join, &error), VARVE_INVALID);
        assert_string_equal(error.message, cases[i].says);
        matched_end(&matched);
    }
}

/* Less than half of the names and of the time, and of the three operations one or two measured. */
static void another_version_is_refused_unless_the_module_is_measured(void **state)
{
    (void)state;
    static const struct { const char *found; enum varve_code code; } cases[] = {
        { "a/x", VARVE_INVALID }, { "b/y", VARVE_OK },
    };
    for (size_t i = 0; i < 2; i++) {
        struct matched matched;
        struct varve_error error;
        matched_begin(&matched, text);
        matched_record(&matched, cases[i].found, i == 0 ? "MatMul" : "Relu", 30);
        matched_record(&matched, "q/r", "Mul", 30);
        matched_record(&matched, "q/s", "Mul", 40);
        matched_run(&matched, NULL);
        const struct vv_mlir_join join = { &matched.module, &matched.profile, &matched.matches };
        assert_int_equal(vv_mlir_check_profile(&join, &error), cases[i].code);
        if (i == 0)
            assert_string_equal(error.message,
                                "1 of 3 names of the trace are in 'net.mlir', with 30.0 % of its "
                                "time: it is a profile of another module, or of another version "
                                "of it");
        matched_end(&matched);
    }
}

static void another_version_is_said(void **state)
{
    (void)state;
    struct matched matched;
    char said[400];
    matched_begin(&matched, text);
    matched_record(&matched, "a/x", "MatMul", 50);
    matched_record(&matched, "q/s", "Mul", 50);
    matched_run(&matched, NULL);
    const struct vv_mlir_join join = { &matched.module, &matched.profile, &matched.matches };
    assert_int_equal(vv_mlir_check_profile(&join, NULL), VARVE_OK);
    vv_mlir_coverage_warning(&join, said, sizeof said);
    assert_string_equal(said, "only 50.0 % of the profile's time was found in 'net.mlir', which "
                              "may be another version of what ran: table unmatched has the rest");
    matched.profile.records[1].self_ns = 10;
    matched.profile.self_ns = 60;
    vv_mlir_coverage_warning(&join, said, sizeof said);
    assert_string_equal(said, "");
    matched_end(&matched);
}

/* ---- sums ---- */

static void rows_add_up(void **state)
{
    (void)state;
    srand(3);
    for (int run = 0; run < 100; run++) {
        struct matched matched;
        matched_begin(&matched, text);
        for (int i = rand() % 20; i > 0; i--) {
            static const char *const names[] = { "a/x", "b/y", "c/z", "d" };
            static const char *const types[] = { "MatMul", "Relu", "Mul" };
            matched_record(&matched, names[rand() % 4], types[rand() % 3], rand() % 50);
        }
        matched_run(&matched, NULL);
        int64_t left_ns = matched.profile.self_ns - matched.matches.matched_ns;
        for (int64_t top = 0; top < 3; top++) {
            struct vv_sheet levels = table_of(&matched, "coverage_levels", top);
            struct vv_sheet unmatched = table_of(&matched, "unmatched", top);
            struct vv_sheet ambiguous = table_of(&matched, "ambiguous", top);
            for (int is_total = 0; is_total < 2; is_total++) {
                assert_int_equal(sum_of(&levels, "time_ns", is_total), matched.profile.self_ns);
                assert_int_equal(sum_of(&levels, "ambiguous_ns", is_total),
                                 matched.matches.ambiguous_ns);
                assert_int_equal(sum_of(&unmatched, "self_ns", is_total), left_ns);
                assert_int_equal(sum_of(&ambiguous, "self_ns", is_total),
                                 matched.matches.ambiguous_ns);
            }
            vv_sheet_deinit(&levels);
            vv_sheet_deinit(&unmatched);
            vv_sheet_deinit(&ambiguous);
        }
        matched_end(&matched);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coverage_in_numbers),
        cmocka_unit_test(levels_and_what_is_left),
        cmocka_unit_test(another_module_is_refused),
        cmocka_unit_test(another_version_is_refused_unless_the_module_is_measured),
        cmocka_unit_test(another_version_is_said),
        cmocka_unit_test(rows_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
