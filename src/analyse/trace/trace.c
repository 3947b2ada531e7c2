/* SPDX-License-Identifier: Apache-2.0 */
/* trace.c — table "trace": the run in one row.
 *
 * The row has each fact as a bare value for scripts, and sentences for people: what ran, on which
 * machine, and how far the numbers can be trusted. A fact that the trace does not hold is
 * absent. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyse/trace/outside.h"
#include "analyse/trace/unseen.h"
#include "derive/operators/own_time.h"
#include "derive/select/recording_cost.h"
#include "derive/select/scope.h"
#include "numbers/intervals.h"
#include "question/question.h"
#include "settings/keep_last.h"
#include "sheet/number.h"

/* ---- table "trace" ---- */

enum {
    COMMAND, RECORDED, ON, TRUST, KEPT, TIME, UNSEEN,
    BEGIN, DURATION, EVENTS, LOST, LOST_HOMELESS, LOST_WHY, CLOCK, COST, PROCESSES, THREADS, STEPS,
    SLICES, MARKS, COUNTERS, FLOWS,
    ALLOCATIONS, UNFINISHED, TRUNCATED, KEEP_BYTES, KEEP_NS, BEGUN_BEFORE, EXIT, SIGNAL, DIRECTORY,
    HOST, MACHINE, KERNEL, CPUS, RUN_PARTS,
    TRACE_COLUMNS = RUN_PARTS + VV_RUN_PARTS
};

#define INT_COLUMN(name, title, unit) { name, title, VV_CELL_INT, unit, true, false }
#define TEXT_COLUMN(name, title) { name, title, VV_CELL_TEXT, VV_UNIT_NONE, true, false }

static const struct vv_sheet_column trace_columns[TRACE_COLUMNS] = {
    [COMMAND] = { "command", "command", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    [RECORDED] = { "recorded", "recorded", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    [ON] = { "on", "machine", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    [TRUST] = { "trust", "trust", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    [KEPT] = { "kept", "kept", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    [TIME] = { "time", "time", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    [UNSEEN] = { "unseen", "unseen", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    [BEGIN] = INT_COLUMN("begin_ns", "begin", VV_UNIT_TIME),
    [DURATION] = INT_COLUMN("duration_ns", "duration", VV_UNIT_NS),
    [EVENTS] = INT_COLUMN("events", "events", VV_UNIT_COUNT),
    [LOST] = INT_COLUMN("lost", "lost", VV_UNIT_COUNT),
    [LOST_HOMELESS] = INT_COLUMN("lost_homeless", "lost without a folder", VV_UNIT_COUNT),
    [LOST_WHY] = TEXT_COLUMN("lost_homeless_why", "why without"),
    [CLOCK] = INT_COLUMN("clock_uncertainty_ns", "clock uncertainty", VV_UNIT_NS),
    [COST] = INT_COLUMN("record_cost_ns", "time spent recording", VV_UNIT_NS),
    [PROCESSES] = INT_COLUMN("processes", "processes", VV_UNIT_COUNT),
    [THREADS] = INT_COLUMN("threads", "threads", VV_UNIT_COUNT),
    [STEPS] = INT_COLUMN("steps", "steps", VV_UNIT_COUNT),
    [SLICES] = INT_COLUMN("slices", "slices", VV_UNIT_COUNT),
    [MARKS] = INT_COLUMN("marks", "marks", VV_UNIT_COUNT),
    [COUNTERS] = INT_COLUMN("counter_values", "counter values", VV_UNIT_COUNT),
    [FLOWS] = INT_COLUMN("flows", "flows", VV_UNIT_COUNT),
    [ALLOCATIONS] = INT_COLUMN("memory_events", "memory events", VV_UNIT_COUNT),
    [UNFINISHED] = INT_COLUMN("unfinished", "unfinished slices", VV_UNIT_COUNT),
    [TRUNCATED] = INT_COLUMN("truncated_files", "cut files", VV_UNIT_COUNT),
    [KEEP_BYTES] = INT_COLUMN("keep_bytes", "kept at least", VV_UNIT_BYTES),
    [KEEP_NS] = INT_COLUMN("keep_ns", "kept at least", VV_UNIT_NS),
    [BEGUN_BEFORE] = INT_COLUMN("begun_before", "begun before", VV_UNIT_COUNT),
    [EXIT] = INT_COLUMN("exit_code", "exit code", VV_UNIT_NONE),
    [SIGNAL] = INT_COLUMN("signal", "signal", VV_UNIT_NONE),
    [DIRECTORY] = TEXT_COLUMN("directory", "directory"),
    [HOST] = TEXT_COLUMN("host", "host"),
    [MACHINE] = TEXT_COLUMN("machine", "machine"),
    [KERNEL] = TEXT_COLUMN("kernel", "kernel"),
    [CPUS] = INT_COLUMN("cpus", "processors", VV_UNIT_COUNT),
    [RUN_PARTS + VV_RUN_STEPS] = INT_COLUMN("in_steps_ns", "in steps", VV_UNIT_NS),
    [RUN_PARTS + VV_RUN_WARM_UP] = INT_COLUMN("in_warm_up_ns", "in warm-up steps", VV_UNIT_NS),
    [RUN_PARTS + VV_RUN_START] = INT_COLUMN("start_ns", "before the first operator", VV_UNIT_NS),
    [RUN_PARTS + VV_RUN_COMPILE] = INT_COLUMN("outside_compile_ns",
                                              "outside these steps: compilers", VV_UNIT_NS),
    [RUN_PARTS + VV_RUN_DATA] = INT_COLUMN("outside_data_ns", "outside steps: waits for data",
                                           VV_UNIT_NS),
    [RUN_PARTS + VV_RUN_OPERATORS] = INT_COLUMN("outside_operator_ns", "outside steps: operators",
                                                VV_UNIT_NS),
    [RUN_PARTS + VV_RUN_REST] = INT_COLUMN("outside_rest_ns", "outside steps: no operator",
                                           VV_UNIT_NS),
};

/* ---- recordings of different times ---- */

#define APART 100             /* a gap so many times as long as the rest parts recordings */
#define APART_NS 3600000000000 /* and it lasts an hour                                    */

static int by_begin(const void *a, const void *b)
{
    const struct vv_interval *left = a, *right = b;
    return (left->begin_ns > right->begin_ns) - (left->begin_ns < right->begin_ns);
}

/* The longest time in which no track had begun and not ended, if it is that long; else 0. */
static enum varve_code find_apart(const struct vv_model *model, struct vv_scratch *scratch,
                                  int64_t *out_gap_ns, struct varve_error *error)
{
    const struct vv_slices *slices = &model->slices;
    struct vv_interval *spans;
    size_t count = 0;
    int64_t longest_ns = 0, end_ns = INT64_MIN;
    *out_gap_ns = 0;
    if (model->run.end_ns - model->run.begin_ns < APART_NS)
        return VARVE_OK;
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &spans, model->tracks.table.count + 1, error));
    for (uint32_t t = 0; t < model->tracks.table.count; t++) {
        uint32_t first, last;
        vv_track_rows(model, t, &first, &last);
        struct vv_interval span = { INT64_MAX, INT64_MIN };
        for (uint32_t row = first; row < last; row++) {
            int64_t ended_ns = slices->begin_ns[row] + slices->duration_ns[row];
            if (slices->begin_ns[row] < span.begin_ns)
                span.begin_ns = slices->begin_ns[row];
            span.end_ns = ended_ns > span.end_ns ? ended_ns : span.end_ns;
        }
        if (first < last)
            spans[count++] = span;
    }
    if (count > 1)
        qsort(spans, count, sizeof *spans, by_begin);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && spans[i].begin_ns - end_ns > longest_ns)
            longest_ns = spans[i].begin_ns - end_ns;
        end_ns = spans[i].end_ns > end_ns ? spans[i].end_ns : end_ns;
    }
    int64_t rest_ns = model->run.end_ns - model->run.begin_ns - longest_ns;
    if (longest_ns >= APART_NS && longest_ns / APART > rest_ns)
        *out_gap_ns = longest_ns;
    return VARVE_OK;
}

static void recorded_text(const struct vv_model *model, int64_t apart_ns, char *text, size_t bytes)
{
    time_t seconds = (time_t)(model->run.begin_ns / 1000000000);
    struct tm parts;
    char date[40] = "at an unknown time", duration[VV_NUMBER_BYTES];
    if (vv_is_date(model->run.begin_ns) && localtime_r(&seconds, &parts) != NULL)
        strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S %z", &parts);
    vv_number_duration(model->run.end_ns - model->run.begin_ns, duration, sizeof duration);
    if (model->run.signal > 0)
        snprintf(text, bytes, "%s, %s, ended by signal %" PRId64, date, duration,
                 model->run.signal);
    else if (model->run.exit_code > 0)
        snprintf(text, bytes, "%s, %s, exit code %" PRId64, date, duration, model->run.exit_code);
    else if (apart_ns > 0)
        snprintf(text, bytes,
                 "%s, %s; nothing for %.1f days of them: recordings that do not belong together?",
                 date, duration, (double)apart_ns / 86400e9);
    else
        snprintf(text, bytes, "%s, %s", date, duration);
}

/* A track that has only marks, such as a profiler's marks about itself, holds no time. */
static bool holds_time(const struct vv_model *model, uint32_t track)
{
    uint32_t first, last;
    vv_track_rows(model, track, &first, &last);
    return first < last;
}

/* Kineto and XSpace list a process for each device, too: those count only where none has a
 * thread. */
static enum varve_code count_processes(const struct vv_model *model, struct vv_scratch *scratch,
                                       uint64_t *out_count, struct varve_error *error)
{
    uint64_t count = 0;
    bool *is_counted;
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &is_counted, model->processes.table.count + 1, error));
    for (uint32_t t = 0; t < model->tracks.table.count; t++) {
        uint32_t process = model->tracks.process[t];
        if (process == VV_NONE || is_counted[process] ||
            model->tracks.kind[t] != VV_TRACK_THREAD || !holds_time(model, t))
            continue;
        is_counted[process] = true;
        count++;
    }
    *out_count = count > 0 ? count : model->processes.table.count;
    return VARVE_OK;
}

static void machine_text(const struct vv_model *model, uint64_t process_count, char *text,
                         size_t bytes)
{
    char cpus[40] = "", threads[80];
    uint64_t thread_count = 0;
    for (uint64_t t = 0; t < model->tracks.table.count; t++)
        thread_count += model->tracks.kind[t] == VV_TRACK_THREAD && holds_time(model, t);
    snprintf(threads, sizeof threads, "%" PRIu64 " process%s, %" PRIu64 " thread%s recorded",
             process_count, process_count == 1 ? "" : "es", thread_count,
             thread_count == 1 ? "" : "s");
    if (model->run.cpus > 0)
        snprintf(cpus, sizeof cpus, "%" PRId64 " × ", model->run.cpus);
    const char *parts[] = { vv_text_of(model, model->run.machine),
                            vv_text_of(model, model->run.kernel), threads };
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < sizeof parts / sizeof *parts && length < bytes; i++) {
        if (parts[i][0] != '\0')
            length += (size_t)snprintf(text + length, bytes - length, "%s%s%s",
                                       length > 0 ? " · " : "", i == 0 ? cpus : "", parts[i]);
    }
}

/* What may make a number wrong. An arrow without its other end does not: most producers cut some,
 * and table "health" counts them. */
static uint64_t odd_findings(const struct vv_health *health)
{
    return health->unfinished + health->unmatched_ends + health->unmatched_async +
           health->overlaps + health->clock_steps_back + health->negative;
}

/* Rounds to `digits` digits, but keeps all digits before the point; never writes an exponent. */
static void share_text(double share, int digits, char text[VV_NUMBER_BYTES + 2])
{
    char number[VV_NUMBER_BYTES];
    if (share >= 0.995)
        vv_number_decimal(share * 100, 0, number, sizeof number);
    else if (share >= 0.0001)
        snprintf(number, sizeof number, "%.*g", digits, share * 100);
    else
        snprintf(number, sizeof number, "<0.01");
    snprintf(text, VV_NUMBER_BYTES + 2, "%s %%", number);
}

/* Threads record at the same time, and each counts, so the share can be more than 100 % of the run.
 * Making the folder can take far longer than a program that does little: no share says that
 * well. */
static void cost_text(const struct vv_run *run, int64_t cost_ns, char *text, size_t bytes)
{
    char spent[VV_NUMBER_BYTES], share[VV_NUMBER_BYTES + 2];
    double part;
    if (cost_ns < 0 || run->end_ns <= run->begin_ns) {
        snprintf(text, bytes, "recording cost not measured");
        return;
    }
    vv_number_duration(cost_ns, spent, sizeof spent);
    part = (double)cost_ns / (double)(run->end_ns - run->begin_ns);
    if (part >= 2) {
        vv_number_duration(run->end_ns - run->begin_ns, share, sizeof share);
        snprintf(text, bytes, "recording took about %s, the run itself %s", spent, share);
        return;
    }
    share_text(part, 2, share);
    snprintf(text, bytes, "recording took about %s, %s of the run", spent, share);
}

/* The largest reserve of a process that lost records; 0 if none did. */
static uint64_t reserve_of(const struct vv_processes *processes)
{
    uint64_t largest = 0;
    for (uint64_t p = 0; p < processes->table.count; p++)
        if (processes->lost[p] > 0 && processes->reserve_bytes[p] > largest)
            largest = processes->reserve_bytes[p];
    return largest;
}

/* Records lost by processes that could make no folder in the trace: table "processes" has no row
 * for such a process. */
static void homeless_text(const struct vv_model *model, char *text, size_t bytes)
{
    char count[VV_NUMBER_BYTES];
    const char *why = vv_text_of(model, model->run.lost_why);
    bool is_all = model->run.lost_homeless == model->run.lost;
    text[0] = '\0';
    if (model->run.lost_homeless == 0)
        return;
    vv_number_count((int64_t)model->run.lost_homeless, count, sizeof count);
    snprintf(text, bytes, ", %s by processes that could make no folder%s%.100s",
             is_all ? "all" : count, why[0] != '\0' ? ": " : "", why);
}

static void trust_text(const struct vv_model *model, int64_t cost_ns, char *text, size_t bytes)
{
    const struct vv_run *run = &model->run;
    char lost[300] = "no event lost", clock[60] = "clock uncertainty unknown", cut[60] = "",
         odd[80] = "", cost[160];
    char count[VV_NUMBER_BYTES], time[VV_NUMBER_BYTES], share[VV_NUMBER_BYTES + 2];
    if (run->lost > 0) {
        vv_number_count((int64_t)run->lost, count, sizeof count);
        share_text((double)run->lost / ((double)run->lost + (double)run->events), 3, share);
        int length = snprintf(lost, sizeof lost, "%s EVENTS LOST (%s)", count, share);
        uint64_t reserve = reserve_of(&model->processes);
        vv_number_bytes((int64_t)reserve, time, sizeof time);
        if (reserve != 0)
            length += snprintf(lost + length, sizeof lost - (size_t)length,
                               " to leave %s of the disk free", time);
        homeless_text(model, lost + length, sizeof lost - (size_t)length);
    }
    if (run->clock_uncertainty_ns >= 0) {
        vv_number_duration(run->clock_uncertainty_ns, time, sizeof time);
        snprintf(clock, sizeof clock, "clock ±%s", time);
    }
    if (model->health.truncated_files > 0)
        snprintf(cut, sizeof cut, " · %" PRIu64 " FILE%s CUT SHORT", model->health.truncated_files,
                 model->health.truncated_files == 1 ? "" : "S");
    if (odd_findings(&model->health) > 0)
        snprintf(odd, sizeof odd, " · %" PRIu64 " odd record%s: varve info",
                 odd_findings(&model->health), odd_findings(&model->health) == 1 ? "" : "s");
    cost_text(run, cost_ns, cost, sizeof cost);
    snprintf(text, bytes, "%s%s · %s%s · %s", lost, cut, clock, odd, cost);
}

/* The smallest limits, in bytes and in time, of any flight recorder. False: no process has one. */
static bool find_keep(const struct vv_processes *processes, struct vv_keep *out_keep,
                      uint64_t *out_count)
{
    *out_keep = (struct vv_keep){ 0, 0 };
    *out_count = 0;
    for (uint64_t p = 0; p < processes->table.count; p++) {
        uint64_t bytes = processes->keep_bytes[p], ns = processes->keep_ns[p];
        *out_count += bytes > 0 || ns > 0;
        if (bytes > 0 && (out_keep->bytes == 0 || bytes < out_keep->bytes))
            out_keep->bytes = bytes;
        if (ns > 0 && (out_keep->ns == 0 || ns < out_keep->ns))
            out_keep->ns = ns;
    }
    return *out_count > 0;
}

static enum varve_code put_kept(const struct vv_model *model, struct vv_sheet *sheet,
                                struct varve_error *error)
{
    struct vv_keep keep;
    char amount[VV_KEEP_TEXT_BYTES], text[256], whose[80] = "each process", before[VV_NUMBER_BYTES];
    uint64_t count, total = model->processes.table.count;
    if (!find_keep(&model->processes, &keep, &count))
        return VARVE_OK;
    vv_keep_text(&keep, amount);
    if (count < total)
        snprintf(whose, sizeof whose, "%" PRIu64 " of %" PRIu64 " processes", count, total);
    vv_number_count((int64_t)model->health.begun_before, before, sizeof before);
    snprintf(text, sizeof text,
             "flight recorder: the last %s of %s were kept; %s range%s began before", amount, whose,
             before, model->health.begun_before == 1 ? "" : "s");
    if (keep.bytes > 0)
        vv_sheet_int(sheet, 0, KEEP_BYTES, (int64_t)keep.bytes);
    if (keep.ns > 0)
        vv_sheet_int(sheet, 0, KEEP_NS, (int64_t)keep.ns);
    vv_sheet_int(sheet, 0, BEGUN_BEFORE, (int64_t)model->health.begun_before);
    return vv_sheet_text(sheet, 0, KEPT, text, error);
}

static enum varve_code put_parts(const struct vv_model *model, struct vv_scratch *scratch,
                                 struct vv_sheet *sheet, struct varve_error *error)
{
    int64_t parts_ns[VV_RUN_PARTS];
    bool has_steps;
    char text[400];
    VV_TRY(vv_run_parts(model, scratch, &has_steps, parts_ns, error));
    if (!has_steps)
        return VARVE_OK;
    for (size_t part = 0; part < VV_RUN_PARTS; part++)
        vv_sheet_int(sheet, 0, RUN_PARTS + part, parts_ns[part]);
    vv_run_parts_text(parts_ns, text, sizeof text);
    return vv_sheet_text(sheet, 0, TIME, text, error);
}

/* Only what matters, so that the line is not passed over. */
static enum varve_code put_unseen(const struct vv_model *model, struct vv_scratch *scratch,
                                  struct vv_sheet *sheet, struct varve_error *error)
{
    struct vv_unseen found[VV_UNSEEN_MAX];
    char text[1200];
    size_t count, length = 0;
    VV_TRY(vv_unseen_find(model, scratch, found, &count, error));
    for (size_t i = 0; i < count && found[i].matters && length < sizeof text; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s: %s",
                                   i > 0 ? " · " : "", found[i].finding, found[i].record);
    return length > 0 ? vv_sheet_text(sheet, 0, UNSEEN, text, error) : VARVE_OK;
}

static enum varve_code put_sentences(const struct vv_model *model, struct vv_scratch *scratch,
                                     struct vv_sheet *sheet, struct varve_error *error)
{
    uint64_t process_count;
    int64_t apart_ns, cost_ns;
    char text[720];
    VV_TRY(count_processes(model, scratch, &process_count, error));
    VV_TRY(find_apart(model, scratch, &apart_ns, error));
    recorded_text(model, apart_ns, text, sizeof text);
    VV_TRY(vv_sheet_text(sheet, 0, RECORDED, text, error));
    machine_text(model, process_count, text, sizeof text);
    VV_TRY(vv_sheet_text(sheet, 0, ON, text, error));
    VV_TRY(vv_recording_cost(model, scratch, &cost_ns, error));
    trust_text(model, cost_ns, text, sizeof text);
    if (cost_ns >= 0)
        vv_sheet_int(sheet, 0, COST, cost_ns);
    VV_TRY(vv_sheet_text(sheet, 0, TRUST, text, error));
    return put_kept(model, sheet, error);
}

static enum varve_code put_run(const struct vv_model *model, struct vv_sheet *sheet,
                               struct varve_error *error)
{
    const struct vv_run *run = &model->run;
    const struct { int column; uint32_t string; } texts[] = {
        { COMMAND, run->command }, { DIRECTORY, run->directory }, { HOST, run->host },
        { MACHINE, run->machine }, { KERNEL, run->kernel }, { LOST_WHY, run->lost_why },
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (texts[i].string != 0)
            VV_TRY(vv_sheet_text(sheet, 0, (size_t)texts[i].column,
                                 vv_text_of(model, texts[i].string), error));
    }
    const struct { int column; int64_t value, unknown; } optional[] = {
        { CLOCK, run->clock_uncertainty_ns, -1 },
        { EXIT, run->exit_code, -1 },
        { SIGNAL, run->signal, -1 },
        { CPUS, run->cpus, 0 },
    };
    for (size_t i = 0; i < sizeof optional / sizeof *optional; i++) {
        if (optional[i].value != optional[i].unknown)
            vv_sheet_int(sheet, 0, (size_t)optional[i].column, optional[i].value);
    }
    return VARVE_OK;
}

static void put_counts(const struct vv_model *model, struct vv_sheet *sheet)
{
    uint64_t threads = 0;
    for (uint64_t t = 0; t < model->tracks.table.count; t++)
        threads += model->tracks.kind[t] == VV_TRACK_THREAD;
    const struct { int column; uint64_t value; } counts[] = {
        { EVENTS, model->run.events },
        { LOST, model->run.lost },
        { PROCESSES, model->processes.table.count },
        { THREADS, threads },
        { STEPS, model->steps.table.count },
        { SLICES, model->slices.table.count },
        { MARKS, model->marks.table.count },
        { COUNTERS, model->counters.table.count },
        { FLOWS, model->flows.table.count },
        { ALLOCATIONS, model->memory.table.count },
        { UNFINISHED, model->health.unfinished },
        { TRUNCATED, model->health.truncated_files },
    };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        vv_sheet_int(sheet, 0, (size_t)counts[i].column, (int64_t)counts[i].value);
    if (model->run.lost_homeless > 0)
        vv_sheet_int(sheet, 0, LOST_HOMELESS, (int64_t)model->run.lost_homeless);
    vv_sheet_int(sheet, 0, BEGIN, model->run.begin_ns);
    vv_sheet_int(sheet, 0, DURATION, model->run.end_ns - model->run.begin_ns);
}

/* In full, people see every fact that is present, and of the sentences only the last two. In short,
 * they see the sentences that are not empty. */
static enum varve_code show_facts(struct vv_sheet *sheet, bool full, struct varve_error *error)
{
    struct vv_sheet_column *columns = vv_arena_alloc(&sheet->arena, sizeof trace_columns);
    if (columns == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the columns of the trace");
    memcpy(columns, trace_columns, sizeof trace_columns);
    for (size_t c = 0; c < TRACE_COLUMNS && full; c++)
        columns[c].hidden = c == RECORDED || c == ON || (c >= KEEP_BYTES && c <= BEGUN_BEFORE) ||
                            !vv_sheet_cell(sheet, 0, c)->present;
    columns[KEPT].hidden = !vv_sheet_cell(sheet, 0, KEPT)->present;
    columns[TIME].hidden = !vv_sheet_cell(sheet, 0, TIME)->present;
    columns[UNSEEN].hidden = !vv_sheet_cell(sheet, 0, UNSEEN)->present;
    sheet->columns = columns;
    return VARVE_OK;
}

enum varve_code vv_analyse_trace(const struct vv_model *model, const struct vv_question *question,
                                 struct vv_scratch *scratch, struct vv_sheet *out,
                                 struct varve_error *error)
{
    size_t row;
    vv_sheet_init(out, "trace", "TRACE", trace_columns, TRACE_COLUMNS);
    out->is_record = true;
    VV_TRY(vv_sheet_row(out, VV_ROW_PLAIN, &row, error));
    VV_TRY(put_sentences(model, scratch, out, error));
    VV_TRY(put_parts(model, scratch, out, error));
    VV_TRY(put_unseen(model, scratch, out, error));
    VV_TRY(put_run(model, out, error));
    put_counts(model, out);
    if (model->slices.table.count == 0 && model->run.events == 0)
        VV_TRY(vv_sheet_policy(out, error, "nothing was recorded"));
    return show_facts(out, question->full, error);
}
