/* SPDX-License-Identifier: Apache-2.0 */
/* One sheet in its four forms, byte for byte; fields; cells that would steer a terminal. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "present/present.h"

static const struct vv_sheet_column columns[] = {
    { "self_ns", "self", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "share", "share", VV_CELL_REAL, VV_UNIT_RATIO, false, true },
    { "calls", "calls", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "begin_ns", "begin", VV_CELL_INT, VV_UNIT_TIME, true, false },
    { "flop_per_s", "rate", VV_CELL_REAL, VV_UNIT_FLOP_PER_S, false, false },
    { "name", "operator", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
};
enum { SELF, SHARE, CALLS, BEGIN, RATE, NAME, COLUMNS };

static struct vv_sheet sheet;
static char *printed;
static struct varve_error error;

static void add_row(enum vv_row_kind kind, int64_t self_ns, double share, const char *name)
{
    size_t row;
    assert_int_equal(vv_sheet_row(&sheet, kind, &row, NULL), VARVE_OK);
    vv_sheet_int(&sheet, row, SELF, self_ns);
    vv_sheet_real(&sheet, row, SHARE, share);
    assert_int_equal(vv_sheet_text(&sheet, row, NAME, name, NULL), VARVE_OK);
}

static int set_up(void **state)
{
    (void)state;
    setenv("TZ", "UTC0", 1);
    tzset();
    vv_sheet_init(&sheet, "operators", "OPERATORS", columns, COLUMNS);
    vv_sheet_policy(&sheet, NULL, "self time of 2 steps");
    add_row(VV_ROW_PLAIN, 629400000, 0.629, "conv2d");
    vv_sheet_int(&sheet, 0, CALLS, 1204);
    vv_sheet_int(&sheet, 0, BEGIN, INT64_C(1763719200123456789));
    vv_sheet_real(&sheet, 0, RATE, 208e9);
    add_row(VV_ROW_TOTAL, 1000000000, 1, "total");
    add_row(VV_ROW_REMAINDER, 370599999, 0.3709, "3 more: --top 0");
    add_row(VV_ROW_PLAIN, 1, 0.0001, "a,\"b\"|c");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    vv_sheet_deinit(&sheet);
    free(printed);
    printed = NULL;
    return 0;
}

static struct vv_presentation how_to(enum vv_form form)
{
    return (struct vv_presentation){
        .form = form, .schema = "varve.report/1", .trace = "a.varve", .unit = "auto"
    };
}

static enum varve_code print(const struct vv_presentation *how)
{
    const struct vv_sheet *sheets[] = { &sheet };
    size_t length;
    free(printed);
    printed = NULL;
    FILE *stream = open_memstream(&printed, &length);
    enum varve_code code = vv_present(stream, how, sheets, 1, &error);
    fclose(stream);
    return code;
}

static void text_aligns_and_puts_the_total_last(void **state)
{
    (void)state;
    struct vv_presentation how = how_to(VV_FORM_TEXT);
    assert_int_equal(print(&how), VARVE_OK);
    assert_string_equal(printed, "OPERATORS      self time of 2 steps\n"
                                 "    self   share %   calls          rate   operator\n"
                                 "  629 ms      62.9    1204   208 GFLOP/s   conv2d\n"
                                 "    1 ns      <0.1       –             –   a,\"b\"|c\n"
                                 "  371 ms      37.1       –             –   3 more: --top 0\n"
                                 "  1.00 s     100.0       –             –   total\n");
}

/* Three digits of the largest; whole numbers stay whole. */
static void plain_reals_have_the_decimals_of_their_column(void **state)
{
    (void)state;
    static const struct vv_sheet_column plain[] = {
        { "factor", "faster", VV_CELL_REAL, VV_UNIT_NONE, false, false },
        { "speedup", "speed-up", VV_CELL_REAL, VV_UNIT_NONE, false, false },
    };
    const double speedups[] = { 1.5007, 1.0861, 0.001, NAN };
    vv_sheet_deinit(&sheet);
    vv_sheet_init(&sheet, "what_if", "WHAT IF", plain, 2);
    for (size_t i = 0; i < 4; i++) {
        size_t row;
        assert_int_equal(vv_sheet_row(&sheet, VV_ROW_PLAIN, &row, NULL), VARVE_OK);
        vv_sheet_real(&sheet, row, 0, 2);
        vv_sheet_real(&sheet, row, 1, speedups[i]);
    }
    struct vv_presentation how = how_to(VV_FORM_TEXT);
    assert_int_equal(print(&how), VARVE_OK);
    assert_string_equal(printed, "WHAT IF\n"
                                 "  faster   speed-up\n"
                                 "       2       1.50\n"
                                 "       2       1.09\n"
                                 "       2      <0.01\n"
                                 "       2          –\n");
}

static void text_keeps_the_unit_asked_for(void **state)
{
    (void)state;
    struct vv_presentation how = how_to(VV_FORM_TEXT);
    how.unit = "ns";
    how.fields = "self,name";
    how.fields_table = "operators";
    assert_int_equal(print(&how), VARVE_OK);
    assert_string_equal(printed, "OPERATORS      self time of 2 steps\n"
                                 "     self ns   operator\n"
                                 "   629400000   conv2d\n"
                                 "           1   a,\"b\"|c\n"
                                 "   370599999   3 more: --top 0\n"
                                 "  1000000000   total\n");
}

static void a_terminal_gets_bars_colour_and_a_cut_name(void **state)
{
    (void)state;
    struct vv_presentation how = how_to(VV_FORM_TEXT);
    how.terminal = how.color = true;
    how.width = 27;
    how.fields = "name,share";
    how.fields_table = "operators";
    assert_int_equal(print(&how), VARVE_OK);
    assert_string_equal(printed, "\033[1mOPERATORS\033[0m      \033[2mself time of 2 steps\033[0m\n"
                                 "\033[2m  operator          share %\033[0m\n"
                                 "  conv2d               62.9\n"
                                 "  a,\"b\"|c              <0.1\n"
                                 "\033[2m  3 more: --top 0      37.1\033[0m\n"
                                 "  total               100.0\n");
    how.width = 37;
    how.color = false;
    assert_int_equal(print(&how), VARVE_OK);
    assert_non_null(strstr(printed, "  conv2d               62.9  █████\n"));
    assert_non_null(strstr(printed, "  3 more: --top 0      37.1  ███\n"));
    how.width = 23;
    assert_int_equal(print(&how), VARVE_OK);
    assert_non_null(strstr(printed, "  3 more…top 0     37.1\n"));
}

static void a_narrow_terminal_goes_without_columns(void **state)
{
    (void)state;
    struct vv_sheet_column some[COLUMNS];
    struct vv_presentation how = how_to(VV_FORM_TEXT);
    memcpy(some, columns, sizeof some);
    some[SHARE].in_text = some[CALLS].in_text = some[RATE].in_text = VV_TEXT_IF_ROOM;
    sheet.columns = some;
    how.terminal = true;
    static const struct { int width; const char *titles; } cases[] = {
        { 60, "    self   share %   calls          rate   operator\n" },
        { 55, "    self  share %  calls         rate  operator\n" },
        { 45, "    self  share %  calls  operator\n" },
        { 37, "    self  share %  operator\n" },
        { 20, "    self  operator\n" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        how.width = cases[i].width;
        assert_int_equal(print(&how), VARVE_OK);
        assert_non_null(strstr(printed, cases[i].titles));
    }
    how.fields = "self,share,calls,name"; /* who names them has them */
    how.fields_table = "operators";
    assert_int_equal(print(&how), VARVE_OK);
    assert_non_null(strstr(printed, "    self  share %  calls  operator\n"));
}

static void what_needs_much_room_goes_first(void **state)
{
    (void)state;
    struct vv_sheet_column some[COLUMNS];
    struct vv_presentation how = how_to(VV_FORM_TEXT);
    memcpy(some, columns, sizeof some);
    some[SHARE].in_text = VV_TEXT_IF_MUCH_ROOM;
    some[CALLS].in_text = some[RATE].in_text = VV_TEXT_IF_ROOM;
    sheet.columns = some;
    how.terminal = true;
    how.width = 49;
    assert_int_equal(print(&how), VARVE_OK);
    assert_non_null(strstr(printed, "    self  calls         rate  operator\n"));
    how.width = 36;
    assert_int_equal(print(&how), VARVE_OK);
    assert_non_null(strstr(printed, "    self  calls  operator\n"));
}

static void a_sentence_is_broken_at_blanks_on_a_terminal(void **state)
{
    (void)state;
    struct vv_presentation how = how_to(VV_FORM_TEXT);
    how.fields = "name,share";
    how.fields_table = "operators";
    how.width = 34;
    assert_int_equal(print(&how), VARVE_OK);
    assert_non_null(strstr(printed, "OPERATORS      self time of 2 steps\n"));
    how.terminal = true;
    assert_int_equal(print(&how), VARVE_OK);
    assert_non_null(strstr(printed, "OPERATORS      self time of 2\n               steps\n"));
    how.width = 35;
    assert_int_equal(print(&how), VARVE_OK);
    assert_non_null(strstr(printed, "OPERATORS      self time of 2 steps\n"));
}

static void a_row_that_is_alone_has_the_shape_of_several_where_there_is_room(void **state)
{
    (void)state;
    struct vv_presentation how = how_to(VV_FORM_TEXT);
    const char *table = "OPERATORS      self time of 2 steps\n"
                        "    self   share %   calls          rate   operator\n"
                        "  629 ms      62.9    1204   208 GFLOP/s   conv2d\n";
    sheet.row_count = 1;
    assert_int_equal(print(&how), VARVE_OK);
    assert_string_equal(printed, table);
    how.terminal = true;
    how.width = 60;
    assert_int_equal(print(&how), VARVE_OK);
    assert_string_equal(printed, table);
    how.width = 30;
    assert_int_equal(print(&how), VARVE_OK);
    assert_non_null(strstr(printed, "  calls        1204\n"));
}

static void a_record_is_printed_as_lines(void **state)
{
    (void)state;
    struct vv_presentation how = how_to(VV_FORM_TEXT);
    how.fields = "+begin_ns";
    how.fields_table = "operators";
    sheet.row_count = 1;
    sheet.is_record = true;
    assert_int_equal(print(&how), VARVE_OK);
    assert_string_equal(printed, "OPERATORS      self time of 2 steps\n"
                                 "  self         629 ms\n"
                                 "  share        62.9 %\n"
                                 "  calls        1204\n"
                                 "  begin        2025-11-21 10:00:00 +0000\n"
                                 "  rate         208 GFLOP/s\n"
                                 "  operator     conv2d\n");
}

static void no_row_leaves_the_heading(void **state)
{
    (void)state;
    struct vv_presentation how = how_to(VV_FORM_TEXT);
    sheet.row_count = 0;
    assert_int_equal(print(&how), VARVE_OK);
    assert_string_equal(printed, "OPERATORS      self time of 2 steps\n");
}

static void json_holds_every_column_and_digit(void **state)
{
    (void)state;
    struct vv_presentation how = how_to(VV_FORM_JSON);
    sheet.row_count = 2;
    vv_sheet_real(&sheet, 1, RATE, INFINITY);
    assert_int_equal(print(&how), VARVE_OK);
    assert_string_equal(
        printed,
        "{\"schema\": \"varve.report/1\", \"trace\": \"a.varve\", \"tables\": {\n"
        "  \"operators\": {\n"
        "    \"columns\": [\n"
        "      {\"name\": \"self_ns\", \"unit\": \"ns\", \"type\": \"int\"},\n"
        "      {\"name\": \"share\", \"unit\": \"1\", \"type\": \"real\"},\n"
        "      {\"name\": \"calls\", \"unit\": \"count\", \"type\": \"int\"},\n"
        "      {\"name\": \"begin_ns\", \"unit\": \"ns\", \"type\": \"int\"},\n"
        "      {\"name\": \"flop_per_s\", \"unit\": \"flop/s\", \"type\": \"real\"},\n"
        "      {\"name\": \"name\", \"unit\": \"\", \"type\": \"text\"}\n"
        "    ],\n"
        "    \"rows\": [\n"
        "      [629400000, 0.629, 1204, 1763719200123456789, 2.08e+11, \"conv2d\"],\n"
        "      [1000000000, 1, null, null, null, \"total\"]\n"
        "    ]\n"
        "  }\n"
        "}}\n");
}

static void csv_quotes_what_must_be(void **state)
{
    (void)state;
    struct vv_presentation how = how_to(VV_FORM_CSV);
    assert_int_equal(print(&how), VARVE_OK);
    assert_string_equal(printed, "self_ns,share,calls,begin_ns,flop_per_s,name\n"
                                 "629400000,0.629,1204,1763719200123456789,2.08e+11,conv2d\n"
                                 "1000000000,1,,,,total\n"
                                 "370599999,0.3709,,,,3 more: --top 0\n"
                                 "1,0.0001,,,,\"a,\"\"b\"\"|c\"\n");
}

static void csv_heads_each_of_several_tables(void **state)
{
    (void)state;
    struct vv_presentation how = how_to(VV_FORM_CSV);
    const struct vv_sheet *sheets[] = { &sheet, &sheet };
    size_t length;
    how.fields = "name";
    how.fields_table = "operators";
    sheet.row_count = 1;
    FILE *stream = open_memstream(&printed, &length);
    assert_int_equal(vv_present(stream, &how, sheets, 2, &error), VARVE_OK);
    fclose(stream);
    assert_string_equal(printed, "# operators\nname\nconv2d\n\n# operators\nname\nconv2d\n");
}

static void markdown_escapes_what_it_would_take(void **state)
{
    (void)state;
    struct vv_presentation how = how_to(VV_FORM_MD);
    how.fields = "name,self_ns";
    how.fields_table = "operators";
    assert_int_equal(print(&how), VARVE_OK);
    assert_string_equal(printed, "## OPERATORS\n\nself time of 2 steps\n\n"
                                 "| operator | self |\n| --- | ---: |\n"
                                 "| conv2d | 629 ms |\n| total | 1.00 s |\n"
                                 "| 3 more: --top 0 | 371 ms |\n| a,\"b\"\\|c | 1 ns |\n");
}

static void fields_are_taken_from_and_added_to(void **state)
{
    (void)state;
    struct vv_presentation how = how_to(VV_FORM_CSV);
    how.fields = "-share,-begin_ns,-flop_per_s,-calls";
    how.fields_table = "operators";
    sheet.row_count = 0;
    assert_int_equal(print(&how), VARVE_OK);
    assert_string_equal(printed, "self_ns,name\n");
    how.fields = "name,calls,name";
    assert_int_equal(print(&how), VARVE_OK);
    assert_string_equal(printed, "name,calls\n");
}

static void an_unknown_field_names_the_nearest(void **state)
{
    (void)state;
    struct vv_presentation how = how_to(VV_FORM_TEXT);
    how.fields = "name,cals";
    how.fields_table = "operators";
    assert_int_equal(print(&how), VARVE_INVALID);
    assert_string_equal(error.message, "table 'operators' has no column 'cals'. Nearest: calls");
    how.fields = "name,,calls";
    assert_int_equal(print(&how), VARVE_INVALID);
    how.fields = "name";
    how.fields_table = "steps";
    assert_int_equal(print(&how), VARVE_INVALID);
}

static void a_name_cannot_steer_the_terminal(void **state)
{
    (void)state;
    struct vv_presentation how = how_to(VV_FORM_TEXT);
    how.fields = "name";
    how.fields_table = "operators";
    sheet.row_count = 2;
    vv_sheet_text(&sheet, 0, NAME, "a\033[2Jb\nc\xff\xc2\x9b", NULL);
    assert_int_equal(print(&how), VARVE_OK);
    assert_non_null(strstr(printed, "  a\xEF\xBF\xBD[2Jb\xEF\xBF\xBD"
                                    "c\xEF\xBF\xBD\xEF\xBF\xBD\n"));
    assert_null(strchr(printed, '\033'));
}

static void a_full_disk_is_an_error(void **state)
{
    (void)state;
    struct vv_presentation how = how_to(VV_FORM_JSON);
    const struct vv_sheet *sheets[] = { &sheet };
    FILE *stream = fopen("/dev/full", "w");
    assert_non_null(stream);
    assert_int_equal(vv_present(stream, &how, sheets, 1, &error), VARVE_IO);
    assert_string_equal(error.message, "cannot write the result: No space left on device");
    fclose(stream);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(text_aligns_and_puts_the_total_last),
        TEST(plain_reals_have_the_decimals_of_their_column),
        TEST(text_keeps_the_unit_asked_for),
        TEST(a_terminal_gets_bars_colour_and_a_cut_name),
        TEST(a_narrow_terminal_goes_without_columns),
        TEST(what_needs_much_room_goes_first),
        TEST(a_sentence_is_broken_at_blanks_on_a_terminal),
        TEST(a_row_that_is_alone_has_the_shape_of_several_where_there_is_room),
        TEST(a_record_is_printed_as_lines),
        TEST(no_row_leaves_the_heading),
        TEST(json_holds_every_column_and_digit),
        TEST(csv_quotes_what_must_be),
        TEST(csv_heads_each_of_several_tables),
        TEST(markdown_escapes_what_it_would_take),
        TEST(fields_are_taken_from_and_added_to),
        TEST(an_unknown_field_names_the_nearest),
        TEST(a_name_cannot_steer_the_terminal),
        TEST(a_full_disk_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
