/* SPDX-License-Identifier: Apache-2.0 */
/* report.c — tables "tune_answer", "tune" and "tune_dispatches": what is kept, what was tried and
 * what came of it. */
#include <stdio.h>
#include <stdlib.h>

#include "mlir/tune/tuning.h"

enum { CANDIDATE, RESULT, LEAST, MEDIAN, RATIO, TURNS, WINS, MAX_ABS, MAX_REL, COMPILE, WHY, FLAGS,
       COLUMNS };

static const struct vv_sheet_column columns[COLUMNS] = {
    { "candidate", "candidate", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "result", "result", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "least_ns", "least", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "median_ns", "median", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "ratio", "times as fast", VV_CELL_REAL, VV_UNIT_NONE, false, false },
    { "turns", "turns", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "wins", "faster in", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "max_abs", "largest difference", VV_CELL_REAL, VV_UNIT_NONE, true, false },
    { "max_rel", "outputs differ by", VV_CELL_REAL, VV_UNIT_NONE, false, false },
    { "compile_ns", "compiled in", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "why", "why", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "flags", "flags", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
};

static const char *const states[] = {
    [VV_TUNE_MEASURED] = "measured", [VV_TUNE_ANSWER] = "the answer",
    [VV_TUNE_NOT_FASTER] = "not the fastest", [VV_TUNE_OUTPUTS_DIFFER] = "outputs differ",
    [VV_TUNE_NOT_COMPILED] = "not compiled", [VV_TUNE_NOT_RUN] = "does not run",
};

static int compare_times(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static int64_t median_of(const int64_t *turns_ns, unsigned turns)
{
    int64_t sorted[VV_TUNE_TURNS_MAX];
    for (unsigned i = 0; i < turns; i++)
        sorted[i] = turns_ns[i];
    qsort(sorted, turns, sizeof *sorted, compare_times);
    return turns % 2 == 1 ? sorted[turns / 2] : (sorted[turns / 2 - 1] + sorted[turns / 2]) / 2;
}

static void put_times(struct vv_sheet *sheet, size_t row,
                      const struct vv_tune_candidate *candidate)
{
    int64_t least = vv_tune_least(candidate->turns_ns, candidate->turns);
    int64_t base = vv_tune_least(candidate->base_turns_ns, candidate->turns);
    int64_t wins = 0;
    if (candidate->turns == 0)
        return;
    vv_sheet_int(sheet, row, LEAST, least);
    vv_sheet_int(sheet, row, MEDIAN, median_of(candidate->turns_ns, candidate->turns));
    vv_sheet_int(sheet, row, TURNS, candidate->turns);
    if (candidate->kind == VV_TUNE_NO_CHANGE) {
        vv_sheet_real(sheet, row, RATIO, 1);
        return;
    }
    for (unsigned i = 0; i < candidate->turns; i++)
        wins += candidate->turns_ns[i] < candidate->base_turns_ns[i];
    vv_sheet_real(sheet, row, RATIO, (double)base / (double)least);
    vv_sheet_int(sheet, row, WINS, wins);
}

static enum varve_code put_candidate(struct vv_sheet *sheet,
                                     const struct vv_tune_candidate *candidate,
                                     struct varve_error *error)
{
    size_t row;
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    VV_TRY(vv_sheet_text(sheet, row, CANDIDATE, candidate->name, error));
    VV_TRY(vv_sheet_text(sheet, row, RESULT, states[candidate->state], error));
    put_times(sheet, row, candidate);
    if (candidate->is_compared) {
        vv_sheet_real(sheet, row, MAX_ABS, candidate->difference.max_abs);
        vv_sheet_real(sheet, row, MAX_REL, candidate->difference.max_rel);
    }
    if (candidate->compile_ms >= 0)
        vv_sheet_int(sheet, row, COMPILE, candidate->compile_ms * 1000000);
    if (candidate->why != NULL)
        VV_TRY(vv_sheet_text(sheet, row, WHY, candidate->why, error));
    return vv_sheet_text(sheet, row, FLAGS, candidate->flags, error);
}

/* ---- dispatches ---- */

enum { DISPATCH, SHARE, TILE, BEFORE, AFTER, FASTER, TRIED, CHOICE, NOT_TRIED, DISPATCH_COLUMNS };

static const struct vv_sheet_column dispatch_columns[DISPATCH_COLUMNS] = {
    { "dispatch", "dispatch", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "share", "share", VV_CELL_REAL, VV_UNIT_RATIO, false, false },
    { "tile", "compiler's tile", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "before_ns", "takes", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "after_ns", "best other", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "ratio", "times as fast", VV_CELL_REAL, VV_UNIT_NONE, false, false },
    { "tried", "tried", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "choice", "kept", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "why", "why not tried", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
};

static enum varve_code put_dispatch(struct vv_sheet *sheet, const struct vv_tune_dispatch *dispatch,
                                    struct varve_error *error)
{
    size_t row;
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    VV_TRY(vv_sheet_text(sheet, row, DISPATCH, dispatch->function, error));
    vv_sheet_real(sheet, row, SHARE, dispatch->share);
    vv_sheet_int(sheet, row, BEFORE, dispatch->before_ns);
    vv_sheet_int(sheet, row, TRIED, dispatch->tried);
    if (dispatch->after_ns > 0) {
        vv_sheet_int(sheet, row, AFTER, dispatch->after_ns);
        vv_sheet_real(sheet, row, FASTER,
                      (double)dispatch->before_ns / (double)dispatch->after_ns);
    }
    if (dispatch->tile != NULL)
        VV_TRY(vv_sheet_text(sheet, row, TILE, dispatch->tile, error));
    if (dispatch->choice != NULL)
        VV_TRY(vv_sheet_text(sheet, row, CHOICE, dispatch->choice, error));
    return dispatch->why != NULL ? vv_sheet_text(sheet, row, NOT_TRIED, dispatch->why, error)
                                 : VARVE_OK;
}

/* ---- the answer ---- */

enum { NAME, FASTER_BY, DIFFERS_BY, PROGRAM, COMMAND, ANSWER_COLUMNS };

static const struct vv_sheet_column answer_columns[ANSWER_COLUMNS] = {
    { "candidate", "candidate", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "ratio", "times as fast", VV_CELL_REAL, VV_UNIT_NONE, false, false },
    { "max_rel", "outputs differ by", VV_CELL_REAL, VV_UNIT_NONE, false, false },
    { "program", "program", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "command", "what compiles it", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
};

static enum varve_code put_answer(const struct vv_tune *tune, struct vv_sheet *sheet,
                                  struct varve_error *error)
{
    const struct vv_tune_candidate *answer = &tune->candidates[tune->answer];
    int64_t least = vv_tune_least(answer->turns_ns, answer->turns);
    int64_t base = vv_tune_least(answer->base_turns_ns, answer->turns);
    bool is_base = answer->kind == VV_TUNE_NO_CHANGE;
    char program[4096];
    size_t row;
    snprintf(program, sizeof program, "%s/program.vmfb", answer->path);
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    VV_TRY(vv_sheet_text(sheet, row, NAME, answer->name, error));
    vv_sheet_real(sheet, row, FASTER_BY, is_base ? 1 : (double)base / (double)least);
    vv_sheet_real(sheet, row, DIFFERS_BY, answer->difference.max_rel);
    VV_TRY(vv_sheet_text(sheet, row, PROGRAM, program, error));
    VV_TRY(vv_sheet_text(sheet, row, COMMAND, tune->command, error));
    return vv_sheet_policy(sheet, error, "%s",
                           is_base ? "nothing that was tried is faster beyond doubt: the "
                                     "compiler's own choices stay"
                           : answer->difference.is_equal
                               ? "its outputs are those of \"no change\", bit by bit"
                               : "its outputs differ from those of \"no change\" by less than "
                                 "--tolerance allows");
}

/* ---- all ---- */

static enum varve_code put_all(const struct vv_tune *tune, struct vv_sheet *candidates,
                               struct vv_sheet *dispatches, struct varve_error *error)
{
    for (size_t i = 0; i < tune->candidate_count; i++)
        VV_TRY(put_candidate(candidates, &tune->candidates[i], error));
    bool has_shared = false;
    for (size_t i = 0; i < tune->dispatch_count; i++) {
        VV_TRY(put_dispatch(dispatches, &tune->dispatches[i], error));
        has_shared |= tune->dispatches[i].shared_in >> tune->candidates[tune->answer].kind & 1u;
    }
    VV_TRY(vv_sheet_policy(dispatches, error, "%s%s",
                           tune->dispatch_count == 0
                               ? "no alternatives were asked for, or nothing was dispatched"
                               : "the shortest execution of each, by its profile; \"kept\" is in "
                                 "the answer",
                           has_shared ? "; dispatches whose root operations are equal have one "
                                        "entry in a tuning spec, that of the hottest"
                                      : ""));
    return vv_sheet_policy(candidates, error,
                           "candidates take turns with \"no change\"; ratios are of the least "
                           "times in the same turns; \"measured\" did not come into the last "
                           "turns");
}

enum varve_code vv_tune_sheets(const struct vv_tune *tune, struct vv_sheet out_sheets[3],
                               struct varve_error *error)
{
    vv_sheet_init(&out_sheets[0], "tune_answer", "ANSWER", answer_columns, ANSWER_COLUMNS);
    out_sheets[0].is_record = true;
    vv_sheet_init(&out_sheets[1], "tune", "CANDIDATES", columns, COLUMNS);
    vv_sheet_init(&out_sheets[2], "tune_dispatches", "DISPATCHES", dispatch_columns,
                  DISPATCH_COLUMNS);
    enum varve_code code = put_answer(tune, &out_sheets[0], error);
    if (code == VARVE_OK)
        code = put_all(tune, &out_sheets[1], &out_sheets[2], error);
    for (size_t i = 0; i < 3 && code != VARVE_OK; i++)
        vv_sheet_deinit(&out_sheets[i]);
    return code;
}
