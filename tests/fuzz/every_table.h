/* SPDX-License-Identifier: Apache-2.0 */
/* every_table.h — asks a model for tables, prints them in every form, compares it with itself and
 * exports it, as a fuzzer's bytes choose. Laws: an answer fails for a reason that it gives; JSON
 * parses; people's text has no control character of the trace's; rows of a table that adds up do;
 * nothing has changed between a model and itself. */
#ifndef VARVE_TESTS_EVERY_TABLE_H
#define VARVE_TESTS_EVERY_TABLE_H

#include <stdio.h>
#include <stdlib.h>

#include "analyse/diff/diff.h"
#include "analyse/tables.h"
#include "base/sum.h"
#include "base/text/json.h"
#include "draw.h"
#include "export/exporter.h"
#include "present/present.h"
#include "question/question.h"

#define HOLDS(condition)                                              \
    do {                                                              \
        if (!(condition)) {                                           \
            fprintf(stderr, "every_table: not so: %s\n", #condition); \
            abort();                                                  \
        }                                                             \
    } while (0)

static inline void json_parses(const char *text, size_t size)
{
    struct vv_json json;
    vv_json_init_text(&json, text, size);
    do
        HOLDS(vv_json_next(&json, NULL) == VARVE_OK);
    while (json.token != VV_JSON_END);
    vv_json_deinit(&json);
}

static inline void text_is_harmless(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        HOLDS((unsigned char)text[i] >= ' ' ? text[i] != 0x7f : text[i] == '\n');
}

/* ---- rows that add up to the row that says so ---- */

static const struct { const char *table, *column; } every_sum[] = {
    { "operators", "self_ns" },      { "operators", "calls" },        { "kernels", "calls" },
    { "kernels", "total_ns" },       { "copies", "copies" },          { "copies", "bytes" },
    { "copies", "total_ns" },        { "idle_streams", "idle_ns" },   { "devices", "idle_ns" },
    { "devices", "computation_ns" }, { "launches", "calls" },         { "waits", "wait_ns" },
    { "critical_ops", "time_ns" },   { "memory_peak", "live_bytes" },
    { "phases", "total_ns" },        { "syncs", "total_ns" },         { "call_tree", "self_ns" },
    { "marks", "marks" },            { "counters", "values" },
    { "counter_values", "values" },
    { "async", "calls" },            { "flows", "flows" },
    { "collective_kinds", "calls" },
};

static inline void rows_add_up(const struct vv_sheet *sheet, size_t column)
{
    int64_t sum = 0, total = 0;
    bool has_total = false, is_beyond = false;
    for (size_t row = 0; row < sheet->row_count; row++) {
        const struct vv_cell *cell = vv_sheet_cell(sheet, row, column);
        int64_t value = cell->present ? cell->integer : 0;
        is_beyond = is_beyond || value == INT64_MAX;
        if (sheet->kinds[row] == VV_ROW_TOTAL) {
            HOLDS(!has_total); /* one total a table: else these lines know nothing of it        */
            has_total = true;
            total = value;
        } else {
            sum = vv_sum(sum, value);
        }
    }
    if (has_total && !is_beyond && sum != total)
        fprintf(stderr, "every_table: %s.%s: %lld in rows, %lld in all\n", sheet->name,
                sheet->columns[column].name, (long long)sum, (long long)total);
    HOLDS(!has_total || is_beyond || sum == total);
}

static inline void sums_hold(const struct vv_sheet *sheet)
{
    for (size_t i = 0; i < sizeof every_sum / sizeof *every_sum; i++) {
        size_t column = strcmp(every_sum[i].table, sheet->name) == 0
                            ? vv_sheet_find(sheet, every_sum[i].column)
                            : SIZE_MAX;
        if (column != SIZE_MAX)
            rows_add_up(sheet, column);
    }
}

/* ---- one table ---- */

static inline void present_in_every_form(const struct vv_sheet *sheet, unsigned how)
{
    static const char *const units[] = { "auto", "ns", "us", "ms", "s" };
    static const int widths[] = { 80, 20, 0, 200 };
    const struct vv_sheet *sheets[] = { sheet };
    for (int form = VV_FORM_TEXT; form <= VV_FORM_MD; form++) {
        struct vv_presentation presentation = {
            .form = (enum vv_form)form, .schema = "varve.report/1", .trace = "made",
            .unit = units[how % 5], .fluid = how % 3 == 1 ? "total time" : NULL,
            .terminal = how % 2 != 0, .width = widths[how / 8 % 4],
        };
        char *text = NULL;
        size_t size;
        FILE *stream = open_memstream(&text, &size);
        HOLDS(stream != NULL && vv_present(stream, &presentation, sheets, 1, NULL) == VARVE_OK);
        fclose(stream);
        if (form == VV_FORM_JSON)
            json_parses(text, size);
        if (form == VV_FORM_TEXT)
            text_is_harmless(text, size);
        free(text);
    }
}

static inline void look_at_sheet(enum varve_code code, struct vv_sheet *sheet,
                                 const struct varve_error *error, unsigned how)
{
    if (code != VARVE_OK) {
        HOLDS(code == error->code && error->message[0] != '\0');
        return;
    }
    sums_hold(sheet);
    present_in_every_form(sheet, how);
    vv_sheet_deinit(sheet);
}

/* ---- all that can be asked ---- */

static inline void draw_question(struct draw *draw, struct vv_question *question)
{
    static const char *const bys[] = { NULL, NULL, "op", "name", "shape", "module", "source",
                                       "phase", "stream", "thread", "layer", "rank", "step",
                                       "use" };
    static const char *const filters[] = { "self>1us", "name~'*m*'", "calls>1 || total<1ms",
                                           "device=='cuda:0'", "step!=1" };
    static const char *const sorts[] = { "calls", "median", "name", "total" };
    static const char *const scales[] = { "4", "aten::mm=4;0.5", "*=1e300", "0" };
    static const int64_t tops[] = { 0, 1, 3, INT64_MAX };
    unsigned chosen = draw_byte(draw) | draw_byte(draw) << 8;
    question->by = DRAW_FROM(draw, bys);
    question->top = tops[chosen & 3];
    question->full = chosen & 4;
    question->compat = chosen & 8 ? "hta" : NULL;
    question->annotation = (chosen & 0x30) == 0x10   ? ""
                           : (chosen & 0x30) == 0x20 ? "ProfilerStep#1"
                                                     : NULL;
    question->instance = chosen & 0x40 ? draw_number(draw) : 0;
    question->selection.warm_up = chosen & 0x80;
    question->selection.filter = chosen & 0x100 ? DRAW_FROM(draw, filters) : NULL;
    question->sort = chosen & 0x200 ? DRAW_FROM(draw, sorts) : NULL;
    question->scale = chosen & 0x400 ? DRAW_FROM(draw, scales) : NULL;
    question->selection.rank = chosen & 0x800 ? "0,2..5" : NULL;
    question->selection.device = chosen & 0x1000 ? "cuda" : NULL;
    question->selection.thread = chosen & 0x2000 ? "1" : NULL;
    if (chosen & 0x4000) {
        question->selection.first_step = draw_number(draw);
        question->selection.last_step = draw_number(draw);
    }
}

static inline void compare_with_itself(const struct vv_model *model,
                                       const struct vv_question *question, unsigned how)
{
    const struct vv_side sides[VV_SIDES] = { { model, question->selection, "a" },
                                             { model, question->selection, "b" } };
    for (const struct vv_diff_entry *table = vv_diff_tables; table->name != NULL; table++) {
        struct vv_sheet sheet;
        struct varve_error error = { 0 };
        enum varve_code code = vv_diff(table->analyse, sides, question, &sheet, &error);
        size_t change = code == VARVE_OK ? vv_sheet_find(&sheet, "change_ns") : SIZE_MAX;
        for (size_t row = 0; change != SIZE_MAX && row < sheet.row_count; row++) {
            const struct vv_cell *cell = vv_sheet_cell(&sheet, row, change);
            HOLDS(!cell->present || cell->integer == 0);
        }
        look_at_sheet(code, &sheet, &error, how);
    }
}

static inline void export_it(const struct vv_model *model)
{
    struct vv_export_counts counts = { 0 };
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    HOLDS(stream != NULL && vv_exporter_chrome.write(model, "-", stream, &counts, NULL) ==
                                VARVE_OK);
    fclose(stream);
    json_parses(text, size);
    HOLDS(counts.slices == model->slices.table.count &&
          counts.memory_events == model->memory.table.count);
    free(text);
    counts = (struct vv_export_counts){ 0 };
    stream = open_memstream(&text, &size);
    HOLDS(stream != NULL);
    enum varve_code code = vv_exporter_pgle.write(model, "x.pb", stream, &counts, NULL);
    HOLDS(code == (counts.costs > 0 ? VARVE_OK : VARVE_UNSUPPORTED));
    fclose(stream);
    HOLDS((size > 0) == (counts.costs > 0));
    free(text);
}

/* One table that the first byte drawn names, or all of them, a comparison and an export. */
static inline void ask_every_table(const struct vv_model *model, struct draw *draw)
{
    struct vv_question question = VV_QUESTION_ALL;
    unsigned wanted = draw_byte(draw), how = draw_byte(draw), number = 0;
    bool is_all = wanted >= 192;
    draw_question(draw, &question);
    for (const struct vv_table_entry *table = vv_tables; table->name != NULL; table++)
        number++;
    for (unsigned i = is_all ? 0 : wanted % number; i < (is_all ? number : wanted % number + 1);
         i++) {
        struct vv_sheet sheet;
        struct varve_error error = { 0 };
        look_at_sheet(vv_analyse(vv_tables[i].analyse, model, &question, &sheet, &error), &sheet,
                      &error, how);
    }
    if (is_all || wanted % 8 == 1)
        compare_with_itself(model, &question, how);
    if (is_all || wanted % 8 == 2)
        export_it(model);
}

#endif
