/* SPDX-License-Identifier: Apache-2.0 */
/* What ranks tell each other, and which of them is late. */
#include "analyse/advice/rules/rules.h"

const struct vv_rule vv_rules_communication[] = {
    { .name = "exposed_communication",
      .is = { vv_analyse_devices, "row", "device", "exposed_communication_ns", "span_ns", 0.1,
              VV_EACH_ROW },
      .weight = 1.5,
      .saves = "exposed_communication_ns", .saves_part = 1.0, .of_steps = "steps",
      .says = "{device}[ of rank {rank}] communicates {share} of the time while nothing computes.",
      .why = { vv_analyse_overlap, "row", "collective", "exposed_ns", NULL,
               "{name}: {calls} calls, {communication_ns}, of which {hidden_ns} hides behind "
               "computation." },
      .remedy = "DDP: bucket_cap_mb, gradient_as_bucket_view=True, no_sync() while gradients "
                "accumulate; FSDP: prefetch, limit_all_gathers; compression hooks "
                "(bf16_compress_hook); a larger batch.",
      .remedy_xla = "XLA's latency hiding scheduler (GPUs: "
                "--xla_gpu_enable_latency_hiding_scheduler=true; TPUs: "
                "--xla_tpu_enable_async_collective_fusion=true); another mesh or sharding; "
                "gradients in bfloat16; a larger batch.",
      .remedy_cuda = "Larger messages, begun when their data is ready, on a stream of their "
                "own (ncclGroupStart, MPI_Iallreduce), while the rest is computed.",
      .see = "varve report --table overlap",
      .because = "HTA's and msprof-analyze's overlap: a tenth of the span that computes "
                 "nothing." },
    { .name = "late_rank",
      .is = { vv_analyse_rank_waits, "row", "wait", "waited_ns", "window_ns", 0.05, VV_EACH_ROW },
      .also = { vv_analyse_trace, NULL, NULL, "processes", NULL, 2, VV_EACH_ROW },
      .besides = { vv_analyse_rank_waits, "row", "wait", "net_ns", "window_ns", 0.05,
                   VV_EACH_ROW },
      .weight = 2, /* what ranks wait is exposed communication, too: this is its cause         */
      .saves = "net_ns", .saves_part = 1.0, .of_steps = "steps",
      .says = "In collectives {waits} waits {waited_ns} for {late}, which begins them later.",
      .why = { vv_analyse_rank_waits, "longer", "*", "longer_ns", "waited_ns",
               "{longer} takes {longer_ns} longer on {late} than on {waits}." },
      .or_why = { vv_analyse_rank_waits, "name", "*", "name_ns", "waited_ns",
                  "Meanwhile {late} was in {name}." },
      .remedy = "Give ranks equal work (DistributedSampler, padding by length, expert "
                "capacity); look at that rank's loader, processor and clock.",
      .see = "varve report --table rank_waits",
      .because = "HTA's and msprof-analyze's slow rank: 5 % is more than jitter. Where the late "
                 "rank waits as long itself, nobody is slow." },
    { .name = "exposed_collectives",
      .unless = "exposed_communication",
      .bound = "communication", .bound_least = 0.1,
      .is = { vv_analyse_collective_kinds, "row", "collective", "exposed_ns", "steps_ns", 0.1,
              VV_EACH_ROW },
      .weight = 1.3,
      .saves = "exposed_ns", .saves_part = 1.0, .of_steps = "steps",
      .says = "{name} takes {share} of the steps, while operators stand still.",
      .why = { vv_analyse_collective_kinds, "row", "collective", "exposed_ns", NULL,
               "{name}: {calls} calls, {total_ns}, of which nothing hides {exposed_ns}." },
      .remedy = "Begin a collective when its data is ready, and compute meanwhile: DDP's buckets "
                "(bucket_cap_mb, static_graph=True), async_op=True, MPI_Iallreduce; accumulate "
                "gradients over several batches, with no_sync() around all but the last.",
      .see = "varve report --table collective_kinds",
      .because = "HTA's and msprof-analyze's overlap, on hosts: a tenth of the step that only "
                 "communicates." },
    { .name = "small_collectives",
      .is = { vv_analyse_collective_kinds, "row", "collective", "exposed_ns", "steps_ns", 0.05,
              VV_EACH_ROW },
      .also = { vv_analyse_collective_kinds, "row", "collective", "calls", "steps", 10,
                VV_EACH_ROW },
      .besides = { vv_analyse_collective_kinds, "row", "collective", "calls", "in_elements", 0.02,
                   VV_EACH_ROW },
      .weight = 1.6, /* why communication is exposed                                         */
      .saves = "exposed_ns", .saves_part = 1.0, .of_steps = "steps",
      .says = "Collectives are small and many: {name} of {in_elements} elements runs {calls} times "
              "in {steps} steps, and takes {share} of them while operators stand still.",
      .why = { vv_analyse_collective_kinds, "row", "collective", "calls", NULL,
               "Each costs its latency, {median_ns} in the median, however little it sends." },
      .remedy = "A larger bucket_cap_mb, all_reduce_coalesced, one collective for all "
                "scalars.",
      .see = "varve report --table collective_kinds",
      .because = "msprof-analyze's small packets: latency, not bandwidth, decides; ten of one kind "
                 "in a step are parts of one." },
    /* Seen by what it sends: a map of parameters, once in each step. What the call takes is mostly
     * waiting for the other rank, which mending only moves: so there is no promise. */
    { .name = "ddp_search",
      .is = { vv_analyse_collective_kinds, "dtype", "Int", "exposed_ns", "steps_ns", 0.02,
              VV_EACH_ROW },
      .also = { vv_analyse_collective_kinds, "dtype", "Int", "calls", "steps", 0.9, VV_EACH_ROW },
      .besides = { vv_analyse_operators, "name", "DistributedDataParallel.forward", "step_calls",
                   NULL, 1, VV_EACH_ROW },
      .weight = 1,
      .says = "DistributedDataParallel searches the graph for unused parameters, and asks all "
              "ranks in each step which of {in_elements} were used: {share} of the steps.",
      .why = { vv_analyse_collective_kinds, "dtype", "Int", "calls", NULL,
               "{name} of {in_elements} integers: {calls} calls in {steps} steps, {median_ns} the "
               "median; the search itself comes on top." },
      .remedy = "find_unused_parameters=False where all parameters are used; "
                "static_graph=True; gradient_as_bucket_view=True.",
      .see = "varve report --table collective_kinds",
      .because = "PyTorch's DDP notes: with find_unused_parameters each step walks the graph and "
                 "reduces a map of all parameters. Of 300 tiny ones over gloo it was 8 % of the "
                 "step; 2 % pays one argument." },
    { .name = "barriers",
      .is = { vv_analyse_collective_kinds, "name", "*arrier*", "total_ns", "steps_ns", 0.03,
              VV_EACH_ROW },
      .weight = 1.1,
      .saves = "total_ns", .saves_part = 1.0, .of_steps = "steps",
      .says = "Barriers take {share} of the steps: {calls} calls.",
      .remedy = "No torch.distributed.barrier() in the step: collectives order themselves; "
                "synchronize once an epoch.",
      .see = "varve report --table collective_kinds",
      .because = "PyTorch's distributed notes; 3 % pays removing them." },
};
const size_t vv_rules_communication_count =
    sizeof vv_rules_communication / sizeof *vv_rules_communication;
