/* SPDX-License-Identifier: Apache-2.0 */
/* Filters: what they let through, and in which column of a wrong one something else was wanted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyse/answer.h"
#include "derive/select/filter.h"
#include "handmade_device.h"
#include "question/question.h"

/* Rows after finishing: 0 step, 1 conv2d, 2 launch, 3 relu, 4 relu (train); 5 sgemm, 6 stray
 * (stream 7). */
static struct vv_model *small(void)
{
    struct vv_model *model = handmade_model();
    uint32_t train = handmade_track(model, "train", 100), seven = handmade_stream(model, 1, 7);
    handmade_step(model, train, 4, 0, 1000);
    uint32_t conv = handmade_op(model, train, "conv2d", 100, 400);
    handmade_call(model, train, "launch", 9, 150, 160);
    handmade_op(model, train, "relu", 500, 600);
    handmade_op(model, train, "relu", 1500, 4000);
    handmade_work(model, seven, "sgemm", 9, 200, 900);
    handmade_work(model, seven, "stray", 0, 2000, 2100);
    uint32_t op = handmade_arguments(model, conv, 0, -1, 0);
    model->ops.shapes[op] = handmade_text(model, "[2,3] f32");
    model->slices.category[conv] = handmade_text(model, "cpu_op");
    handmade_finish(model);
    return model;
}

/* The rows that are let through, as digits. */
static void assert_admits(const struct vv_model *model, const char *text, const char *expected)
{
    struct vv_scratch scratch = { 0 };
    static const int64_t ranks[] = { 3 };
    struct vv_filter filter;
    struct varve_error error = { 0 };
    bool *admitted;
    char rows[16] = "";
    size_t length = 0;
    if (vv_filter_compile(text, &filter, &error) != VARVE_OK)
        fail_msg("%s", error.message);
    assert_int_equal(vv_filter_apply(&filter, model, ranks, &scratch, &admitted, NULL), VARVE_OK);
    for (uint32_t row = 0; row < model->slices.table.count; row++)
        if (admitted[row])
            rows[length++] = (char)('0' + row);
    if (strcmp(rows, expected) != 0)
        fail_msg("%s admits %s, not %s", text, rows, expected);
    vv_scratch_deinit(&scratch);
}

static void slices_are_compared(void **state)
{
    (void)state;
    struct vv_model *model = small();
    static const struct { const char *text, *rows; } cases[] = {
        { "name=='relu'", "34" },
        { "name == \"relu\"", "34" },
        { "name!='relu'", "01256" },
        { "name~'*e*'", "0345" },
        { "name~'?elu'", "34" },
        { "name~''", "" },
        { "name~'*'", "0123456" },
        { "category=='cpu_op'", "1" },
        { "category!='cpu_op'", "023456" },
        { "category~'*'", "1" },
        { "op=='conv2d'", "15" },
        { "thread=='train'", "01234" },
        { "layer=='DEVICE'", "56" },
        { "layer=='RUNTIME' || layer=='STEP'", "02" },
        { "shape~'*f32'", "15" },
        { "device=='cuda:1'", "156" },
        { "stream==7", "156" },
        { "stream!=7", "0234" },
        { "rank==3", "0123456" },
        { "rank=='3'", "0123456" },
        { "rank<3", "" },
        { "duration>100ns", "0145" },
        { "duration>=100", "013456" },
        { "duration>=2.5us", "4" },
        { "duration<0.001ms", "12356" },
        { "self==100ns", "36" },
        { "calls>1", "34" },
        { "step==4", "01235" },
        { "step!=4", "46" },
        { "depth>=1 && step==4", "123" },
        { "correlation==9", "25" },
        { "duration>1s || name=='stray'", "6" },
        { "!name=='relu'", "01256" },
        { "!!name=='relu'", "34" },
        { "!(name=='relu' || name=='stray')", "0125" },
        { "name=='relu' && duration>1us || name=='stray'", "46" },
        { "name=='relu' && (duration>1us || name=='stray')", "4" },
        { " name\t==\n'relu' ", "34" },
        { "name=='relu' && duration<1.5min", "34" },
        { "name=='relu' && duration>0.5h", "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_admits(model, cases[i].text, cases[i].rows);
    vv_model_destroy(model);
}

static void patterns_stand_for_anything(void **state)
{
    (void)state;
    static const struct { const char *text, *pattern; bool matches; } cases[] = {
        { "", "", true },          { "", "*", true },          { "", "?", false },
        { "conv", "conv", true },  { "conv", "con", false },   { "con", "conv", false },
        { "conv2d", "conv*", true }, { "aten::conv", "conv*", false },
        { "aten::conv2d", "*conv*", true },
        { "aab", "*ab", true },    { "aaaaaaaa", "*a*a*a*b", false }, { "a*b", "a*b", true },
        { "[x]", "[?]", true },    { "abcabc", "a*c", true },  { "abcabd", "a*c", false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(vv_filter_like(cases[i].text, cases[i].pattern, strlen(cases[i].pattern)),
                         cases[i].matches);
}

static void what_is_wrong_is_said_with_its_column(void **state)
{
    (void)state;
    static const struct { const char *text, *message;
    } cases[] = {
        { "",
          "column 1 of the filter '': wanted is a comparison, such as name~'conv*' or self>1ms" },
        { "nam=='x'", "column 1 of the filter 'nam=='x'': a slice has no 'nam'. Nearest: name" },
        { "name", "column 5 of the filter 'name': wanted is one of == != ~ < <= > >=" },
        { "name=x", "column 5 of the filter 'name=x': wanted is one of == != ~ < <= > >=" },
        { "name==x",
          "column 7 of the filter 'name==x': name compares with a text in quotes, such as "
          "name~'conv*'" },
        { "name<'x'", "column 5 of the filter 'name<'x'': texts compare by ==, != and ~" },
        { "name=='x", "column 7 of the filter 'name=='x': this text has no second '" },
        { "self~1", "column 5 of the filter 'self~1': numbers compare by == != < <= > >=" },
        { "self>'1'", "column 6 of the filter 'self>'1'': self compares with a number, without "
                      "quotes" },
        { "self>ms", "column 6 of the filter 'self>ms': wanted is a whole number and a unit, such "
                     "as 1.5ms" },
        { "self>1m",
          "column 7 of the filter 'self>1m': a unit is one of ns, us, ms, s, min and h" },
        { "self>1.", "column 6 of the filter 'self>1.': wanted is a whole number and a unit, such "
                     "as 1.5ms" },
        { "self>1.5ns", "column 8 of the filter 'self>1.5ns': too many digits: less than one "
                        "nanosecond" },
        { "self>1.0001us", "column 11 of the filter 'self>1.0001us': too many digits: less than "
                           "one nanosecond" },
        { "self>9223372036854775808",
          "column 6 of the filter 'self>9223372036854775808': too large a number" },
        { "self>9223372037s", "column 6 of the filter 'self>9223372037s': too large a number" },
        { "calls>1ms", "column 8 of the filter 'calls>1ms': this number has no unit" },
        { "(self>1", "column 8 of the filter '(self>1': wanted is the ) of the ( in column 1" },
        { "self>1)", "column 7 of the filter 'self>1)': wanted is && or || or the end, as in "
                    "self>1ms && name~'conv*'" },
        { "self>1 &&", "column 10 of the filter 'self>1 &&': wanted is a comparison, such as "
                       "name~'conv*' or self>1ms" },
        { "self>1 and self<2",
          "column 8 of the filter 'self>1 and self<2': wanted is && or || or the end, as in "
          "self>1ms && name~'conv*'" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vv_filter filter;
        struct varve_error error = { 0 };
        assert_int_equal(vv_filter_compile(cases[i].text, &filter, &error), VARVE_INVALID);
        assert_string_equal(error.message, cases[i].message);
    }
}

static void the_largest_number_is_a_number(void **state)
{
    (void)state;
    struct vv_filter filter;
    assert_int_equal(vv_filter_compile("self<=9223372036854775807 && self>9223372036.854775807s",
                                       &filter, NULL),
                     VARVE_OK);
    assert_true(filter.nodes[0].value == INT64_MAX && filter.nodes[1].value == INT64_MAX);
    assert_int_equal(vv_filter_compile("self>0.000001s", &filter, NULL), VARVE_OK);
    assert_int_equal(filter.nodes[0].value, 1000);
}

static void size_and_depth_have_limits(void **state)
{
    (void)state;
    char text[4096] = "";
    struct vv_filter filter;
    for (int i = 0; i < 33; i++)
        strcat(text, "self>1 && ");
    strcat(text, "self>1");
    assert_int_equal(vv_filter_compile(text, &filter, NULL), VARVE_INVALID);
    /* 32 comparisons, 31 operators */
    assert_int_equal(vv_filter_compile(text + 10 * 2, &filter, NULL), VARVE_OK);
    memset(text, '!', 33);
    strcpy(text + 33, "self>1");
    assert_int_equal(vv_filter_compile(text, &filter, NULL), VARVE_INVALID);
    assert_int_equal(vv_filter_compile(text + 1, &filter, NULL), VARVE_OK);
}

/* ---- in tables ---- */

static void tables_leave_out_the_rest(void **state)
{
    (void)state;
    struct vv_model *model = small();
    struct vv_question question = VV_QUESTION_ALL;
    struct vv_sheet sheet;
    struct vv_table_task task = { .is_alone = true };
    question.selection.filter = "name=='conv2d'";
    assert_int_equal(vv_table_find("operators", &task.table, NULL), VARVE_OK);
    assert_int_equal(vv_tables_answer(&task, 1, model, &question, NULL), VARVE_OK);
    sheet = task.sheet;
    assert_int_equal(sheet.row_count, 3);
    assert_int_equal(sheet_int_of(&sheet, 0, "self_ns"), 290);
    /* though sgemm is not called so */
    assert_int_equal(sheet_int_of(&sheet, 0, "device_self_ns"), 700);
    assert_string_equal(sheet_cell_of(&sheet, 1, "name")->text, "(outside the filter)");
    assert_int_equal(sheet_int_of(&sheet, 1, "self_ns") + 290, sheet_int_of(&sheet, 2, "self_ns"));
    assert_non_null(strstr(sheet.policy, "; only name=='conv2d'"));
    vv_sheet_deinit(&sheet);
    assert_int_equal(vv_analyse(vv_analyse_kernels, model, &question, &sheet, NULL), VARVE_OK);
    assert_int_equal(sheet.row_count, 0);
    vv_sheet_deinit(&sheet);
    question.selection.filter = "op=='conv2d'";
    assert_int_equal(vv_analyse(vv_analyse_kernels, model, &question, &sheet, NULL), VARVE_OK);
    assert_string_equal(sheet_cell_of(&sheet, 0, "name")->text, "sgemm");
    assert_int_equal(sheet.row_count, 2);
    vv_sheet_deinit(&sheet);
    assert_int_equal(vv_analyse(vv_analyse_call_tree, model, &question, &sheet, NULL), VARVE_OK);
    assert_int_equal(sheet.row_count, 3);
    vv_sheet_deinit(&sheet);
    assert_int_equal(vv_analyse(vv_analyse_devices, model, &question, &sheet, NULL), VARVE_OK);
    assert_int_equal(sheet_int_of(&sheet, 0, "busy_ns"), 700);
    vv_sheet_deinit(&sheet);
    question.selection.filter = "op=";
    assert_int_equal(vv_analyse(vv_analyse_kernels, model, &question, &sheet, NULL), VARVE_INVALID);
    vv_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_are_compared),
        cmocka_unit_test(patterns_stand_for_anything),
        cmocka_unit_test(what_is_wrong_is_said_with_its_column),
        cmocka_unit_test(the_largest_number_is_a_number),
        cmocka_unit_test(size_and_depth_have_limits),
        cmocka_unit_test(tables_leave_out_the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
