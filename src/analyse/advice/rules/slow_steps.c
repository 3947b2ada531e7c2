/* SPDX-License-Identifier: Apache-2.0 */
/* Single steps that take longer than the others. The rules further up know what most of them do. */
#include "analyse/advice/rules/rules.h"

#define OTHERS_TOOK_IT \
    "[Other programs may have taken up to {uncounted_ns} of it: varve record --metrics Memory " \
    "counts how long a thread waits for a processor.]"

/* Why a step is slow, and what to try then. */
static const struct vv_evidence causes[] = {
    { vv_analyse_steps, "cause", "compilation", "cause_ns", "step",
      "Compiling took {cause_ns} more there than in the median step.",
      .cause = "compilation", .rule = "compilation", .is_its = true },
    { vv_analyse_steps, "cause", "saving", "cause_ns", "step",
      "Saving took {cause_ns} more there than in the median step.",
      .cause = "saving", .rule = "saving", .is_its = true },
    { vv_analyse_host_gaps, "meanwhile", "*", "max_ns", "step", /* maybe it waits for that thread */
      "Its thread was in nothing that was recorded after {after} and before {until}: {max_ns} "
      "there, of {total_ns} in all steps; meanwhile another thread was in {meanwhile}.",
      .cause = "not recorded|no call" },
    { vv_analyse_host_gaps, "row", "gap", "max_ns", "step",
      "Its thread was in nothing that was recorded after {after} and before {until}: {max_ns} "
      "there, of {total_ns} in all steps.",
      .cause = "not recorded", .rule = "outside_operators" },
    { vv_analyse_host_gaps, "row", "gap", "max_ns", "step",
      "Its thread was in no call after {after} and before {until}: {max_ns} there, of {total_ns} "
      "in all steps.",
      .cause = "no call" },
    { vv_analyse_steps, "cause", "not recorded", "cause_ns", "step",
      "Its thread was in nothing that was recorded: {cause_ns} more than in the median step.",
      .weight = 0.01, /* the gap of above, unless it is next to nothing                          */
      .cause = "not recorded", .rule = "outside_operators" },
    { vv_analyse_steps, "cause", "no call", "cause_ns", "step",
      "Its thread was in no call: {cause_ns} more than in the median step.",
      .weight = 0.01, .cause = "no call" },
    { vv_analyse_outliers, "row", "outlier", "excess_ns", "step",
      "{name} took {duration_ns} there, its median is {median_ns}[; meanwhile: {cause}].",
      .cause = "longer calls", .remedy = OTHERS_TOOK_IT },
    { vv_analyse_outliers, "row", "outlier", "excess_ns", "step",
      "{name} took {duration_ns} there, its median is {median_ns}[; meanwhile: {cause}].",
      .cause = "longer waits" },
    { vv_analyse_steps, "cause", "longer calls", "longer_ns", "step",
      "{longer} took {longer_ns} more there than in other steps.",
      .cause = "longer calls", .remedy = OTHERS_TOOK_IT },
    { vv_analyse_steps, "cause", "longer waits|Python", "longer_ns", "step",
      "{longer} took {longer_ns} more there than in other steps.",
      .cause = "longer waits|Python" },
    { vv_analyse_steps, "cause", "more calls", "longer_ns", "step",
      "{longer} took {longer_ns} more there than in other steps. Calls beyond their usual number: "
      "{longer_calls}.",
      .cause = "more calls" },
    { NULL },
};

const struct vv_rule vv_rules_slow_steps[] = {
    { .name = "warm_up_counted",
      .is = { vv_analyse_steps, "place", "first", "excess_ns", VV_OF_STEPS, 0.05, VV_EACH_ROW },
      .also = { vv_analyse_steps, "place", "first", "duration_ns", "median_ns", 1.5, VV_EACH_ROW },
      .weight = 1.1,
      .saves = "excess_ns", .saves_part = 1.0,
      .says = "Step {step}, the first one[ of rank {rank}], took {duration_ns}, the median "
              "{median_ns}: warming up is counted.",
      .why = { vv_analyse_outliers, "row", "outlier", "excess_ns", "step",
               "{name} took {duration_ns} there, its median is {median_ns}[; meanwhile: "
               "{cause}]." },
      .or_why = { vv_analyse_steps, NULL, NULL, "longer_ns", "step",
                  "{longer} took {longer_ns} more there than in other steps." },
      .remedy = "Leave it out of the measure: --steps, varve record --schedule skip=1, "
                "torch.profiler.schedule(wait=1, warmup=1), or more steps, so that it is known as "
                "warm-up.",
      .remedy_xla = "Leave it out of the measure: --steps, or begin the trace "
                "(jax.profiler.start_trace) some steps later.",
      .remedy_opencl = "Leave it out of the measure: --steps, varve record --schedule "
                "skip=1, or more steps, so that it is known as warm-up.",
      .remedy_cuda = "Leave it out of the measure: --steps, varve record --schedule skip=1, or "
                "more steps, so that it is known as warm-up.",
      .see = "varve steps",
      .because = "PyTorch's profiler recipe (wait, warmup): first steps load, allocate and tune; "
                 "5 % of all steps changes every figure." },
    { .name = "slow_step",
      .unless = "warm_up_counted",
      .is = { vv_analyse_steps, NULL, NULL, "own_excess_ns", VV_OF_STEPS, 0.03, VV_EACH_ROW },
      .also = { vv_analyse_steps, NULL, NULL, "own_ns", "median_ns", 1.5, VV_EACH_ROW },
      .weight = 1,
      .saves = "own_excess_ns", .saves_part = 1.0,
      .says = "Step {step}[ of rank {rank}] took {duration_ns}, the median {median_ns}.",
      .by_cause = causes,
      .remedy = "Look for what only this step does or waits for: a larger batch, an evaluation, "
                "logging.",
      .see = "varve steps --steps {step}",
      .because = "1.5 x the median is beyond the spread of steps that do the same work; what "
                 "takes less than 3 % of all steps can wait. Time that others took is left out." },
    { .name = "stopped_step",
      .is = { vv_analyse_steps, NULL, NULL, "taken_ns", VV_OF_STEPS, 0.03, VV_EACH_ROW },
      .also = { vv_analyse_steps, NULL, NULL, "duration_ns", "median_ns", 1.5, VV_EACH_ROW },
      .weight = 0.5,
      .says = "Step {step}[ of rank {rank}] took {duration_ns}, the median {median_ns}: for "
              "{taken_ns} others had the processor of its thread.",
      .why = { vv_analyse_step_counters, "row", "step", "duration_ns", "step",
               "The thread was stopped for others {switches_for_others} times there, and waited "
               "{switches_to_wait} times." },
      .remedy = "The machine was busy, which is no fault of the step: other programs, other "
                "ranks, or more threads than processors. Record again when it is quiet, or on "
                "processors of its own (taskset, numactl).",
      .see = "varve report --table step_counters",
      .because = "As slow_step; getrusage tells a thread that was stopped from one that "
                 "waits." },
};
const size_t vv_rules_slow_steps_count = sizeof vv_rules_slow_steps / sizeof *vv_rules_slow_steps;
