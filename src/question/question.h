/* SPDX-License-Identifier: Apache-2.0 */
/* question.h — analyses: pure functions from a finished model to typed tables. Thread-safe on a
 * shared model.
 *
 * Every analysis answers one question with one table. All have the same form, so a verb is just a
 * list of table names. An analysis fills a sheet, takes its memory from a scratch, and returns at
 * the first failure. vv_analyse calls the analysis and then frees the scratch; if the analysis
 * failed, it frees the sheet, too. sheet->policy says what the table covers, and the rows add up to
 * the total row. If the trace cannot answer the question, the policy says so and there are no rows.
 * doc/metrics.md defines every column. */
#ifndef VV_QUESTION_QUESTION_H
#define VV_QUESTION_QUESTION_H

#include <string.h>

#include "base/scratch.h"
#include "model/model.h"
#include "question/tables.h"
#include "sheet/sheet.h"

struct vv_peaks;

/* The part of the model that an analysis covers. Texts are borrowed. */
struct vv_selection {
    int64_t first_step, last_step; /* step indices, inclusive; INT64_MIN, INT64_MAX = all       */
    const char *thread;            /* a track's name or tid; NULL or "all" = all                */
    const char *rank;              /* "3", "0,2..5"; NULL or "all" = all                        */
    const char *device;            /* "cuda:0", "cuda", "0"; NULL or "all" = all                */
    bool warm_up;                  /* include warm-up steps; steps given by number always count */
    const char *filter;            /* an expression over slices: filter.h; NULL = all           */
};
#define VV_SELECTION_ALL { INT64_MIN, INT64_MAX, NULL, NULL, NULL, false, NULL }

/* A question: the part of the model, and the form of the answer. */
struct vv_question {
    struct vv_selection selection;
    const char *by;   /* what one row is: "op", "shape" …; NULL = table's default               */
    const char *sort; /* column name, with or without its unit ("self"); NULL = default         */
    int64_t top;      /* rows to show; the rest becomes one row; 0 = all                        */
    bool full;        /* show every column, not the short form of a report                      */
    const char *compat; /* rules of another tool: "hta", "paddle", "msprof"; NULL = ours       */
    /* For the critical path: ranges with this name; "" = all ranges; NULL = a step. */
    const char *annotation;
    int64_t instance;   /* index of the range among these                                       */
    const char *scale;  /* factors of what_if: "4", "OP=4;OP=1.5"; NULL = "2"                   */
    /* Peaks of the machine that ran the program (peaks.h). Borrowed. NULL = not known. */
    const struct vv_peaks *host_peaks;
    /* Answers to this question that are there already, for a table that is made of others
     * (advice). Borrowed; whatever is not among them is made. */
    const struct vv_made *made;
    size_t made_count;
    /* Table operators also fills this sheet, with every row and column of the same selection: what
     * takes time is the same for both. The caller zeroes it and ends it, on failure too. NULL =
     * not wanted. */
    struct vv_sheet *whole;
    /* What follows a verb on the command line to ask the same part of the same traces: options but
     * for the next two and --filter, --device, --steps, and traces, each "" or with a blank before
     * it. Borrowed; NULL = not known. */
    const char *again_options, *again_device, *again_steps, *again_traces;
    /* For a graph of what ran. */
    const char *of;    /* "operators", "python" …; NULL = operators, or the graph of a file      */
    const char *edges; /* "data,flow" …; NULL = all that are known                              */
    const char *around; /* only nodes with this name, and those at most `hops` edges away; NULL */
    int64_t hops;
    bool break_cycles; /* edges that lead back are left out; otherwise they are an error         */
    const char *link;  /* between two devices: "16GB/s,10us"; NULL = not known                  */
};
#define VV_QUESTION_ALL                                                                    \
    { VV_SELECTION_ALL, NULL, NULL, 0, false, NULL, NULL, 0, NULL, NULL, NULL, 0, NULL, NULL, \
      NULL, NULL, NULL, NULL, NULL, NULL, 0, false, NULL }

/* The words that `by` and `compat` may be. Each ends with NULL. */
extern const char *const vv_question_groupings[], *const vv_question_rules[];

/* Does the question ask for msprof's columns? */
static inline bool vv_asks_msprof(const struct vv_question *question)
{
    return question->compat != NULL && strcmp(question->compat, "msprof") == 0;
}

/* Does the question ask for the thesis' graph? */
static inline bool vv_asks_mlirgraph(const struct vv_question *question)
{
    return question->compat != NULL && strcmp(question->compat, "mlirgraph") == 0;
}

/* Does the question ask for HTA's rules? (Fluid's rules have a table of their own.) */
static inline bool vv_asks_hta(const struct vv_question *question)
{
    return question->compat != NULL && strcmp(question->compat, "hta") == 0;
}

/* One table. Only vv_analyse calls it. */
typedef enum varve_code vv_analyse_fn(const struct vv_model *model,
                                      const struct vv_question *question,
                                      struct vv_scratch *scratch, struct vv_sheet *out,
                                      struct varve_error *error);

struct vv_made {
    vv_analyse_fn *analyse;
    const struct vv_sheet *sheet;
};

/* Makes the table in a sheet that the caller has declared. On failure the sheet is
 * de-initialised. */
enum varve_code vv_analyse(vv_analyse_fn *table, const struct vv_model *model,
                           const struct vv_question *question, struct vv_sheet *out,
                           struct varve_error *error);
/* The end of vv_analyse, after a table's function has returned `code`. */
enum varve_code vv_analyse_end(enum varve_code code, struct vv_scratch *scratch,
                               struct vv_sheet *sheet, struct varve_error *error);

/* Reads "A", "A..B", "A..", "..B"; NULL = all. Any other text is VARVE_INVALID, and the message has
 * the text. */
enum varve_code vv_selection_steps(struct vv_selection *selection, const char *text,
                                   struct varve_error *error);

#define VV_DECLARE(name, parts, is_optional, says) vv_analyse_fn vv_analyse_##name;
VV_TABLES(VV_DECLARE)
#undef VV_DECLARE

#endif
