/* SPDX-License-Identifier: Apache-2.0 */
/* tables.c — every table by its name. A new analysis is a row here, a function in analyse.h and a file. */
#include <string.h>

#include "analyse/analyse.h"
#include "base/nearest.h"

const struct vv_table_entry vv_tables[] = {
    { "trace", "what was run, and whether to trust the trace", vv_analyse_trace, false },
    { "inputs", "the files that were read", vv_analyse_inputs, false },
    { "tables", "what was read, by table of the model", vv_analyse_tables, false },
    { "processes", "processes", vv_analyse_processes, false },
    { "threads", "threads and other tracks", vv_analyse_threads, false },
    { "health", "what was odd in the trace", vv_analyse_health, false },
    { "advice", "what to look at first", vv_analyse_advice, false },
    { "step", "all steps in one row", vv_analyse_step, false },
    { "steps", "one row a step", vv_analyse_steps, false },
    { "step_phases", "one row a phase of a step", vv_analyse_step_phases, false },
    { "phases", "how the steps split into phases", vv_analyse_phases, false },
    { "blocks", "what repeats itself, such as layers, and how evenly", vv_analyse_blocks, false },
    { "block_positions", "what stands where in a repeated block", vv_analyse_block_positions, false },
    { "outliers", "what took another time than others of its kind, and what ran meanwhile", vv_analyse_outliers, false },
    { "roofline", "how near operators come to what their device can do", vv_analyse_roofline, false },
    { "mfu", "which part of the peak each step uses", vv_analyse_mfu, false },
    { "operators", "what each operator took", vv_analyse_operators, false },
    { "links", "backward operators with the forward operators they belong to", vv_analyse_links, false },
    { "call_tree", "what each operator took in each place that calls it, top-down", vv_analyse_call_tree, false },
    { "kernels", "what each kernel took, copies and sets too", vv_analyse_kernels, false },
    { "kernel_ops", "the same, by the operator that it was done for", vv_analyse_kernel_ops, false },
    { "kernel_counters", "what the device counted in each kernel, and whose kernel it was", vv_analyse_kernel_counters, false },
    { "annotations", "device work by the user's range that it was launched in", vv_analyse_annotations, false },
    { "step_split", "whose turn it was in each step: kernels, copies, runtime, data loader …", vv_analyse_step_split, false },
    { "devices", "what each device did: computation, exposed communication and copies, idle", vv_analyse_devices, true },
    { "overlap", "how much of the communication hides behind computation, by collective", vv_analyse_overlap, false },
    { "idle", "why each device stood still: what its host did, launching, dependencies", vv_analyse_idle, false },
    { "idle_gaps", "each time that a device stood still, the longest first", vv_analyse_idle_gaps, false },
    { "idle_streams", "why each stream stood still: host, launch or other", vv_analyse_idle_streams, false },
    { "launches", "what launching costs, by call; queueing apart", vv_analyse_launches, false },
    { "queue", "how much work waited on each stream", vv_analyse_queue, false },
    { "copies", "memory copies and sets, with their bandwidth", vv_analyse_copies, false },
    { "syncs", "calls that wait for a device, by how long they block", vv_analyse_syncs, false },
    { "waits", "waiting for the data loader, by step and in all", vv_analyse_waits, false },
    { "memory", "what each allocator gave out, the peak, and how little would have done", vv_analyse_memory, false },
    { "memory_peak", "who holds what is live when most is", vv_analyse_memory_peak, false },
    { "memory_steps", "what is live in each step, and what it leaves behind", vv_analyse_memory_steps, false },
    { "memory_leaks", "call paths that allocate in step after step what nothing releases", vv_analyse_memory_leaks, false },
    { "memory_plan", "where each allocation could lie in one arena", vv_analyse_memory_plan, false },
    { "static_plan", "what a compiler planned: buffers, peak, conflicts", vv_analyse_static_plan, false },
    { "plan_conflicts", "planned buffers that overwrite each other", vv_analyse_plan_conflicts, false },
    { "allocations", "allocations, by bytes and lifetime", vv_analyse_allocations, false },
    { "critical", "the critical path in one row", vv_analyse_critical, false },
    { "critical_bound", "what the critical path is spent on", vv_analyse_critical_bound, false },
    { "critical_ops", "operators on the critical path", vv_analyse_critical_ops, false },
    { "critical_path", "the critical path, segment by segment", vv_analyse_critical_path, false },
    { "what_if", "how much shorter the critical path would be if an operator were faster", vv_analyse_what_if, false },
    { "slack", "how much later operators could begin", vv_analyse_slack, false },
    { NULL, NULL, NULL, false },
};

enum { NAMES_MAX = 80 };
_Static_assert(sizeof vv_tables / sizeof *vv_tables <= NAMES_MAX, "vv_table_find names them all");

enum varve_code vv_table_find(const char *name, const struct vv_table_entry **out_table,
                              struct varve_error *error)
{
    const char *names[NAMES_MAX] = { NULL };
    for (size_t i = 0; vv_tables[i].name != NULL; i++) {
        *out_table = &vv_tables[i];
        if (strcmp(vv_tables[i].name, name) == 0)
            return VARVE_OK;
        names[i] = vv_tables[i].name;
    }
    const char *nearest = vv_nearest(name, names);
    if (nearest != NULL)
        VV_FAIL(error, VARVE_INVALID, "no table '%s' here. Nearest: %s", name, nearest);
    VV_FAIL(error, VARVE_INVALID, "no table '%s' here. varve help tables lists them", name);
}
