/* SPDX-License-Identifier: Apache-2.0 */
/* question.h — pure functions from a finished model to typed tables. Thread-safe on a shared model.
 *
 * Every analysis answers one question with one table, and all have the same form, so that a verb is a list
 * of table names (tables.c). Each fills a sheet that the caller has declared; on failure the sheet is
 * de-initialised. Each states in sheet->policy what it covers, and its rows add up to its total row. What
 * it cannot answer from this trace it says in the policy, with no rows. doc/metrics.md defines every column. */
#ifndef VV_QUESTION_QUESTION_H
#define VV_QUESTION_QUESTION_H

#include "model/model.h"
#include "question/tables.h"
#include "sheet/sheet.h"

struct vv_peaks;

/* Which part of the model an analysis looks at. Texts are borrowed. */
struct vv_selection {
    int64_t first_step, last_step; /* step indices, inclusive; INT64_MIN, INT64_MAX = all       */
    const char *thread;            /* track's name or tid; NULL or "all" = all                  */
    const char *rank;              /* "3", "0,2..5"; NULL or "all" = all                        */
    const char *device;            /* "cuda:0", "cuda", "0"; NULL or "all" = all                */
    bool warm_up;                  /* warm-up steps count too, as they do where steps are named */
    const char *filter;            /* an expression over slices: filter.h; NULL = all           */
};
#define VV_SELECTION_ALL { INT64_MIN, INT64_MAX, NULL, NULL, NULL, false, NULL }

/* What is asked of it, beside which part. */
struct vv_question {
    struct vv_selection selection;
    const char *by;   /* what one row stands for: "op", "shape" …; NULL = the table's own       */
    const char *sort; /* a column's name, or one without its unit ("self"); NULL = default      */
    int64_t top;      /* rows before the remainder is one row; 0 = all                          */
    bool full;        /* people see every column, not the head of a report                      */
    const char *compat; /* whose rules device tables go by: "hta"; NULL = our own, exact ones   */
    const char *annotation; /* critical path: of ranges of this name; "" = of all; NULL = of a step */
    int64_t instance;   /* which of them, from 0                                                */
    const char *scale;  /* what if: "4", "OP=4;OP=1.5"; NULL = "2"                              */
    const struct vv_peaks *host_peaks; /* of the machine that ran it (peaks.h), borrowed; NULL = not known */
};
#define VV_QUESTION_ALL { VV_SELECTION_ALL, NULL, NULL, 0, false, NULL, NULL, 0, NULL, NULL }

typedef enum varve_code vv_analyse_fn(const struct vv_model *model, const struct vv_question *question,
                                      struct vv_sheet *out, struct varve_error *error);

/* "A", "A..B", "A..", "..B"; NULL = all. VARVE_INVALID with the text otherwise. */
enum varve_code vv_selection_steps(struct vv_selection *selection, const char *text,
                                   struct varve_error *error);

#define VV_DECLARE(name, parts, is_optional, says) vv_analyse_fn vv_analyse_##name;
VV_TABLES(VV_DECLARE)
#undef VV_DECLARE

#endif
