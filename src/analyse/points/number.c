/* SPDX-License-Identifier: Apache-2.0 */
/* number.c — which iteration a point belongs to, where the program does not say: iterations may
 * overlap, so several are open at once. A point belongs to the first open iteration that can still
 * have it. */
#include "analyse/points/iterations.h"

#define OPEN_MAX 64u    /* the oldest counts as closed when there are more                      */
#define BEGUN_MAX 1024u /* collectives under way                                                */

struct open_iteration {
    int64_t number, execution;
    uint8_t reached; /* greatest kind of forward, backward, iteration so far                    */
    bool by_model;   /* begun by a model's begin                                                */
};

struct begun {
    uint32_t index;
    uint8_t kind;
    int64_t number;
};

struct numbering {
    struct vv_iterations *all;
    struct open_iteration open[OPEN_MAX]; /* oldest first                                       */
    struct begun begun[BEGUN_MAX];
    size_t open_count, begun_count;
    int64_t next;                         /* number of the next iteration                       */
    int64_t executions, executed;         /* of the model: begun, ended                         */
};

static void close_at(struct numbering *numbering, size_t at)
{
    for (size_t i = at + 1; i < numbering->open_count; i++)
        numbering->open[i - 1] = numbering->open[i];
    numbering->open_count--;
}

static struct open_iteration *open_new(struct numbering *numbering)
{
    if (numbering->open_count == OPEN_MAX)
        close_at(numbering, 0);
    struct open_iteration *open = &numbering->open[numbering->open_count++];
    *open = (struct open_iteration){ .number = numbering->next++,
                                     .execution = numbering->executions };
    return open;
}

/* A model's end closes what its execution has left open. */
static int64_t end_execution(struct numbering *numbering)
{
    int64_t last = -1, execution = ++numbering->executed;
    for (size_t i = 0; i < numbering->open_count;) {
        if (numbering->open[i].execution > execution) {
            i++;
            continue;
        }
        last = numbering->open[i].number;
        close_at(numbering, i);
    }
    if (numbering->executed > numbering->executions)
        numbering->executions = numbering->executed;
    return last;
}

/* Forward start, backward end and iteration end come in this order in each iteration. */
static int64_t place_stage(struct numbering *numbering, uint8_t kind)
{
    size_t at = 0;
    while (at < numbering->open_count && numbering->open[at].reached >= kind)
        at++;
    struct open_iteration *open =
        at < numbering->open_count ? &numbering->open[at] : open_new(numbering);
    int64_t number = open->number;
    open->reached = kind;
    if (kind == VARVE_POINT_ITERATION)
        close_at(numbering, (size_t)(open - numbering->open));
    return number;
}

static int64_t begin_pair(struct numbering *numbering, uint8_t kind, uint32_t index)
{
    struct open_iteration *open = numbering->open;
    if (numbering->open_count == 0)
        open = open_new(numbering);
    else if (kind == VARVE_POINT_FETCH) /* data for what runs next */
        open = &numbering->open[numbering->open_count - 1];
    if (numbering->begun_count == BEGUN_MAX)
        numbering->begun_count--;
    numbering->begun[numbering->begun_count++] = (struct begun){ index, kind, open->number };
    return open->number;
}

/* An end belongs to the iteration of its begin, also if that has ended. */
static int64_t end_pair(struct numbering *numbering, uint8_t kind, uint32_t index)
{
    for (size_t i = 0; i < numbering->begun_count; i++) {
        const struct begun begun = numbering->begun[i];
        if (begun.kind != kind || begun.index != index)
            continue;
        for (size_t j = i + 1; j < numbering->begun_count; j++)
            numbering->begun[j - 1] = numbering->begun[j];
        numbering->begun_count--;
        return begun.number;
    }
    return numbering->open_count > 0 ? numbering->open[0].number : -1;
}

static int64_t place(struct numbering *numbering, uint8_t kind, uint32_t index, bool is_end)
{
    switch (kind) {
    case VARVE_POINT_MODEL:
        if (is_end)
            return end_execution(numbering);
        numbering->executions++;
        struct open_iteration *open = open_new(numbering);
        open->by_model = true;
        return open->number;
    case VARVE_POINT_FORWARD:
    case VARVE_POINT_BACKWARD:
    case VARVE_POINT_ITERATION:
        return place_stage(numbering, kind);
    case VARVE_POINT_COLLECTIVE:
    case VARVE_POINT_FETCH:
        return is_end ? end_pair(numbering, kind, index) : begin_pair(numbering, kind, index);
    default: /* a step of the program has a number, or none */
        return -1;
    }
}

enum varve_code vv_iterations_number(struct vv_iterations *all, struct vv_scratch *scratch,
                                     size_t first, size_t limit, struct varve_error *error)
{
    const struct vv_trace_points *points = &all->model->trace_points;
    struct numbering *numbering;
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &numbering, 1, error));
    numbering->all = all;
    numbering->next = 1;
    for (size_t i = first; i < limit; i++) {
        uint32_t row = all->order[i];
        all->numbers[row] = place(numbering, points->kind[row], points->index[row],
                                  points->is_end[row] != 0);
        all->is_found[row] = true;
    }
    vv_scratch_release(scratch, numbering);
    return VARVE_OK;
}
