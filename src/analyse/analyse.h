/* SPDX-License-Identifier: Apache-2.0 */
/* analyse.h — pure functions from a finished model to typed tables. Thread-safe on a shared model.
 *
 * Each fills a sheet that the caller has declared; on failure the sheet is de-initialised. Each states in
 * sheet->policy what it covers, and its rows add up to its total row. */
#ifndef VV_ANALYSE_ANALYSE_H
#define VV_ANALYSE_ANALYSE_H

#include "base/sheet.h"
#include "model/model.h"

/* Which part of the model an analysis looks at. */
struct vv_selection {
    int64_t first_step, last_step; /* step indices, inclusive; INT64_MIN, INT64_MAX = all       */
    const char *thread;            /* track's name or tid; NULL or "all" = all                  */
};
#define VV_SELECTION_ALL { INT64_MIN, INT64_MAX, NULL }

/* "A", "A..B", "A..", "..B"; NULL = all. VARVE_INVALID with the text otherwise. */
enum varve_code vv_selection_steps(struct vv_selection *selection, const char *text,
                                   struct varve_error *error);

struct vv_operator_options {
    struct vv_selection selection;
    const char *by;   /* "op" (= "name"), "shape", "thread", "phase"                            */
    const char *sort; /* a column's name, or one without its unit ("self"); NULL = default      */
    int64_t top;      /* rows before the remainder is one row; 0 = all                          */
};

/* Table "trace", one row: events, lost, threads, processes, begin_ns, duration_ns, … People see all
 * of it if `full`, else the head of a report. */
enum varve_code vv_analyse_trace(const struct vv_model *model, bool full, struct vv_sheet *out,
                                 struct varve_error *error);
/* Table "inputs", one row a file; "tables", one row a table of the model that has rows, and its strings. */
enum varve_code vv_analyse_inputs(const struct vv_model *model, struct vv_sheet *out,
                                  struct varve_error *error);
enum varve_code vv_analyse_tables(const struct vv_model *model, struct vv_sheet *out,
                                  struct varve_error *error);
/* Table "processes", one row a process; "threads", one row a track; "health", one row a finding. */
enum varve_code vv_analyse_processes(const struct vv_model *model, struct vv_sheet *out,
                                     struct varve_error *error);
enum varve_code vv_analyse_threads(const struct vv_model *model, struct vv_sheet *out,
                                   struct varve_error *error);
enum varve_code vv_analyse_health(const struct vv_model *model, struct vv_sheet *out,
                                  struct varve_error *error);
/* Table "steps", one row a step: step, begin_ns, duration_ns, its phases in columns of their own.
 * Tables "step_phases", one row a phase of a step, and "step", one row for all steps: every column is
 * hidden from people, who have the same in "steps" and in the policy of "phases". */
enum varve_code vv_analyse_steps(const struct vv_model *model, const struct vv_selection *selection,
                                 struct vv_sheet *out, struct varve_error *error);
enum varve_code vv_analyse_step_phases(const struct vv_model *model,
                                       const struct vv_selection *selection, struct vv_sheet *out,
                                       struct varve_error *error);
enum varve_code vv_analyse_step(const struct vv_model *model, const struct vv_selection *selection,
                                struct vv_sheet *out, struct varve_error *error);
/* Table "phases": how the selected steps split; the rows, "other" included, sum to the steps' time. */
enum varve_code vv_analyse_phases(const struct vv_model *model, const struct vv_selection *selection,
                                  struct vv_sheet *out, struct varve_error *error);
/* Table "operators" (doc/metrics.md). */
enum varve_code vv_analyse_operators(const struct vv_model *model,
                                     const struct vv_operator_options *options,
                                     struct vv_sheet *out, struct varve_error *error);

#endif
