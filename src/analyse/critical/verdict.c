/* SPDX-License-Identifier: Apache-2.0 */
/* verdict.c — table "verdict": what the steps are bound by, the largest part first.
 *
 * At every instant the critical path is at one place: in an operator of the host, in a kernel, in a
 * copy … The instants of the chosen steps are counted by the kind of that place; where steps of
 * several threads overlap, an instant counts once. Law: the rows sum to the time of the steps (to
 * the whole trace where it has none), to the nanosecond. What the path does not explain counts as
 * what a device does then: computation, else communication, else copies.
 *
 * A path through very many slices would take too long for a first screen. Then it is made for
 * consecutive steps, those that take nearest to the mean: few slow steps may hold much of the time,
 * as steps that compile do. Their shares stand for all chosen steps. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/critical/critical.h"
#include "base/binary_search.h"
#include "derive/devices/device_work.h"
#include "model/find.h"
#include "sheet/number.h"

/* The path of one first screen is through so many slices, or a tenth of the trace's, whatever is
 * more: about 0.05 s, or a tenth of what the reading takes. */
#define SLICES_MAX 200000u
#define PART_MAX 10u

enum bound_by { HOST, COMPUTATION, COMMUNICATION, COPIES, DATA, LAUNCH, MEMORY, COMPILATION, RANK,
                OTHER, BOUNDS_BY };

static const char *const words[BOUNDS_BY] = {
    "host", "computation", "communication", "copies", "data", "launch", "memory", "compilation",
    "rank", "other",
};

enum { BOUND_BY, TIME, SHARE, MOSTLY, MOSTLY_NS, COLUMNS };

static const struct vv_sheet_column columns[COLUMNS] = {
    { "bound_by", "bound by", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "time_ns", "time", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "share", "share", VV_CELL_REAL, VV_UNIT_RATIO, false, false },
    { "mostly", "mostly", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "mostly_ns", "of it", VV_CELL_INT, VV_UNIT_NS, true, false },
};

/* A wait on the path. */
struct verdict_wait { struct vv_interval time; uint32_t name; };

struct verdict {
    struct vv_critical critical;
    struct vv_interval *steps; /* of the chosen steps: ascending, disjoint                       */
    size_t step_count;
    int64_t steps_ns;          /* their sum                                                      */
    int64_t sum_ns;            /* of all chosen steps, where several at once count each          */
    struct vv_intervals gaps;  /* that the path does not explain                                 */
    struct verdict_wait *waits; /* those of the gaps that are waits, ascending                   */
    size_t wait_count;
    int64_t time_ns[BOUNDS_BY];
    int64_t *of_name[BOUNDS_BY]; /* string -> time                                                */
    int64_t *of_track;         /* track -> time of the path                                      */
    bool has_met;              /* the path leads through a meeting of ranks                      */
    uint64_t used, chosen;     /* steps                                                          */
};

/* ---- which instants ---- */

static int by_begin(const void *a, const void *b)
{
    const struct vv_interval *left = a, *right = b;
    return (left->begin_ns > right->begin_ns) - (left->begin_ns < right->begin_ns);
}

/* The union of the chosen steps. */
static enum varve_code find_steps(const struct vv_scope *scope, struct vv_interval **out_steps,
                                  size_t *out_count, int64_t *out_sum_ns,
                                  struct varve_error *error)
{
    const struct vv_steps *steps = &scope->model->steps;
    struct vv_interval *found;
    size_t count = 0, kept = 0;
    VV_TRY(VV_SCRATCH_ARRAY(scope->scratch, &found, scope->step_count + 1, error));
    for (uint32_t s = 0; s < steps->table.count; s++)
        if (scope->steps[s])
            found[count++] = (struct vv_interval){ steps->begin_ns[s],
                                                steps->begin_ns[s] + steps->duration_ns[s] };
    qsort(found, count, sizeof *found, by_begin);
    *out_sum_ns = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && found[i].begin_ns <= found[kept - 1].end_ns) {
            if (found[i].end_ns > found[kept - 1].end_ns)
                found[kept - 1].end_ns = found[i].end_ns;
            continue;
        }
        found[kept++] = found[i];
    }
    for (size_t i = 0; i < kept; i++)
        *out_sum_ns += found[i].end_ns - found[i].begin_ns;
    *out_steps = found;
    *out_count = kept;
    return VARVE_OK;
}

/* Slices of the chosen tracks that begin between the first chosen step's begin and the last end. */
static int64_t count_slices(const struct vv_scope *scope)
{
    const struct vv_model *model = scope->model;
    const int64_t *begin_ns = model->slices.begin_ns;
    int64_t from_ns = INT64_MAX, to_ns = INT64_MIN, sum = 0;
    for (uint32_t s = 0; s < model->steps.table.count; s++) {
        int64_t step_ns = model->steps.begin_ns[s], end_ns = step_ns + model->steps.duration_ns[s];
        from_ns = scope->steps[s] && step_ns < from_ns ? step_ns : from_ns;
        to_ns = scope->steps[s] && end_ns > to_ns ? end_ns : to_ns;
    }
    for (uint32_t t = 0; t < model->tracks.table.count; t++) {
        uint32_t first, last;
        if (!scope->tracks[t])
            continue;
        vv_track_rows(model, t, &first, &last);
        sum += VV_FIRST_NOT(i, first, last, begin_ns[i] < to_ns);
        sum -= VV_FIRST_NOT(i, first, last, begin_ns[i] < from_ns);
    }
    return sum;
}

/* The first of `most` consecutive ones of `count` durations whose mean is nearest to that of all.
 * Of equally near ones, the first. */
static size_t nearest_to_mean(const int64_t *durations_ns, size_t count, size_t most)
{
    double all_ns = 0, some_ns = 0, nearest_ns = INFINITY;
    size_t best = 0;
    for (size_t i = 0; i < count; i++)
        all_ns += (double)durations_ns[i];
    for (size_t i = 0; i < count; i++) {
        some_ns += (double)durations_ns[i] - (i >= most ? (double)durations_ns[i - most] : 0);
        double far_ns = fabs(some_ns / (double)most - all_ns / (double)count);
        if (i + 1 < most || far_ns >= nearest_ns)
            continue;
        nearest_ns = far_ns;
        best = i + 1 - most;
    }
    return best;
}

/* Leaves only the chosen steps that the path is made for. */
static enum varve_code use_few(const struct vv_scope *scope, struct vv_scope *out_few,
                               uint64_t *out_used, struct varve_error *error)
{
    const struct vv_steps *steps = &scope->model->steps;
    uint64_t each = (uint64_t)count_slices(scope) / scope->step_count + 1;
    uint64_t part = scope->model->slices.table.count / PART_MAX;
    uint64_t place = 0, most = (part > SLICES_MAX ? part : SLICES_MAX) / each;
    int64_t *durations_ns;
    *out_few = *scope;
    *out_used = scope->step_count;
    most = most > 0 ? most : 1;
    if (scope->step_count <= most)
        return VARVE_OK;
    VV_TRY(VV_SCRATCH_ZEROS(scope->scratch, &out_few->steps, steps->table.count, error));
    VV_TRY(VV_SCRATCH_ARRAY(scope->scratch, &durations_ns, scope->step_count, error));
    for (uint32_t s = 0; s < steps->table.count; s++)
        if (scope->steps[s])
            durations_ns[place++] = steps->duration_ns[s];
    uint64_t first = nearest_to_mean(durations_ns, scope->step_count, most);
    place = 0;
    for (uint32_t s = 0; s < steps->table.count; s++) {
        if (!scope->steps[s])
            continue;
        out_few->steps[s] = place >= first && place < first + most;
        place++;
    }
    out_few->step_count = *out_used = most;
    return VARVE_OK;
}

/* ---- what the path does then ---- */

static enum bound_by bound_by_of(struct vv_critical *critical, const struct vv_path_step *step)
{
    static const enum bound_by of_bound[VV_BOUND_COUNT] = {
        [VV_BOUND_HOST] = HOST, [VV_BOUND_DATA] = DATA, [VV_BOUND_COMPILE] = COMPILATION,
        [VV_BOUND_MEMORY] = MEMORY, [VV_BOUND_COMPUTE] = COMPUTATION,
        [VV_BOUND_COMM] = COMMUNICATION, [VV_BOUND_COPY] = COPIES, [VV_BOUND_LAUNCH] = LAUNCH,
        [VV_BOUND_QUEUE] = LAUNCH,
    };
    return of_bound[vv_bound_of(critical, step->link, step->owner)];
}

/* Time of [begin, end) that is in a step. `*at` is the first step that may reach behind begin. */
static int64_t in_steps(const struct verdict *verdict, int64_t begin_ns, int64_t end_ns, size_t *at)
{
    int64_t sum_ns = 0;
    while (*at < verdict->step_count && verdict->steps[*at].end_ns <= begin_ns)
        (*at)++;
    for (size_t i = *at; i < verdict->step_count && verdict->steps[i].begin_ns < end_ns; i++) {
        int64_t from = verdict->steps[i].begin_ns, to = verdict->steps[i].end_ns;
        from = from > begin_ns ? from : begin_ns;
        to = to < end_ns ? to : end_ns;
        sum_ns += to > from ? to - from : 0;
    }
    return sum_ns;
}

static void count(struct verdict *verdict, enum bound_by bound, uint32_t name, int64_t time_ns)
{
    verdict->time_ns[bound] += time_ns;
    verdict->of_name[bound][name] += time_ns;
}

/* An edge's time that it does not explain lies before the time that it weighs. */
static enum varve_code walk_path(struct verdict *verdict, struct varve_error *error)
{
    struct vv_critical *critical = &verdict->critical;
    const struct vv_critical_solution *solution = &critical->solution;
    const int64_t *time_ns = critical->graph.time_ns;
    size_t at = 0;
    VV_TRY(VV_SCRATCH_ARRAY(verdict->gaps.scratch, &verdict->waits, solution->path_count, error));
    for (size_t i = 1; i < solution->path_count; i++) {
        const struct vv_path_step *step = &solution->path[i];
        int64_t end_ns = time_ns[step->node], weighs_ns = end_ns - step->weight_ns;
        int64_t former_ns = time_ns[solution->path[i - 1].node];
        verdict->has_met |= step->link == VV_LINK_MEET;
        if (step->link == VV_LINK_MEET)
            count(verdict, RANK, 0, in_steps(verdict, former_ns, weighs_ns, &at));
        else
            VV_TRY(vv_intervals_add(&verdict->gaps, former_ns, weighs_ns, error));
        if (step->link == VV_LINK_WAITING && step->owner != VV_NONE)
            verdict->waits[verdict->wait_count++] =
                (struct verdict_wait){ { former_ns, weighs_ns },
                                       vv_critical_name(&critical->graph, step->owner) };
        if (!vv_link_weighs(step->link) || step->weight_ns == 0)
            continue;
        uint32_t name = step->owner != VV_NONE ? vv_critical_name(&critical->graph, step->owner)
                                               : 0;
        int64_t inside_ns = in_steps(verdict, weighs_ns, end_ns, &at);
        count(verdict, bound_by_of(critical, step), name, inside_ns);
        if (step->owner != VV_NONE)
            verdict->of_track[critical->graph.model->slices.track[step->owner]] += inside_ns;
    }
    return VARVE_OK;
}

/* When some device does work of these classes. */
static enum varve_code find_busy(const struct vv_device_work *work, unsigned classes,
                                 struct vv_intervals *out_busy, struct varve_error *error)
{
    struct vv_intervals of_one = { .scratch = out_busy->scratch };
    out_busy->count = 0;
    for (size_t d = 0; d < work->device_count; d++) {
        VV_TRY(vv_device_busy(work, &work->devices[d], classes, VV_ALWAYS, &of_one, error));
        for (size_t i = 0; i < of_one.count; i++)
            VV_TRY(vv_intervals_add(out_busy, of_one.items[i].begin_ns, of_one.items[i].end_ns,
                                    error));
    }
    vv_intervals_unite(out_busy);
    return VARVE_OK;
}

/* What nothing explains has the name of the wait in which it lies. Both are ascending. */
static void name_waits(struct verdict *verdict, const struct vv_intervals *unexplained)
{
    size_t at = 0;
    for (size_t w = 0; w < verdict->wait_count; w++) {
        const struct verdict_wait *wait = &verdict->waits[w];
        while (at < unexplained->count && unexplained->items[at].end_ns <= wait->time.begin_ns)
            at++;
        for (size_t i = at; i < unexplained->count &&
                            unexplained->items[i].begin_ns < wait->time.end_ns; i++) {
            int64_t begin_ns = unexplained->items[i].begin_ns;
            int64_t end_ns = unexplained->items[i].end_ns;
            begin_ns = begin_ns > wait->time.begin_ns ? begin_ns : wait->time.begin_ns;
            end_ns = end_ns < wait->time.end_ns ? end_ns : wait->time.end_ns;
            verdict->of_name[OTHER][wait->name] += end_ns - begin_ns;
        }
    }
}

/* The gaps within the steps, and what lies before the path and after it, by what devices do. */
static enum varve_code fill_gaps(struct verdict *verdict, const struct vv_scope *scope,
                                 const struct vv_question *question, struct varve_error *error)
{
    static const struct { unsigned classes; enum bound_by bound; } kinds[] = {
        { VV_CLASS_BIT(VV_CLASS_COMPUTE) | VV_CLASS_BIT(VV_CLASS_SET), COMPUTATION },
        { VV_CLASS_BIT(VV_CLASS_COMM), COMMUNICATION },
        { VV_CLASS_BIT(VV_CLASS_COPY), COPIES },
    };
    const struct vv_critical_solution *solution = &verdict->critical.solution;
    const int64_t *time_ns = verdict->critical.graph.time_ns;
    const struct vv_interval *first = &verdict->steps[0],
                             *last = &verdict->steps[verdict->step_count - 1];
    struct vv_intervals steps = { .scratch = scope->scratch, .items = verdict->steps,
                                  .count = verdict->step_count };
    struct vv_intervals in_gaps = { .scratch = scope->scratch }, busy = in_gaps, left = in_gaps;
    struct vv_device_work work;
    VV_TRY(vv_device_work_init(&work, scope, question->selection.device, error));
    if (solution->path_count > 0) {
        int64_t begin_ns = time_ns[solution->path[0].node],
                end_ns = time_ns[solution->path[solution->path_count - 1].node];
        VV_TRY(vv_intervals_add(&verdict->gaps, first->begin_ns, begin_ns, error));
        VV_TRY(vv_intervals_add(&verdict->gaps, end_ns, last->end_ns, error));
    }
    vv_intervals_unite(&verdict->gaps);
    VV_TRY(vv_intervals_intersect(&verdict->gaps, &steps, &in_gaps, error));
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        VV_TRY(find_busy(&work, kinds[k].classes, &busy, error));
        count(verdict, kinds[k].bound, 0, vv_intervals_length_common(&in_gaps, &busy));
        VV_TRY(vv_intervals_subtract(&in_gaps, &busy, &left, error));
        struct vv_intervals former = in_gaps;
        in_gaps = left;
        left = former;
    }
    name_waits(verdict, &in_gaps);
    return VARVE_OK;
}

/* The path may begin after the steps' begin, and end before their end. */
static void count_rest(struct verdict *verdict)
{
    int64_t known_ns = 0;
    for (int b = 0; b < BOUNDS_BY; b++)
        known_ns += verdict->time_ns[b];
    count(verdict, OTHER, 0, verdict->steps_ns - known_ns);
}

/* ---- rows ---- */

/* What the time is of the whole, if it is so much of a part. */
static int64_t in_proportion(int64_t time_ns, int64_t part_ns, int64_t whole_ns)
{
    if (part_ns <= 0 || part_ns == whole_ns)
        return time_ns;
    return (int64_t)((double)time_ns / (double)part_ns * (double)whole_ns);
}

/* The name that took most; of equal ones, the first of the alphabet. */
static uint32_t most_of(const struct verdict *verdict, int bound)
{
    const struct vv_model *model = verdict->critical.graph.model;
    const int64_t *times_ns = verdict->of_name[bound];
    uint32_t most = 0;
    for (uint32_t name = 1; name < model->strings.count; name++) {
        if (times_ns[name] == 0 || (most != 0 && times_ns[name] < times_ns[most]))
            continue;
        if (most == 0 || times_ns[name] > times_ns[most] ||
            strcmp(vv_text_of(model, name), vv_text_of(model, most)) < 0)
            most = name;
    }
    return most;
}

static enum varve_code put_row(const struct verdict *verdict, int bound, int64_t time_ns,
                               int64_t whole_ns, struct vv_sheet *sheet, struct varve_error *error)
{
    const struct vv_model *model = verdict->critical.graph.model;
    uint32_t most = most_of(verdict, bound);
    const int64_t *times_ns = verdict->of_name[bound];
    /* Time of the host between the ranges has no name. */
    bool is_outside = bound == HOST && times_ns[0] > (most != 0 ? times_ns[most] : 0);
    size_t row;
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    VV_TRY(vv_sheet_text(sheet, row, BOUND_BY, words[bound], error));
    vv_sheet_int(sheet, row, TIME, time_ns);
    vv_sheet_real(sheet, row, SHARE, (double)time_ns / (double)whole_ns);
    /* Waits that nothing explains have names, the rest of such time has none. */
    bool is_named = bound != OTHER || 2 * times_ns[most] > verdict->time_ns[OTHER];
    if (!is_named || (most == 0 && !is_outside))
        return VARVE_OK;
    most = is_outside ? 0 : most;
    vv_sheet_int(sheet, row, MOSTLY_NS, in_proportion(times_ns[most], verdict->steps_ns, whole_ns));
    return vv_sheet_text(sheet, row, MOSTLY,
                         is_outside ? "(outside operators)" : vv_text_of(model, most), error);
}

static enum varve_code put_rows(const struct verdict *verdict, int64_t whole_ns,
                                struct vv_sheet *sheet, struct varve_error *error)
{
    bool is_put[BOUNDS_BY] = { false };
    int64_t left_ns = whole_ns, times_ns[BOUNDS_BY];
    int largest = 0;
    for (int b = 0; b < BOUNDS_BY; b++) {
        times_ns[b] = in_proportion(verdict->time_ns[b], verdict->steps_ns, whole_ns);
        left_ns -= times_ns[b];
        largest = times_ns[b] > times_ns[largest] ? b : largest;
    }
    times_ns[largest] += left_ns; /* what rounding took */
    for (int i = 0; i < BOUNDS_BY; i++) {
        int next = -1;
        for (int b = 0; b < BOUNDS_BY; b++)
            if (!is_put[b] && times_ns[b] > 0 && (next < 0 || times_ns[b] > times_ns[next]))
                next = b;
        if (next < 0)
            break;
        is_put[next] = true;
        VV_TRY(put_row(verdict, next, times_ns[next], whole_ns, sheet, error));
    }
    return VARVE_OK;
}

#define ONE_RANKS 0.75 /* share of the path from which it is one rank's: equal ones have less  */

/* ", 98.1 % of it on rank 1", where most of the path is on one of the ranks that meet. A path
 * without a meeting is on a rank that nobody waits for. */
static void put_rank(const struct verdict *verdict, char *text, size_t bytes)
{
    const struct vv_scope *scope = &verdict->critical.scope;
    uint32_t tracks = (uint32_t)scope->model->tracks.table.count;
    char share[VV_NUMBER_BYTES];
    text[0] = '\0';
    if (vv_scope_rank_count(scope) < 2 || !verdict->has_met)
        return;
    for (uint32_t first = 0; first < tracks; first++) { /* any track of a rank stands for it      */
        int64_t rank = vv_scope_rank(scope, first), time_ns = 0;
        for (uint32_t track = 0; track < tracks; track++)
            time_ns += rank >= 0 && vv_scope_rank(scope, track) == rank ? verdict->of_track[track]
                                                                        : 0;
        if ((double)time_ns < ONE_RANKS * (double)verdict->steps_ns)
            continue;
        vv_number_percent((double)time_ns / (double)verdict->steps_ns, share, sizeof share);
        snprintf(text, bytes, ", %s of it on rank %" PRId64, share, rank);
        return;
    }
}

static enum varve_code put_policy(const struct verdict *verdict, int64_t whole_ns,
                                  struct vv_sheet *sheet, struct varve_error *error)
{
    char time[VV_NUMBER_BYTES], left_out[60], overlap[80] = "", rank[80];
    put_rank(verdict, rank, sizeof rank);
    vv_number_duration(whole_ns, time, sizeof time);
    vv_scope_left_out_text(&verdict->critical.scope, left_out, sizeof left_out);
    if (verdict->sum_ns - whole_ns > whole_ns / 100) { /* STEP says the sum */
        char sum[VV_NUMBER_BYTES];
        vv_number_duration(verdict->sum_ns, sum, sizeof sum);
        snprintf(overlap, sizeof overlap, " side by side, %s one after the other", sum);
    }
    if (verdict->chosen == 0)
        return vv_sheet_policy(sheet, error, "%s of %s, by the critical path%s", time,
                               verdict->critical.windows.says, rank);
    if (verdict->used < verdict->chosen)
        return vv_sheet_policy(sheet, error,
                               "%s of %" PRIu64 " steps%s, by the critical path of %" PRIu64
                               " in a row that take nearest to the mean%s%s",
                               time, verdict->chosen, overlap, verdict->used, rank, left_out);
    return vv_sheet_policy(sheet, error, "%s of %" PRIu64 " step%s%s, by the critical path%s%s",
                           time, verdict->chosen, verdict->chosen == 1 ? "" : "s", overlap, rank,
                           left_out);
}

/* ---- all together ---- */

static enum varve_code judge(struct verdict *verdict, const struct vv_scope *scope,
                             const struct vv_question *question, int64_t *out_whole_ns,
                             struct varve_error *error)
{
    struct vv_question window = *question;
    struct vv_scope few = *scope;
    struct vv_interval *all;
    size_t count_of_all;
    window.compat = NULL;
    window.annotation = NULL;
    verdict->chosen = scope->step_count;
    if (scope->step_count > 0) {
        window.selection.first_step = INT64_MIN + 1; /* all steps of the scope, as one window */
        VV_TRY(use_few(scope, &few, &verdict->used, error));
    }
    VV_TRY(vv_critical_init_in(&verdict->critical, &few, &window, error));
    const struct vv_critical_graph *graph = &verdict->critical.graph;
    if (graph->node_count == 0)
        return VARVE_OK;
    VV_TRY(find_steps(&few, &verdict->steps, &verdict->step_count, &verdict->steps_ns, error));
    VV_TRY(find_steps(scope, &all, &count_of_all, out_whole_ns, error));
    for (uint32_t s = 0; s < scope->model->steps.table.count; s++)
        verdict->sum_ns += scope->steps[s] ? scope->model->steps.duration_ns[s] : 0;
    if (scope->step_count == 0) {
        verdict->steps[0] = (struct vv_interval){ graph->begin_ns, graph->end_ns };
        verdict->step_count = 1;
        verdict->steps_ns = *out_whole_ns = graph->end_ns - graph->begin_ns;
    }
    VV_TRY(walk_path(verdict, error));
    VV_TRY(fill_gaps(verdict, &few, question, error));
    count_rest(verdict);
    return VARVE_OK;
}

enum varve_code vv_analyse_verdict(const struct vv_model *model, const struct vv_question *question,
                                   struct vv_scratch *scratch, struct vv_sheet *out,
                                   struct varve_error *error)
{
    struct verdict verdict = { .gaps = { .scratch = scratch } };
    struct vv_selection selection = question->selection;
    struct vv_scope scope;
    int64_t whole_ns = 0;
    selection.filter = NULL; /* what bounds the steps is named by any operator                   */
    vv_sheet_init(out, "verdict", "BOUND BY", columns, COLUMNS);
    VV_TRY(vv_scope_init(&scope, model, &selection, scratch, error));
    for (int b = 0; b < BOUNDS_BY; b++)
        VV_TRY(VV_SCRATCH_ZEROS(scratch, &verdict.of_name[b], model->strings.count + 1, error));
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &verdict.of_track, model->tracks.table.count + 1, error));
    VV_TRY(judge(&verdict, &scope, question, &whole_ns, error));
    if (whole_ns <= 0)
        return vv_sheet_policy(out, error, "nothing recorded in %s", verdict.critical.windows.says);
    VV_TRY(put_rows(&verdict, whole_ns, out, error));
    return put_policy(&verdict, whole_ns, out, error);
}
