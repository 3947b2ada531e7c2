# SPDX-License-Identifier: Apache-2.0
"""plants_of_c.py: the planted problems of the C programs."""
from plants import Plant

COUNTED = ("--metrics", "Memory")

WAITS = (
    Plant("batches", "waits", "data_wait", ("next_batch", "more threads that read ahead")),
    Plant("lock", "waits", "lock_waits", ("lock statistics", "write_statistics", "copy under it")),
    Plant("checkpoint", "waits", "slow_step", ("Step 9 took", "write_checkpoint")),
)

MEMORY = (
    Plant("leak", "memory_of_steps", "leak", ("forward > keep_activations",), promises=False),
    Plant("fresh", "memory_of_steps", "page_faults", ("pad_inputs", "Keep buffers"), COUNTED),
)

RANKS = (
    Plant("late", "ranks", "late_rank", ("for rank 1", "read_shard", "equal work")),
    Plant("exposed", "ranks", "exposed_collectives", ("all_reduce", "compute meanwhile")),
)

THREADS = (
    Plant("oversubscribed", "threads", "oversubscription", ("processors", "OMP_NUM_THREADS"),
          COUNTED),
)

STOPPED = (
    Plant("stopped", "stopped", "stopped_step",
          ("Step 9 took", "others had the processor", "taskset"), COUNTED,
          promises=False),  # it is no fault of the step
)

TEAM = (
    Plant("imbalance", "openmp", "uneven_threads",
          ("omp barrier", "of forward", "schedule(dynamic)")),
)

OPENCL = (
    Plant("reads", "opencl", "drained_queue",
          ("clEnqueueReadBuffer", "CL_FALSE", "clFlush")),
    Plant("built", "opencl", "compilation", ("clBuildProgram", "keep the cl_kernel objects")),
    Plant("small", "opencl", "tiny_kernels", ("clEnqueueNDRangeKernel", "more work items")),
)

OF_C = TEAM + WAITS + MEMORY + RANKS + THREADS + STOPPED
