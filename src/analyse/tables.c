/* SPDX-License-Identifier: Apache-2.0 */
/* tables.c — every table by its name. A new analysis is a row here, a function in question/question.h and a file. */
#include <stdio.h>
#include <string.h>

#include "analyse/tables.h"
#include "base/text/nearest.h"


#define HOST (VV_PART_STEPS | VV_PART_THREAD | VV_PART_RANK)
#define ALL (HOST | VV_PART_DEVICE | VV_PART_FILTER)

const struct vv_table_entry vv_tables[] = {
    { "trace", "what was run, and whether to trust the trace", vv_analyse_trace, 0, false },
    { "inputs", "the files that were read", vv_analyse_inputs, 0, false },
    { "tables", "what was read, by table of the model", vv_analyse_tables, 0, false },
    { "processes", "processes", vv_analyse_processes, 0, false },
    { "threads", "threads and other tracks", vv_analyse_threads, 0, false },
    { "health", "what was odd in the trace", vv_analyse_health, 0, false },
    { "collectors", "which sources of records were found in the processes", vv_analyse_collectors, 0, true },
    { "advice", "what to look at first", vv_analyse_advice, ALL, false },
    { "step", "all steps in one row", vv_analyse_step, HOST, false },
    { "steps", "one row a step", vv_analyse_steps, HOST | VV_PART_FILTER, false },
    { "step_phases", "one row a phase of a step", vv_analyse_step_phases, HOST, false },
    { "phases", "how the steps split into phases", vv_analyse_phases, HOST, false },
    { "blocks", "what repeats itself, such as layers, and how evenly", vv_analyse_blocks, ALL, false },
    { "block_positions", "what stands where in a repeated block", vv_analyse_block_positions, ALL, false },
    { "outliers", "what took another time than others of its kind, and what ran meanwhile", vv_analyse_outliers, ALL, false },
    { "roofline", "how near operators come to what their device can do", vv_analyse_roofline, ALL, false },
    { "mfu", "which part of the peak each step uses", vv_analyse_mfu, ALL, false },
    { "operators", "what each operator took", vv_analyse_operators, ALL, false },
    { "links", "backward operators with the forward operators they belong to", vv_analyse_links, ALL, false },
    { "call_tree", "what each operator took in each place that calls it, top-down", vv_analyse_call_tree, ALL, false },
    { "kernels", "what each kernel took, copies and sets too", vv_analyse_kernels, ALL, false },
    { "kernel_ops", "the same, by the operator that it was done for", vv_analyse_kernel_ops, ALL, false },
    { "kernel_counters", "what the device counted in each kernel, and whose kernel it was", vv_analyse_kernel_counters, ALL, false },
    { "annotations", "device work by the user's range that it was launched in", vv_analyse_annotations, ALL, false },
    { "step_split", "whose turn it was in each step: kernels, copies, runtime, data loader …", vv_analyse_step_split, HOST | VV_PART_DEVICE, false },
    { "devices", "what each device did: computation, exposed communication and copies, idle", vv_analyse_devices, ALL, true },
    { "overlap", "how much of the communication hides behind computation, by collective", vv_analyse_overlap, ALL, false },
    { "idle", "why each device stood still: what its host did, launching, dependencies", vv_analyse_idle, ALL, false },
    { "idle_gaps", "each time that a device stood still, the longest first", vv_analyse_idle_gaps, ALL, false },
    { "idle_streams", "why each stream stood still: host, launch or other", vv_analyse_idle_streams, ALL, false },
    { "launches", "what launching costs, by call; queueing apart", vv_analyse_launches, ALL, false },
    { "queue", "how much work waited on each stream", vv_analyse_queue, ALL, false },
    { "copies", "memory copies and sets, with their bandwidth", vv_analyse_copies, ALL, false },
    { "syncs", "calls that wait for a device, by how long they block", vv_analyse_syncs, ALL, false },
    { "waits", "waiting for the data loader, by step and in all", vv_analyse_waits, HOST | VV_PART_DEVICE, false },
    { "memory", "what each allocator gave out, the peak, and how little would have done", vv_analyse_memory, ALL, false },
    { "memory_peak", "who holds what is live when most is", vv_analyse_memory_peak, ALL, false },
    { "memory_steps", "what is live in each step, and what it leaves behind", vv_analyse_memory_steps, ALL, false },
    { "memory_leaks", "call paths that allocate in step after step what nothing releases", vv_analyse_memory_leaks, ALL, false },
    { "memory_plan", "where each allocation could lie in one arena", vv_analyse_memory_plan, ALL & ~VV_PART_STEPS, false },
    { "static_plan", "what a compiler planned: buffers, peak, conflicts", vv_analyse_static_plan, VV_PART_RANK | VV_PART_DEVICE, false },
    { "plan_conflicts", "planned buffers that overwrite each other", vv_analyse_plan_conflicts, VV_PART_RANK | VV_PART_DEVICE, false },
    { "allocations", "allocations, by bytes and lifetime", vv_analyse_allocations, ALL & ~VV_PART_STEPS, false },
    { "critical", "the critical path in one row", vv_analyse_critical, HOST | VV_PART_DEVICE, false },
    { "critical_bound", "what the critical path is spent on", vv_analyse_critical_bound, HOST | VV_PART_DEVICE, false },
    { "critical_ops", "operators on the critical path", vv_analyse_critical_ops, ALL, false },
    { "critical_path", "the critical path, segment by segment", vv_analyse_critical_path, ALL, false },
    { "what_if", "how much shorter the critical path would be if an operator were faster", vv_analyse_what_if, ALL, false },
    { "slack", "how much later operators could begin", vv_analyse_slack, ALL, false },
    { NULL, NULL, NULL, 0, false },
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
