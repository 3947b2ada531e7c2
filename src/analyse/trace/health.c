/* SPDX-License-Identifier: Apache-2.0 */
/* health.c — table "health": a row for each kind of oddity that occurred in the input. Odd records
 * were kept, and are counted here. */
#include <stddef.h>

#include "question/question.h"

enum { FINDING, COUNT, MEANING, COLUMNS };

static const struct vv_sheet_column health_columns[COLUMNS] = {
    { "finding", "finding", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "count", "count", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "meaning", "finding", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
};

#define FIELD(name) offsetof(struct vv_health, name)
static const struct { const char *name; size_t offset; const char *meaning;
} findings[] = {
    { "truncated_files", FIELD(truncated_files), "files cut short; their whole part was read" },
    { "unfinished", FIELD(unfinished), "slices without an end; closed at the last instant known" },
    { "unmatched_ends", FIELD(unmatched_ends), "ends with nothing open" },
    { "begun_before", FIELD(begun_before),
      "ranges that began before what was kept" },
    { "flows_before", FIELD(flows_before),
      "flows that began before what the flight recorder kept" },
    { "unmatched_flows", FIELD(unmatched_flows), "ends of flows without the other end" },
    { "unmatched_async", FIELD(unmatched_async),
      "ends of asynchronous ranges without the other end" },
    { "overlaps", FIELD(overlaps), "slices of threads that overlap a neighbour without nesting" },
    { "zero_length", FIELD(zero_length), "slices shorter than the clock can tell" },
    { "clock_steps_back", FIELD(clock_steps_back), "records earlier than the one before them" },
    { "negative", FIELD(negative), "durations below 0; they are 0 here" },
    { "unlinked", FIELD(unlinked), "device work whose launch is not in the trace" },
    { "workless", FIELD(workless), "calls that start device work which is not in the trace" },
    { "duplicate_correlations", FIELD(duplicate_correlations),
      "calls with a correlation that another call has" },
    { "repaired_texts", FIELD(repaired_texts), "texts with U+FFFD for what was no UTF-8" },
    { "unplaced", FIELD(unplaced), "events without an instant of their own" },
    { "ignored", FIELD(ignored), "records of no known kind; they are left out" },
    { "unattached", FIELD(unattached), "details told afterwards that belong to no range" },
    { "kept_raw", FIELD(kept_raw), "details told afterwards of which only the bytes are known" },
    { "unknown_nodes", FIELD(unknown_nodes),
      "nodes, graphs or models that records name and that the trace does not have" },
};
#define FINDING_COUNT (sizeof findings / sizeof *findings)
_Static_assert(FINDING_COUNT * sizeof(uint64_t) == sizeof(struct vv_health), "one row a counter");

static enum varve_code put_finding(struct vv_sheet *sheet, const char *name, uint64_t count,
                                   const char *meaning, struct varve_error *error)
{
    size_t row;
    if (count == 0)
        return VARVE_OK;
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    VV_TRY(vv_sheet_text(sheet, row, FINDING, name, error));
    vv_sheet_int(sheet, row, COUNT, (int64_t)count);
    return vv_sheet_text(sheet, row, MEANING, meaning, error);
}

enum varve_code vv_analyse_health(const struct vv_model *model, const struct vv_question *question,
                                  struct vv_scratch *scratch, struct vv_sheet *out,
                                  struct varve_error *error)
{
    (void)question;
    (void)scratch;
    vv_sheet_init(out, "health", "HEALTH", health_columns, COLUMNS);
    VV_TRY(put_finding(out, "lost", model->run.lost, "events that the recorder dropped", error));
    for (size_t i = 0; i < FINDING_COUNT; i++) {
        const char *field = (const char *)&model->health + findings[i].offset;
        VV_TRY(put_finding(out, findings[i].name, *(const uint64_t *)field, findings[i].meaning,
                           error));
    }
    return out->row_count > 0 ? VARVE_OK : vv_sheet_policy(out, error, "nothing lost, nothing odd");
}
