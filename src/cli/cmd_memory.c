/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_memory.c — varve memory: how much memory is live when, who holds it, and what is never
 * released. */
#include "cli/line/arguments.h"
#include "cli/reading/reading.h"

vv_run_verb vv_cmd_memory;

int vv_cmd_memory(const struct vv_arguments *arguments)
{
    static const char *const tables[] = { "memory", "memory_peak", "memory_steps", "memory_leaks",
                                          "allocations",
                                          NULL };
    return vv_reading_print(arguments, "memory", tables, 0);
}
