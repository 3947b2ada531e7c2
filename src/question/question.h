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

/* The choices of a selection, as bits. */
enum vv_part { VV_PART_STEPS = 1, VV_PART_THREAD = 2, VV_PART_RANK = 4, VV_PART_DEVICE = 8, VV_PART_FILTER = 16 };

/* "A", "A..B", "A..", "..B"; NULL = all. VARVE_INVALID with the text otherwise. */
enum varve_code vv_selection_steps(struct vv_selection *selection, const char *text,
                                   struct varve_error *error);

/* ---- what was read, and whether to trust it ---- */
vv_analyse_fn vv_analyse_trace;       /* one row: events, lost, threads, duration …              */
vv_analyse_fn vv_analyse_inputs;      /* one row a file                                         */
vv_analyse_fn vv_analyse_tables;      /* one row a table of the model that has rows              */
vv_analyse_fn vv_analyse_processes;   /* one row a process                                      */
vv_analyse_fn vv_analyse_threads;     /* one row a track                                        */
vv_analyse_fn vv_analyse_health;      /* one row a finding                                      */
vv_analyse_fn vv_analyse_collectors;  /* one row for what a collector says in so many processes */

/* ---- what to look at first ---- */
vv_analyse_fn vv_analyse_advice;      /* one row a finding, by the rules of advice.c              */

/* ---- steps ---- */
vv_analyse_fn vv_analyse_steps;       /* one row a step, its phases in columns of their own      */
vv_analyse_fn vv_analyse_step_phases; /* one row a phase of a step                              */
vv_analyse_fn vv_analyse_step;        /* one row for all steps: people have it as the policy of phases */
vv_analyse_fn vv_analyse_phases;      /* how the steps split; rows, "other" included, sum to their time */
vv_analyse_fn vv_analyse_step_split;  /* one row a step: whose turn it was at every instant      */

/* ---- operators ---- */
vv_analyse_fn vv_analyse_roofline;    /* one row a name, shapes and device: FLOP/s, bytes/s, and the roof */
vv_analyse_fn vv_analyse_mfu;         /* one row a step: which part of the peak it uses           */
vv_analyse_fn vv_analyse_blocks;      /* one row a repeated block: 24 x layer, each so            */
vv_analyse_fn vv_analyse_outliers;    /* one row a call that took another time than its like      */
vv_analyse_fn vv_analyse_block_positions; /* one row a position of a block                        */
vv_analyse_fn vv_analyse_operators;
vv_analyse_fn vv_analyse_links;       /* one row a backward operator and its forward one            */
vv_analyse_fn vv_analyse_call_tree;   /* one row a path of calls: what each took, top-down          */
vv_analyse_fn vv_analyse_kernels;     /* one row a kernel                                       */
vv_analyse_fn vv_analyse_kernel_ops;  /* one row a kernel and the operator that it was done for     */
vv_analyse_fn vv_analyse_kernel_counters; /* one row a kernel that the device counted in            */
vv_analyse_fn vv_analyse_annotations; /* one row a range of the user's that work was launched in    */

/* ---- the critical path ---- */
vv_analyse_fn vv_analyse_critical;       /* one row: how long it is, in which window             */
vv_analyse_fn vv_analyse_critical_bound; /* one row a kind of time on it, and a kind of gap      */
vv_analyse_fn vv_analyse_critical_ops;   /* one row an operator on it                           */
vv_analyse_fn vv_analyse_critical_path;  /* its segments, in order                              */
vv_analyse_fn vv_analyse_what_if;        /* one row a change that would make it shorter          */
vv_analyse_fn vv_analyse_slack;          /* one row an operator: how much later it could begin   */

/* ---- devices ---- */
vv_analyse_fn vv_analyse_devices;     /* one row a device: computation, exposed copies …, idle   */
vv_analyse_fn vv_analyse_overlap;     /* one row a kind of collective: what computation hides of it */
vv_analyse_fn vv_analyse_idle;        /* one row a cause of standing still                        */
vv_analyse_fn vv_analyse_idle_gaps;   /* one row a gap                                            */
vv_analyse_fn vv_analyse_idle_streams; /* one row a stream: what it waited for                  */
vv_analyse_fn vv_analyse_launches;    /* one row a call that launches, by name                    */
vv_analyse_fn vv_analyse_queue;       /* one row a stream: how much work waited on it             */
vv_analyse_fn vv_analyse_copies;      /* one row a kind of copy, on each device                   */
vv_analyse_fn vv_analyse_syncs;       /* one row a call that waits for a device, by name          */
vv_analyse_fn vv_analyse_waits;       /* one row a step: its wait for the data loader             */

/* ---- memory ---- */
vv_analyse_fn vv_analyse_memory;      /* one row a device: peak, allocated, released …           */
vv_analyse_fn vv_analyse_memory_peak; /* one row a holder of what is live at the peak            */
vv_analyse_fn vv_analyse_memory_steps; /* one row a step and device                             */
vv_analyse_fn vv_analyse_memory_leaks; /* one row a call path                                   */
vv_analyse_fn vv_analyse_memory_plan; /* one row an allocation, where a planner would put it     */
vv_analyse_fn vv_analyse_static_plan; /* one row a graph of a static plan                       */
vv_analyse_fn vv_analyse_plan_conflicts; /* one row two buffers on the same bytes              */
vv_analyse_fn vv_analyse_allocations; /* one row an allocation                                  */

#endif
