/* SPDX-License-Identifier: Apache-2.0 */
/* tables.h — the list of all tables. Each row has the table's name, the choices that change it,
 * whether a report leaves an empty one out, and a text that says what it shows. vv_analyse_NAME
 * makes table NAME; question.h declares it. A new table is a row here, and a file of its name in a
 * room of analyse/. */
#ifndef VV_QUESTION_TABLES_H
#define VV_QUESTION_TABLES_H

/* The parts of a selection, and other tools' rules, as bits: COMPAT is HTA's (--compat hta), PADDLE
 * the text of Fluid's report (--compat paddle), MSPROF msprof's columns (--compat msprof),
 * MLIRGRAPH the graph of a thesis (--compat mlirgraph). */
enum vv_choice {
    VV_CHOICE_STEPS = 1, VV_CHOICE_THREAD = 2, VV_CHOICE_RANK = 4, VV_CHOICE_DEVICE = 8,
    VV_CHOICE_FILTER = 16, VV_CHOICE_COMPAT = 32, VV_CHOICE_PADDLE = 64,
    VV_CHOICE_MSPROF = 128, VV_CHOICE_MLIRGRAPH = 256
};
#define VV_PARTS_HOST (VV_CHOICE_STEPS | VV_CHOICE_THREAD | VV_CHOICE_RANK)
#define VV_PARTS_ALL (VV_PARTS_HOST | VV_CHOICE_DEVICE | VV_CHOICE_FILTER)
#define VV_PARTS_WORK (VV_PARTS_ALL | VV_CHOICE_COMPAT)
#define VV_PARTS_PATH (VV_PARTS_HOST | VV_CHOICE_DEVICE | VV_CHOICE_COMPAT)

/* TABLE(name, parts, is_optional, says) */
#define VV_TABLES(TABLE) \
    TABLE(trace, 0, false, "what was run, and whether to trust the trace") \
    TABLE(inputs, 0, false, "the files that were read") \
    TABLE(tables, 0, false, "what was read, by table of the model") \
    TABLE(processes, 0, true, "processes") \
    TABLE(threads, 0, true, "threads and other tracks") \
    TABLE(clocks, 0, true, "clocks of devices, and how well they are known") \
    TABLE(health, 0, false, "what was odd in the trace") \
    TABLE(collectors, 0, true, "which sources of records were found in the processes") \
    TABLE(unseen, 0, true, "what was not recorded, and what records it") \
    TABLE(verdict, VV_PARTS_HOST | VV_CHOICE_DEVICE, false, \
          "what the steps are bound by: host, computation, communication, data …") \
    TABLE(advice, VV_PARTS_HOST | VV_CHOICE_DEVICE, false, "what to look at first") \
    TABLE(step, VV_PARTS_HOST, false, "all steps in one row") \
    TABLE(steps, VV_PARTS_HOST | VV_CHOICE_FILTER, false, "one row a step") \
    TABLE(step_trace, VV_CHOICE_STEPS | VV_CHOICE_RANK | VV_CHOICE_MSPROF, true, \
          "iterations of models, by the trace points that were marked") \
    TABLE(step_reduces, VV_CHOICE_STEPS | VV_CHOICE_RANK, true, \
          "each collective of each iteration, by its trace points") \
    TABLE(trace_plan, VV_CHOICE_RANK, true, "where trace points were planned, and why there") \
    TABLE(step_phases, VV_PARTS_HOST, false, "one row a phase of a step") \
    TABLE(phases, VV_PARTS_HOST, false, "how the steps split into phases") \
    TABLE(blocks, VV_PARTS_ALL, false, "what repeats itself, such as layers, and how evenly") \
    TABLE(block_positions, VV_PARTS_ALL, false, "what stands where in a repeated block") \
    TABLE(outliers, VV_PARTS_ALL, false, \
          "what took another time than others of its kind, and what ran meanwhile") \
    TABLE(roofline, VV_PARTS_ALL, false, "how near operators come to what their device can do") \
    TABLE(mfu, VV_PARTS_ALL, false, "which part of the peak each step uses") \
    TABLE(operators, VV_PARTS_ALL, false, "what each operator took") \
    TABLE(host_gaps, VV_PARTS_HOST, false, \
          "where the threads of the steps were in no recorded call, by the calls around") \
    TABLE(links, VV_PARTS_ALL, false, \
          "backward operators with the forward operators they belong to") \
    TABLE(forward_only, VV_PARTS_HOST | VV_CHOICE_FILTER, false, \
          "operators that recorded a graph which no backward pass used") \
    TABLE(call_tree, VV_PARTS_ALL, false, \
          "what each operator took in each place that calls it, top-down") \
    TABLE(event_summary, VV_PARTS_ALL | VV_CHOICE_PADDLE, false, \
          "the report of PaddlePaddle Fluid's profiler, by its rules") \
    TABLE(kernels, VV_PARTS_WORK, false, "what each kernel took, copies and sets too") \
    TABLE(kernel_ops, VV_PARTS_WORK, false, "the same, by the operator that it was done for") \
    TABLE(kernel_counters, VV_PARTS_ALL, false, \
          "what the device counted in each kernel, and whose kernel it was") \
    TABLE(operator_counters, VV_PARTS_HOST | VV_CHOICE_FILTER, false, \
          "what the threads' counters say of each operator itself") \
    TABLE(step_counters, VV_PARTS_HOST, false, \
          "what the counters of a step's thread say of each step") \
    TABLE(models, 0, true, "models that a runtime loaded: loading, and each one's executions") \
    TABLE(registered_graphs, 0, true, "graphs that a runtime registered") \
    TABLE(tasks, VV_PARTS_ALL, false, \
          "each piece of device work, with its node, model and tensors") \
    TABLE(annotations, VV_PARTS_WORK, false, \
          "device work by the user's range that it was launched in") \
    TABLE(marks, VV_PARTS_HOST, false, "instants that the program marked, in order of time") \
    TABLE(counters, VV_PARTS_HOST, false, \
          "what each counter did, in all or by step: first, last, min, max, mean") \
    TABLE(counter_values, VV_PARTS_HOST, false, "each value of each counter, in order of time") \
    TABLE(async, VV_CHOICE_STEPS | VV_CHOICE_RANK | VV_CHOICE_FILTER, false, \
          "asynchronous ranges, and how many were open at once") \
    TABLE(flows, VV_PARTS_HOST, false, "arrows, and the time between their two ends") \
    TABLE(step_split, VV_PARTS_HOST | VV_CHOICE_DEVICE, false, \
          "whose turn it was in each step: kernels, copies, runtime, data loader …") \
    TABLE(devices, VV_PARTS_WORK, true, \
          "what each device did: computation, exposed communication and copies, idle") \
    TABLE(overlap, VV_PARTS_WORK, false, \
          "how much of the communication hides behind computation, by collective") \
    TABLE(collective_kinds, VV_PARTS_WORK, false, \
          "collectives by operation, group, size and rank, on devices and hosts") \
    TABLE(idle, VV_PARTS_WORK, false, \
          "why each device stood still: what its host did, launching, dependencies") \
    TABLE(idle_gaps, VV_PARTS_WORK, false, \
          "each time that a device stood still, the longest first") \
    TABLE(idle_streams, VV_PARTS_WORK, false, \
          "why each stream stood still: host, launch or other") \
    TABLE(launches, VV_PARTS_WORK, false, "what launching costs, by call; queueing apart") \
    TABLE(queue, VV_PARTS_WORK, false, "how much work waited on each stream") \
    TABLE(throttling, VV_PARTS_HOST, true, \
          "what held devices' clocks down during the steps, and for how long") \
    TABLE(copies, VV_PARTS_WORK, false, "memory copies and sets, with their bandwidth") \
    TABLE(syncs, VV_PARTS_ALL, false, "calls that wait for a device, by how long they block") \
    TABLE(waits, VV_PARTS_HOST | VV_CHOICE_DEVICE, false, \
          "waiting for the data loader, by step and in all") \
    TABLE(memory, VV_PARTS_ALL, false, \
          "what each allocator gave out, the peak, and how little would have done") \
    TABLE(memory_peak, VV_PARTS_ALL, false, "who holds what is live when most is") \
    TABLE(memory_steps, VV_PARTS_ALL, false, \
          "what is live in each step, and what it leaves behind") \
    TABLE(memory_leaks, VV_PARTS_ALL, false, \
          "call paths that allocate in step after step what nothing releases") \
    TABLE(memory_plan, VV_PARTS_ALL & ~VV_CHOICE_STEPS, false, \
          "where each allocation could lie in one arena") \
    TABLE(static_plan, VV_CHOICE_RANK | VV_CHOICE_DEVICE, false, \
          "what a compiler planned: buffers, peak, conflicts") \
    TABLE(plan_conflicts, VV_CHOICE_RANK | VV_CHOICE_DEVICE, false, \
          "planned buffers that overwrite each other") \
    TABLE(allocations, VV_PARTS_ALL & ~VV_CHOICE_STEPS, false, \
          "allocations, by bytes and lifetime") \
    TABLE(critical, VV_PARTS_PATH, false, "the critical path in one row") \
    TABLE(critical_bound, VV_PARTS_PATH, false, \
          "what the critical path is spent on") \
    TABLE(critical_ops, VV_PARTS_WORK, false, "operators on the critical path") \
    TABLE(critical_path, VV_PARTS_WORK, false, "the critical path, segment by segment") \
    TABLE(what_if, VV_PARTS_WORK, false, \
          "how much shorter the critical path would be if an operator were faster") \
    TABLE(slack, VV_PARTS_WORK, false, "how much later operators could begin") \
    TABLE(graph, VV_PARTS_ALL | VV_CHOICE_MLIRGRAPH, false, \
          "the graph of what ran: nodes, edges, levels, and what is not known of it") \
    TABLE(graph_nodes, VV_PARTS_ALL | VV_CHOICE_MLIRGRAPH, false, "the nodes of that graph") \
    TABLE(graph_what_if, VV_PARTS_ALL | VV_CHOICE_MLIRGRAPH, false, \
          "what that graph would take if nodes of one name were faster") \
    TABLE(rank_waits, VV_PARTS_WORK, true, "which rank waited for which, and what made it late")

#endif
