/* SPDX-License-Identifier: Apache-2.0 */
/* what_if.c — table "what_if": how much shorter the critical path would be if something took less
 * time (doc/metrics.md §14).
 *
 * There is one row for each operator on the path. An operator that is not on the path gains
 * nothing, however much faster it is. Amdahl's bound stands beside the result. The bound does not
 * know that another path may become the longest, so no result is above it. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/critical/critical.h"
#include "question/scale.h"

enum { FACTOR, PATH, SHARE, LENGTH, SAVED, SPEEDUP, AMDAHL, ROW, CHANGE, COLUMNS };

static const struct vv_sheet_column columns[COLUMNS] = {
    { "factor", "faster", VV_CELL_REAL, VV_UNIT_NONE, false, false },
    { "path_ns", "on path", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "path_share", "share", VV_CELL_REAL, VV_UNIT_RATIO, true, false },
    { "length_ns", "path then", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "saved_ns", "saved", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "speedup", "speed-up", VV_CELL_REAL, VV_UNIT_NONE, false, false },
    { "amdahl", "at most", VV_CELL_REAL, VV_UNIT_NONE, false, false },
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "change", "if this took less", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
};

struct change {
    struct vv_what_if answer; /* must be the first member: cases of vv_critical_what_if are copied
                                 from it and back */
    const char *text;         /* name of the change, for people                                 */
    int64_t path_ns;
    bool is_asked;            /* asked for by name in --scale                                   */
};

struct changes {
    struct vv_critical *critical;
    struct change *items;
    size_t count, capacity;
    int64_t *on_path_ns;      /* string -> time of operators of that name on the path            */
    int64_t launch_ns, comm_ns;
    size_t unsolved;          /* items that were not solved, because they have less time on the
                                 path */
};

static void sum_path(struct changes *changes)
{
    const struct vv_critical_solution *solution = &changes->critical->solution;
    for (size_t i = 1; i < solution->path_count; i++) {
        const struct vv_path_step *step = &solution->path[i];
        if (step->link == VV_LINK_LAUNCH)
            changes->launch_ns += step->weight_ns;
        if (step->link != VV_LINK_OWN || step->owner == VV_NONE)
            continue;
        changes->on_path_ns[vv_critical_name(&changes->critical->graph, step->owner)] +=
            step->weight_ns;
        if (vv_bound_of(changes->critical, step->link, step->owner) == VV_BOUND_COMM)
            changes->comm_ns += step->weight_ns;
    }
}

static enum varve_code add(struct changes *changes, enum vv_what what, uint32_t name, double factor,
                           bool is_asked, struct varve_error *error)
{
    const char *text = what == VV_WHAT_LAUNCH ? "launches at no cost"
                       : what == VV_WHAT_COMM ? "communication with nobody late"
                       : name == 0            ? "(outside operators)"
                                              : vv_text_of(changes->critical->graph.model, name);
    VV_TRY(VV_SCRATCH_RESERVE(changes->critical->scope.scratch, &changes->items, &changes->capacity,
                              changes->count + 1, error));
    changes->items[changes->count++] = (struct change){
        { what, name, factor, 0 },
        text,
        what == VV_WHAT_NAME     ? changes->on_path_ns[name]
        : what == VV_WHAT_LAUNCH ? changes->launch_ns
                                 : changes->comm_ns,
        is_asked,
    };
    return VARVE_OK;
}

/* ---- the value of --scale: "4", "aten::mm=4", "aten::mm=4;aten::add=1.5" ---- */

static enum varve_code read_scale(struct changes *changes, const char *text, double *out_every,
                                  struct varve_error *error)
{
    const struct vv_model *model = changes->critical->graph.model;
    struct vv_scale scale;
    *out_every = 2;
    for (;;) {
        VV_TRY(vv_scale_next(&text, "OPERATOR", &scale, error));
        if (scale.factor == 0)
            return VARVE_OK;
        if (scale.name == NULL) {
            *out_every = scale.factor;
            continue;
        }
        uint32_t name = vv_intern_find(&model->strings, scale.name, scale.name_bytes);
        if (name == UINT32_MAX)
            VV_FAIL(error, VARVE_INVALID, "no operator '%.*s' in this trace",
                    (int)(scale.name_bytes < 80 ? scale.name_bytes : 80), scale.name);
        VV_TRY(add(changes, VV_WHAT_NAME, name, scale.factor, true, error));
    }
}

/* ---- results ---- */

static enum varve_code solve(struct changes *changes, size_t first, size_t last,
                             struct varve_error *error)
{
    struct vv_what_if *cases;
    VV_TRY(VV_SCRATCH_ARRAY(changes->critical->scope.scratch, &cases, last - first, error));
    for (size_t i = first; i < last; i++)
        cases[i - first] = changes->items[i].answer;
    VV_TRY(vv_critical_what_if(&changes->critical->solution, cases, last - first, error));
    for (size_t i = first; i < last; i++)
        changes->items[i].answer = cases[i - first];
    return VARVE_OK;
}

static int more_on_path(const void *a, const void *b)
{
    const struct change *left = a, *right = b;
    if (left->is_asked != right->is_asked)
        return left->is_asked ? -1 : 1;
    if (left->path_ns != right->path_ns)
        return left->path_ns > right->path_ns ? -1 : 1;
    return strcmp(left->text, right->text);
}

static int shorter_first(const void *a, const void *b)
{
    const struct change *left = a, *right = b;
    if (left->answer.length_ns != right->answer.length_ns)
        return left->answer.length_ns < right->answer.length_ns ? -1 : 1;
    return more_on_path(a, b);
}

/* Limits the nodes that are walked, to about a second of work. SOLVED_LEAST cases are solved in any
 * graph. */
#define WALKED_NODES_MAX (UINT64_C(1) << 25)
#define SOLVED_LEAST 64u

/* Solves the cases that can save most. A case saves no more than its own time on the path, so a
 * case with less time than the best ones save is not solved. `top` 0: solve all. */
static enum varve_code solve_best(struct changes *changes, int64_t top, struct varve_error *error)
{
    int64_t length_ns = changes->critical->solution.length_ns;
    uint64_t affordable =
        WALKED_NODES_MAX / ((uint64_t)changes->critical->graph.node_count + 1) * VV_WHAT_IF_LANES;
    size_t done = 0;
    if (changes->count == 0)
        return VARVE_OK;
    qsort(changes->items, changes->count, sizeof *changes->items, more_on_path);
    while (done < changes->count) {
        size_t last =
            done + VV_WHAT_IF_LANES < changes->count ? done + VV_WHAT_IF_LANES : changes->count;
        VV_TRY(solve(changes, done, last, error));
        done = last;
        if (done >= SOLVED_LEAST && done >= affordable && done < changes->count &&
            !changes->items[done].is_asked) {
            changes->unsolved = changes->count - done;
            break;
        }
        if (top == 0 || done == changes->count || done < (uint64_t)top ||
            changes->items[done].is_asked)
            continue;
        qsort(changes->items, done, sizeof *changes->items, shorter_first);
        if (length_ns - changes->items[top - 1].answer.length_ns >= changes->items[done].path_ns)
            break;
    }
    changes->count = done;
    qsort(changes->items, changes->count, sizeof *changes->items, shorter_first);
    return VARVE_OK;
}

static enum varve_code put_change(const struct changes *changes, const struct change *change,
                                  struct vv_sheet *sheet, struct varve_error *error)
{
    const struct vv_critical *critical = changes->critical;
    double length = (double)critical->solution.length_ns,
           share = length > 0 ? (double)change->path_ns / length : 0;
    const struct vv_what_if *answer = &change->answer;
    bool is_name = answer->what == VV_WHAT_NAME;
    size_t row;
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    VV_TRY(vv_sheet_text(sheet, row, CHANGE, change->text, error));
    if (is_name)
        vv_sheet_real(sheet, row, FACTOR, answer->factor);
    vv_sheet_int(sheet, row, PATH, change->path_ns);
    vv_sheet_real(sheet, row, SHARE, share);
    vv_sheet_int(sheet, row, LENGTH, answer->length_ns);
    vv_sheet_int(sheet, row, SAVED, critical->solution.length_ns - answer->length_ns);
    if (answer->length_ns > 0)
        vv_sheet_real(sheet, row, SPEEDUP, length / (double)answer->length_ns);
    double left = is_name ? 1 - share + share / answer->factor : 1 - share;
    if (left > 0)
        vv_sheet_real(sheet, row, AMDAHL, 1 / left);
    return vv_sheet_text(sheet, row, ROW,
                         change->is_asked ? "asked"
                         : is_name        ? "operator"
                                          : "cause",
                         error);
}

static enum varve_code find_changes(struct changes *changes, const struct vv_question *question,
                                    struct varve_error *error)
{
    const struct vv_critical *critical = changes->critical;
    double every;
    sum_path(changes);
    VV_TRY(read_scale(changes, question->scale, &every, error));
    for (uint32_t name = 0; name < critical->graph.model->strings.count; name++)
        if (changes->on_path_ns[name] > 0)
            VV_TRY(add(changes, VV_WHAT_NAME, name, every, false, error));
    if (changes->launch_ns > 0)
        VV_TRY(add(changes, VV_WHAT_LAUNCH, 0, 1, false, error));
    if (critical->graph.latency_count > 0)
        VV_TRY(add(changes, VV_WHAT_COMM, 0, 1, false, error));
    return VARVE_OK;
}

static enum varve_code put_changes(struct changes *changes, const struct vv_question *question,
                                   struct vv_sheet *sheet, struct varve_error *error)
{
    if (changes->critical->solution.length_ns == 0)
        return VARVE_OK;
    VV_TRY(find_changes(changes, question, error));
    VV_TRY(solve_best(changes, question->top, error));
    for (size_t i = 0, shown = 0; i < changes->count; i++) {
        bool is_shown =
            changes->items[i].is_asked || question->top == 0 || shown < (uint64_t)question->top;
        shown += !changes->items[i].is_asked;
        if (is_shown)
            VV_TRY(put_change(changes, &changes->items[i], sheet, error));
    }
    return VARVE_OK;
}

enum varve_code vv_analyse_what_if(const struct vv_model *model, const struct vv_question *question,
                                   struct vv_scratch *scratch, struct vv_sheet *out,
                                   struct varve_error *error)
{
    struct vv_critical critical;
    struct changes changes = { .critical = &critical };
    char order[160];
    vv_sheet_init(out, "what_if", "WHAT WOULD PAY", columns, COLUMNS);
    VV_TRY(vv_critical_init(&critical, model, question, scratch, error));
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &changes.on_path_ns, model->strings.count, error));
    VV_TRY(put_changes(&changes, question, out, error));
    snprintf(order, sizeof order, "each row alone, what saves most first");
    if (changes.unsolved > 0)
        snprintf(order, sizeof order,
                 "each row alone, what saves most first, of those with most time on the path: %zu "
                 "more are not "
                 "worked out",
                 changes.unsolved);
    return vv_critical_policy(&critical, out, order, error);
}
