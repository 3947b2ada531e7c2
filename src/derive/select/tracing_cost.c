/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/select/tracing_cost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "derive/select/process_fact.h"

#define BEGINS "attached: 3."

/* From that minor version on. An interpreter with a profile function runs each instruction of 3.10
 * and 3.11 through a slower loop. Loops without calls took 1.4 to 2.0 times as long. */
static const struct { long minor; struct vv_tracing_cost cost; } costs[] = {
    { 12, { 85, 1.0 } },
    { 10, { 100, 1.5 } },
    { 0, { 50, 1.0 } },
};

bool vv_tracing_cost_of(const struct vv_model *model, uint32_t process,
                        struct vv_tracing_cost *out_cost)
{
    const char *said = vv_process_fact_text(model, process, "collector python");
    size_t row = 0;
    if (said == NULL || strncmp(said, BEGINS, sizeof BEGINS - 1) != 0)
        return false;
    long minor = strtol(said + sizeof BEGINS - 1, NULL, 10);
    while (row + 1 < sizeof costs / sizeof costs[0] && costs[row].minor > minor)
        row++;
    *out_cost = costs[row].cost;
    return true;
}

int64_t vv_tracing_cost_ns(const struct vv_tracing_cost *cost, int64_t python_ns, int64_t calls)
{
    double left_ns = fmax((double)python_ns - cost->call_ns * (double)calls, 0) / cost->slowdown;
    return python_ns - (int64_t)fmin(left_ns, 9e18);
}
