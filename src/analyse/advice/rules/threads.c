/* SPDX-License-Identifier: Apache-2.0 */
/* What threads wait for, and what the machine does with them. */
#include "analyse/advice/rules/rules.h"

const struct vv_rule vv_rules_threads[] = {
    { .name = "lock_waits",
      .is = { vv_analyse_operators, "name",
              "lock|lock *|lock(*|*_lock|*_lock(*|*.lock|*:lock|*:lock(*|*mutex*|*futex*|"
              "*emaphore*|*cond_wait*|wait*|*_wait|*_wait(*|*.wait|*:wait|*:wait(*|"
              "*'acquire' of*",
              "step_self_share", NULL, 0.1, VV_EACH_ROW },
      .weight = 1.3,
      .saves = "step_self_ns", .saves_part = 1.0,
      .says = "{name} takes {share} of the steps: their thread waits for another one.",
      .why = { vv_analyse_operators, "row", "operator", "self_ns", NULL,
               "Of all that runs on any thread, {name} takes most: {calls} calls, {self_ns}." },
      .remedy = "Hold the lock for less: copy under it, then write, log and send outside; a lock "
                "for each part; a queue between the threads; more of the threads that are waited "
                "for.",
      .see = "varve report --by thread",
      .because = "Off-CPU analysis (Gregg) and VTune's wait time: what blocks comes before what "
                 "runs; 10 % as for waits for a device." },
    { .name = "uneven_threads",
      .is = { vv_analyse_operators, "name", "*omp*barrier*", "step_self_share", NULL, 0.1,
              VV_EACH_ROW },
      .weight = 1.3,
      .saves = "step_self_ns", .saves_part = 0.7, /* equal parts are longer than the shortest */
      .says = "{name} takes {share} of the steps: their thread waits for the slowest one of a "
              "team, which has more to do.",
      .why = { vv_analyse_operators, "row", "operator", "max_ns", NULL,
               "The longest call of all threads is one of {name}: {max_ns}, the median takes "
               "{median_ns}." },
      .remedy = "Equal parts by cost, not by number: schedule(dynamic) or schedule(guided), "
                "smaller chunks, collapse(2); OMP_PROC_BIND=close, and no more threads than "
                "processors.",
      .see = "varve report --by thread",
      .because = "VTune's OpenMP imbalance and its potential gain; 10 % as for other waits." },
    { .name = "oversubscription",
      .is = { vv_analyse_step_counters, "row", "total", "off_cpu_ns", "duration_ns", 0.25,
              VV_EACH_ROW },
      .also = { vv_analyse_step_counters, "row", "total", "threads", "cpus", 2, VV_EACH_ROW },
      .besides = { vv_analyse_step_counters, "row", "total", "switches_for_others",
                   "switches_to_wait", 1, VV_EACH_ROW },
      .or_besides = { vv_analyse_step_counters, "row", "total", "silent_cpu_ns", "cpu_ns", 1,
                      VV_EACH_ROW }, /* a pool: the thread waits for its team              */
      .weight = 1.2,
      .saves = VV_OF_STEPS, .saves_part = 1.0,
      .says = "The thread of the steps did not have the processor for {share} of the steps: there "
              "are many more threads than processors.",
      .why = { vv_analyse_step_counters, "row", "total", "threads", NULL,
               "{threads} threads share {cpus} processors. The thread of the steps was stopped for "
               "others {switches_for_others} times, and waited {switches_to_wait} times.[ Threads "
               "without records took {silent_cpu_ns} of the processors.]" },
      .remedy = "As many threads as processors, over all pools together: OMP_NUM_THREADS, "
                "torch.set_num_threads, num_workers, processes on the machine.",
      .see = "varve report --table step_counters",
      .because = "PyTorch's tuning guide: intra-op threads of all workers together at most the "
                 "cores; a quarter of the step is beyond a scheduler's share." },
    { .name = "processor_taken",
      .unless = "oversubscription",
      .is = { vv_analyse_step_counters, "row", "total", "off_cpu_ns", "duration_ns", 0.25,
              VV_EACH_ROW },
      .also = { vv_analyse_step_counters, "row", "total", "switches_for_others",
                "switches_to_wait", 1, VV_EACH_ROW },
      .weight = 0.5,
      .says = "The thread of the steps did not have the processor for {share} of the steps.",
      .remedy = "Fewer threads than processors: torch.set_num_threads, OMP_NUM_THREADS, "
                "num_workers; pin ranks (taskset, numactl); look for other programs.",
      .see = "varve report --table step_counters",
      .because = "A thread that neither waits nor is descheduled has nearly all its time; a "
                 "quarter is oversubscription (torch's intra-op guide)." },
    { .name = "page_faults",
      .is = { vv_analyse_operator_counters, "row", "operator", "page_faults", VV_OF_STEPS, 0.00005,
              VV_EACH_ROW },
      .weight = 2500,
      .saves = "self_ns", .saves_part = 0.9,
      .says = "{name} touches memory that it has just got from the system: {page_faults} page "
              "faults, in {self_ns}.",
      .why = { vv_analyse_step_counters, "row", "total", "page_faults", NULL,
               "All steps together take {page_faults} page faults." },
      .remedy = "Keep buffers from step to step; a pool or an allocator that keeps memory "
                "(jemalloc, tcmalloc; M_MMAP_THRESHOLD and M_TRIM_THRESHOLD of glibc); huge "
                "pages; touch memory once, ahead.",
      .see = "varve report --table operator_counters",
      .because = "PyTorch's CPU guide (jemalloc, huge pages): a fault costs about 1 µs, so one in "
                 "20 µs is 5 % of the step." },
    { .name = "frequency_drop",
      .is = { vv_analyse_counters, "name",
              "*requency*|*_freq|*_freq_*|*lock_mhz*|*lock MHz*|*clock (MHz)*|*SM Clock*", "mean",
              "max", 0.15, VV_REST_OF_ROW },
      .weight = 0.8,
      .saves = VV_OF_STEPS, .saves_part = 1.0,
      .says = "{name}[ of rank {rank}] is {share} below its highest value in the mean.",
      .why = { vv_analyse_counters, "name",
               "*requency*|*_freq|*_freq_*|*lock_mhz*|*lock MHz*|*clock (MHz)*|*SM Clock*", "max",
               NULL, "It was {max} at most, {mean} in the mean and {min} at least." },
      .remedy = "Cooling and power limits (nvidia-smi -q -d PERFORMANCE; cpupower), fixed clocks "
                "while you measure.",
      .remedy_ascend = "Cooling and power limits (npu-smi info), fixed clocks while you measure.",
      .see = "varve report --table counters",
      .because = "msprof-analyze's frequency check: 15 % is beyond the steps between boost "
                 "clocks." },
};
const size_t vv_rules_threads_count = sizeof vv_rules_threads / sizeof *vv_rules_threads;
