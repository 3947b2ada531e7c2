/* SPDX-License-Identifier: Apache-2.0 */
/* What the host does that it need not do. */
#include "analyse/advice/rules/rules.h"

const struct vv_rule vv_rules_host[] = {
    { .name = "one_operator",
      .bound = "host", .bound_least = 0.3,
      .is = { vv_analyse_operators, "row", "operator", "step_self_share", NULL, 0.4, VV_EACH_ROW },
      .weight = 0.5,
      .saves = "step_self_ns", .saves_part = 1.0,
      .says = "{name} alone takes {share} of the steps.",
      .why = { vv_analyse_operators, "row", "operator", "step_self_share", NULL,
               "{step_calls} calls, {step_median_ns} the median, {step_max_ns} the longest." },
      .see = "varve report --by shape",
      .because = "What takes 40 % is the first thing to make faster (Amdahl)." },
    { .name = "python_itself",
      .bound = "host", .bound_least = 0.3,
      .is = { vv_analyse_step_split, "row", "total", "python_ns", "duration_ns", 0.2, VV_EACH_ROW },
      .weight = 1,
      .saves = "python_ns", .saves_part = 1.0,
      .says = "Python itself takes {share} of the steps, outside of operators.",
      .why = { vv_analyse_operators, "name", "*.py(*", "step_self_ns", NULL,
               "{name}: {step_self_ns} in {step_calls} calls." },
      .remedy = "torch.compile; fewer, larger operators; move the work to the loader's "
                "workers.",
      .see = "varve report --by source",
      .because = "TraceLens and PyTorch's guide: beyond a fifth, a compiler pays." },
    { .name = "tiny_kernels",
      .bound = "host", .bound_least = 0.3,
      .is = { vv_analyse_launches, "row", "total", "call_ns", VV_OF_STEPS, 0.05, VV_EACH_ROW },
      .also = { vv_analyse_launches, "row", "total", "under_10_us", "works", 0.5, VV_EACH_ROW },
      .weight = 1.1,
      .saves = "call_ns", .saves_part = 1.0,
      .says = "Launching work one piece at a time takes {share} of the steps; most pieces run "
              "for less than 10 µs.",
      .why = { vv_analyse_launches, "row", "call", "call_ns", NULL,
               "{name}: {calls} calls take {call_ns}; {under_10_us} pieces of the work are "
               "shorter than 10 µs." },
      .remedy = "torch.compile(mode='reduce-overhead') (CUDA graphs), a larger batch, "
                "foreach=True or fused=True optimizers, fewer small tensors.",
      .see = "varve idle --table launches",
      .because = "HTA's short kernels and PyTorch's guide: a launch costs the host 5 to 10 "
                 "µs, so shorter work cannot keep the device busy." },
    { .name = "optimizer_loop",
      .bound = "host", .bound_least = 0.1,
      .is = { vv_analyse_phases, "phase", "optimizer", "share", NULL, 0.15, VV_EACH_ROW },
      .also = { vv_analyse_operators, "name",
                "aten::addcdiv_|aten::addcmul_|aten::add_|aten::mul_|aten::lerp_", "step_calls",
                NULL, 20, VV_EACH_ROW },
      .weight = 0.9,
      .saves = "total_ns", .saves_part = 0.7,
      .says = "The optimizer takes {share} of the steps.",
      .why = { vv_analyse_operators, "name",
               "aten::addcdiv_|aten::addcmul_|aten::add_|aten::mul_|aten::lerp_", "step_calls",
               NULL,
               "It works parameter by parameter: {name} runs {step_calls} times in the steps." },
      .remedy = "foreach=True or fused=True in the optimizer's constructor; torch.compile of "
                "optimizer.step.",
      .see = "varve report --filter \"phase=='optimizer'\"",
      .because = "PyTorch's tuning guide: fused optimizers; above 15 % the loop over "
                 "parameters shows." },
    { .name = "conversions",
      .bound = "host", .bound_least = 0.3,
      .is = { vv_analyse_operators, "name",
              "aten::copy_|aten::_to_copy|aten::contiguous|aten::clone", "step_self_share", NULL,
              0.15, VV_ALL_ROWS },
      .weight = 0.8,
      .saves = VV_OF_STEPS, .saves_part = 1.0,
      .says = "{share} of the steps is copies and conversions of tensors on the host.",
      .why = { vv_analyse_operators, "name",
               "aten::copy_|aten::_to_copy|aten::contiguous|aten::clone", "step_self_ns", NULL,
               
               "{name}: {step_calls} calls, {step_self_ns}." },
      .remedy = "One dtype and memory format from the loader on; .to(..., non_blocking=True) "
                "once; no .contiguous() or .clone() where a view does; channels_last for the "
                "whole model.",
      .see = "varve report --filter \"name~'aten::*cop*'\" --by module",
      .because = "TraceLens and msprof-analyze (affinity, format conversions): beyond 15 % "
                 "one conversion more than needed is likely." },
    { .name = "scalars_from_tensors",
      .is = { vv_analyse_operators, "name",
              "aten::item|aten::_local_scalar_dense|aten::is_nonzero|aten::equal",
              "step_self_share", NULL, 0.05, VV_ALL_ROWS },
      .weight = 1.2,
      .saves = VV_OF_STEPS, .saves_part = 1.0,
      .says = "{share} of the steps passes in reading single numbers from tensors, which "
              "waits for the device.",
      .why = { vv_analyse_operators, "name",
               "aten::item|aten::_local_scalar_dense|aten::is_nonzero|aten::equal", "step_calls",
               NULL,
               "{name}: {step_calls} calls in the steps." },
      .remedy = "Keep loss and metrics on the device; .item() every 100th step; torch.where "
                "instead of if; clip_grad_norm_(foreach=True) without .item().",
      .see = "varve report --filter \"name~'aten::*scalar*'\" --by source",
      .because = "PyTorch's tuning guide: avoid unnecessary synchronization; 5 % as for other "
                 "waits." },
    { .name = "sizes_from_tensors",
      .is = { vv_analyse_operators, "name",
              "aten::nonzero|aten::masked_select|aten::unique*|aten::_unique2|"
              "aten::repeat_interleave",
              "step_self_share", NULL, 0.05, VV_ALL_ROWS },
      .weight = 1.1,
      .saves = VV_OF_STEPS, .saves_part = 1.0,
      .says = "{share} of the steps passes in operators whose result's size depends on "
              "values, which waits for the device.",
      .why = { vv_analyse_operators, "name",
               "aten::nonzero|aten::masked_select|aten::unique*|aten::_unique2|"
               "aten::repeat_interleave",
               "step_calls", NULL,
               "{name}: {step_calls} calls in the steps." },
      .remedy = "torch.where, masks by multiplication, output_size= of repeat_interleave, "
                "fixed capacities.",
      .see = "varve report --filter \"name~'aten::nonzero*'\" --by source",
      .because = "PyTorch's tuning guide names nonzero; 5 % as for other waits." },
    { .name = "processor_taken",
      .is = { vv_analyse_step_counters, "row", "total", "cpu_share", NULL, 0.25, VV_REST_OF_ROW },
      .weight = 0.9,
      .says = "The thread of the steps did not have the processor for {share} of the steps.",
      .remedy = "Fewer threads than processors: torch.set_num_threads, OMP_NUM_THREADS, "
                "num_workers; pin ranks (taskset, numactl); look for other programs.",
      .see = "varve report --table step_counters",
      .because = "A thread that neither waits nor is descheduled has nearly all its time; a "
                 "quarter is oversubscription (torch's intra-op guide)." },
    { .name = "outside_operators",
      .unless = "python_itself",
      .is = { vv_analyse_step_split, "row", "total", "other_ns", "duration_ns", 0.3, VV_EACH_ROW },
      .weight = 0.8,
      .saves = "other_ns", .saves_part = 1.0,
      .says = "In {share} of the steps' time nothing ran that was recorded: Python, or code "
              "without marks.",
      .remedy = "Record it: varve record --collect +python, or mark ranges (varve.h, "
                "record_function); then look again.",
      .see = "varve report --table step_split --fields +python_ns",
      .because = "Beyond 30 % the largest part of the step has no name (TraceLens: CPU idle; "
                 "first-use reports of sleeping steps)." },
};
const size_t vv_rules_host_count = sizeof vv_rules_host / sizeof *vv_rules_host;
