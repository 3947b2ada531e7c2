/* SPDX-License-Identifier: Apache-2.0 */
/* fluid.c — prints table "event_summary" as PaddlePaddle Fluid's profiler prints its report: the
 * report of all threads if there are several, then that of each thread.
 *
 * The layout is Fluid's to the blank, but for two things: a cell that fills its column still has a
 * blank behind it, and a column of names has an upper limit, so that one long name does not widen
 * every line. Shares go through a float, as Fluid's do. */
#include <math.h>
#include <string.h>

#include "present/forms.h"
#include "present/glyphs.h"
#include "sheet/number.h"

#define DATA_WIDTH 12
#define LABEL_WIDTH 25
#define NAME_ROOM 8
#define NAME_WIDTH_MAX 400
#define INDENT 2
#define CELL_BYTES 800 /* two numbers of 309 digits */

enum { REPORT, EVENT, CALLS, TOTAL, CPU, GPU, MIN, MAX, RATIO, DEPTH, COLUMNS };
static const char *const column_names[COLUMNS] = { "report", "event",  "calls",  "total_ns",
                                                   "cpu_ns", "gpu_ns", "min_ns", "max_ns",
                                                   "ratio",  "depth" };

struct report {
    FILE *stream;
    const struct vv_presentation *how;
    const struct vv_sheet *sheet;
    size_t columns[COLUMNS];
    size_t first, last; /* its rows                                                             */
    struct vv_scale scale;
    const char *unit;
    bool is_merged, is_all; /* of all threads; with the time of devices                         */
    size_t name_width;
};

/* ---- cells ---- */

static const struct vv_cell *cell_of(const struct report *report, size_t row, int column)
{
    return vv_sheet_cell(report->sheet, row, report->columns[column]);
}

static double time_of(const struct report *report, size_t row, int column)
{
    const struct vv_cell *cell = cell_of(report, row, column);
    return cell->present ? (double)cell->integer / report->scale.size : 0;
}

static float share_of(const struct report *report, size_t row)
{
    const struct vv_cell *cell = cell_of(report, row, RATIO);
    return cell->present ? (float)cell->real : NAN;
}

static void put_text(const struct report *report, const char *text, size_t width)
{
    size_t used = vv_glyphs_print(report->stream, text, SIZE_MAX);
    vv_glyphs_blanks(report->stream, used < width ? width - used : 1);
}

/* As a stream of C++ prints a number: six digits. */
static const char *number(double value, char text[CELL_BYTES])
{
    if (isnan(value))
        return "nan"; /* C++ has a sign before it where 0 was divided by 0 */
    snprintf(text, CELL_BYTES, "%g", value);
    return text;
}

static void put_number(const struct report *report, double value)
{
    char text[CELL_BYTES];
    put_text(report, number(value, text), DATA_WIDTH);
}

/* "0.012000 (0.400000)" */
static void put_part(const struct report *report, double part, double whole)
{
    char text[CELL_BYTES];
    if (whole == 0)
        snprintf(text, sizeof text, "%f (nan)", part);
    else
        snprintf(text, sizeof text, "%f (%f)", part, part / whole);
    put_text(report, text, 2 * DATA_WIDTH);
}

/* ---- above the rows ---- */

/* Is the row a child whose name holds this word? */
static bool is_child_with(const struct report *report, size_t row, const char *word)
{
    return cell_of(report, row, DEPTH)->integer > 0 &&
           strstr(cell_of(report, row, EVENT)->text, word) != NULL;
}

static void put_label(const struct report *report, const char *label, const char *what)
{
    put_text(report, label, LABEL_WIDTH);
    fprintf(report->stream, "%s: ", what);
}

static void put_share(const struct report *report, float share)
{
    char text[CELL_BYTES];
    fprintf(report->stream, "Ratio: %s%%\n", number(share * 100, text));
}

static double total_of(const struct report *report)
{
    double total_ns = 0;
    for (size_t row = report->first; row < report->last; row++)
        if (cell_of(report, row, DEPTH)->integer == 0)
            total_ns += (double)cell_of(report, row, TOTAL)->integer;
    return total_ns / report->scale.size;
}

/* A child below "compute" counts once more, as it does in Fluid. */
static void put_overhead(const struct report *report)
{
    double total = total_of(report);
    float computing = 0;
    char text[CELL_BYTES];
    for (size_t row = report->first; row < report->last; row++)
        if (is_child_with(report, row, "compute"))
            computing += share_of(report, row);
    fprintf(report->stream, "Total time: %s\n", number(total, text));
    put_label(report, "  Computation time", "Total");
    put_number(report, total * computing);
    put_share(report, computing);
    put_label(report, "  Framework overhead", "Total");
    put_number(report, total * (1 - computing));
    put_share(report, 1 - computing);
}

struct copies { double calls, total; float share; };

static void put_copies_of(const struct report *report, const char *label,
                          const struct copies *copies)
{
    put_label(report, label, "Calls");
    put_number(report, copies->calls);
    fputs("Total: ", report->stream);
    put_number(report, copies->total);
    put_share(report, copies->share);
}

static void put_copies(const struct report *report)
{
    static const char *const words[] = { "GpuMemcpyAsync", "GpuMemcpySync" },
                            *const labels[] = { "  GpuMemcpyAsync", "  GpuMemcpySync" };
    struct copies each[2] = { { 0, 0, 0 }, { 0, 0, 0 } };
    for (size_t row = report->first; row < report->last; row++) {
        bool is_async = is_child_with(report, row, words[0]);
        if (!is_async && !is_child_with(report, row, words[1]))
            continue;
        struct copies *copies = &each[!is_async];
        copies->calls += (double)cell_of(report, row, CALLS)->integer;
        copies->total += time_of(report, row, TOTAL);
        copies->share += share_of(report, row);
    }
    const struct copies both = { each[0].calls + each[1].calls, each[0].total + each[1].total,
                                 each[0].share + each[1].share };
    fputs("\n-------------------------     GpuMemCpy Summary     -------------------------\n\n",
          report->stream);
    put_copies_of(report, "GpuMemcpy", &both);
    for (int kind = 0; kind < 2; kind++)
        if (each[kind].calls > 0)
            put_copies_of(report, labels[kind], &each[kind]);
}

static void put_head(const struct report *report, bool has_overhead)
{
    fputs("\n------------------------->     Profiling Report     <-------------------------\n\n",
          report->stream);
    if (report->is_merged)
        fputs("Note! This Report merge all thread info into one.\n", report->stream);
    fprintf(report->stream,
            "Place: %s\nTime unit: %s\nSorted by %s in descending order in the same thread\n\n",
            report->is_all ? "All" : "CPU", report->unit, report->how->fluid);
    if (has_overhead) {
        put_overhead(report);
        put_copies(report);
    }
    fputs("\n-------------------------       Event Summary       -------------------------\n\n",
          report->stream);
    put_text(report, "Event", report->name_width);
    put_text(report, "Calls", DATA_WIDTH);
    put_text(report, "Total", DATA_WIDTH);
    if (report->is_all) {
        put_text(report, "CPU Time (Ratio)", 2 * DATA_WIDTH);
        put_text(report, "GPU Time (Ratio)", 2 * DATA_WIDTH);
    }
    put_text(report, "Min.", DATA_WIDTH);
    put_text(report, "Max.", DATA_WIDTH);
    put_text(report, "Ave.", DATA_WIDTH);
    put_text(report, "Ratio.", DATA_WIDTH);
    putc('\n', report->stream);
}

/* ---- rows ---- */

static void put_row(const struct report *report, size_t row)
{
    size_t indent = INDENT * (size_t)cell_of(report, row, DEPTH)->integer;
    double calls = (double)cell_of(report, row, CALLS)->integer;
    double total = time_of(report, row, TOTAL);
    char text[CELL_BYTES];
    vv_glyphs_blanks(report->stream, indent);
    put_text(report, cell_of(report, row, EVENT)->text,
             report->name_width > indent ? report->name_width - indent : 0);
    snprintf(text, sizeof text, "%lld", (long long)cell_of(report, row, CALLS)->integer);
    put_text(report, text, DATA_WIDTH);
    put_number(report, total);
    if (report->is_all) {
        put_part(report, time_of(report, row, CPU), total);
        put_part(report, time_of(report, row, GPU), total);
    }
    put_number(report, time_of(report, row, MIN));
    put_number(report, time_of(report, row, MAX));
    put_number(report, total / calls);
    put_number(report, (double)share_of(report, row));
    putc('\n', report->stream);
}

static void put_report(struct report *report, bool has_overhead)
{
    size_t widest = 0;
    for (size_t row = report->first; row < report->last; row++) {
        size_t width = vv_glyphs_width(cell_of(report, row, EVENT)->text);
        widest = width > widest ? width : widest;
        report->is_all = report->is_all || cell_of(report, row, GPU)->present;
    }
    report->name_width = widest + NAME_ROOM < NAME_WIDTH_MAX ? widest + NAME_ROOM : NAME_WIDTH_MAX;
    put_head(report, has_overhead);
    for (size_t row = report->first; row < report->last; row++)
        put_row(report, row);
}

enum varve_code vv_present_fluid(FILE *stream, const struct vv_presentation *how,
                                 const struct vv_sheet *const *sheets, size_t count,
                                 struct varve_error *error)
{
    struct report report = { .stream = stream, .how = how, .sheet = sheets[0], .unit = "ms" };
    if (how->fields != NULL)
        VV_FAIL(error, VARVE_INVALID,
                "Fluid's report has columns of its own. --fields goes with --csv, --json or --md");
    (void)vv_scale_of_time(report.unit, &report.scale);
    if (how->unit != NULL && vv_scale_of_time(how->unit, &report.scale))
        report.unit = how->unit;
    for (int column = 0; column < COLUMNS; column++) {
        report.columns[column] = vv_sheet_find(sheets[0], column_names[column]);
        if (count != 1 || report.columns[column] == SIZE_MAX)
            return vv_present_text(stream, how, sheets, count, error);
    }
    while (report.last < report.sheet->row_count &&
           strcmp(cell_of(&report, report.last, REPORT)->text, "merged") == 0)
        report.last++;
    report.is_merged = report.last > 0;
    if (report.is_merged)
        put_report(&report, true);
    bool is_alone = !report.is_merged;
    report.is_merged = false;
    report.first = report.last;
    report.last = report.sheet->row_count;
    put_report(&report, is_alone && report.last > 0);
    return VARVE_OK;
}
