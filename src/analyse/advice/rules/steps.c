/* SPDX-License-Identifier: Apache-2.0 */
/* What the steps wait for, and what differs between them. */
#include "analyse/advice/rules/rules.h"

#define COMPILES "*compile*|*Compile*|*inductor*|*dynamo*|clBuildProgram*|clLinkProgram*"

/* What keeps a program from compiling anew. */
#define KEEP_XLA                                                                                   \
    "Keep shapes and static arguments (static_argnums) fixed: a number that changes is an array "  \
    "(jnp.float32(x)), and shapes are padded to few sizes; JAX_LOG_COMPILES=1 and "                \
    "JAX_EXPLAIN_CACHE_MISSES=1 say what is compiled and why; jax_compilation_cache_dir keeps it"
#define KEEP_ASCEND "torch.npu.set_compile_mode(jit_compile=False); keep shapes fixed"
#define KEEP_OPENCL                                                                                \
    "clBuildProgram once, ahead, and keep the cl_kernel objects; keep binaries on the disk "       \
    "(clGetProgramInfo with CL_PROGRAM_BINARIES, then clCreateProgramWithBinary); pass what "      \
    "changes by clSetKernelArg instead of -D."
#define KEEP_CUDA                                                                                  \
    "Compile for the device ahead (nvcc -gencode); load modules and compile by NVRTC once, "       \
    "before the steps; CUDA_CACHE_PATH keeps what the driver compiles."

const struct vv_rule vv_rules_steps[] = {
    { .name = "crowded_workers",
      .is = { vv_analyse_step_split, "row", "total", "data_loader_ns", "duration_ns", 0.1,
              VV_EACH_ROW },
      .also = { vv_analyse_operators, "name", "enumerate(DataLoader)#_MultiProcessing*",
                "step_calls", NULL, 1, VV_EACH_ROW },
      .besides = { vv_analyse_waits, "row", "total", "pool_threads", "cpus", 2, VV_EACH_ROW },
      .weight = 1,
      .saves = "data_loader_ns", .saves_part = 1.0,
      .says = "The steps wait {share} of their time for the workers of the data loader, whose "
              "threads take the processors from each other.",
      .why = { vv_analyse_waits, "row", "total", "pool_threads", NULL,
               "The {workers} workers have {pool_threads} threads beside their own, in pools that "
               "share each operator's work, and the machine has {cpus} processors." },
      .remedy = "torch.set_num_threads(1) in worker_init_fn, as the loader sets it before; "
                "OMP_NUM_THREADS=1 for the pools of other libraries (cv2.setNumThreads(0)); "
                "workers × threads at most the processors that the steps leave free.",
      .see = "varve report --table waits",
      .because = "PyTorch's tuning guide: threads of all workers together at most the cores; twice "
                 "as many take turns." },
    { .name = "workers_restarted",
      .unless = "crowded_workers",
      .is = { vv_analyse_waits, "row", "total", "restart_ns", VV_OF_STEPS, 0.05, VV_EACH_ROW },
      .also = { vv_analyse_operators, "name", "enumerate(DataLoader)#_MultiProcessing*",
                "step_calls", NULL, 1, VV_EACH_ROW },
      .besides = { vv_analyse_waits, "row", "total", "restarts", NULL, 2, VV_EACH_ROW },
      .weight = 1.5,
      .saves = "restart_ns", .saves_part = 1.0,
      .says = "Steps in which the data loader's workers begin anew take longer: {share} of all "
              "steps' time.",
      .why = { vv_analyse_waits, "row", "total", "restarts", NULL,
               "Workers began in {restarts} steps beside the first: {restart_ns} more than these "
               "steps take otherwise." },
      .remedy = "DataLoader(persistent_workers=True), one loader for all epochs, fewer workers; "
                "a data set that is made fast (it opens its files when it is asked).",
      .see = "varve report --table waits",
      .because = "PyTorch's DataLoader forks its workers anew in each epoch, unless they are "
                 "persistent; 5 % as for other waits." },
    { .name = "workers_too_slow",
      .unless = "workers_restarted",
      .never = { vv_analyse_waits, "row", "total", "pool_threads", "cpus", 2, VV_EACH_ROW },
      .is = { vv_analyse_step_split, "row", "total", "data_loader_ns", "duration_ns", 0.1,
              VV_EACH_ROW },
      .also = { vv_analyse_operators, "name", "enumerate(DataLoader)#_MultiProcessing*",
                "step_calls", NULL, 1, VV_EACH_ROW },
      .weight = 1,
      .saves = "data_loader_ns", .saves_part = 1.0,
      .says = "The steps wait {share} of their time for the workers of the data loader.",
      .why = { vv_analyse_operators, "name", "enumerate(DataLoader)#_MultiProcessing*",
               "step_total_ns", NULL,
               "{name} took {step_total_ns} in {step_calls} calls: the workers did not keep up." },
      .remedy = "More num_workers, as long as processors are free; prefetch_factor=4; "
                "persistent_workers=True; decode once, ahead of training; look at what the "
                "workers do (--by thread).",
      .see = "varve report --by thread",
      .because = "PyTorch's tuning guide on asynchronous loading; below a tenth it is what a batch "
                 "costs on its way from a worker that keeps up." },
    { .name = "data_wait",
      .unless = "workers_too_slow",
      .is = { vv_analyse_step_split, "row", "total", "data_loader_ns", "duration_ns", 0.05,
              VV_EACH_ROW },
      .never = { vv_analyse_operators, "name", "enumerate(DataLoader)#_MultiProcessing*",
                 "step_calls", NULL, 1, VV_EACH_ROW },
      .weight = 1,
      .saves = "data_loader_ns", .saves_part = 1.0,
      .says = "The steps wait {share} of their time for data.",
      .why = { vv_analyse_operators, "name",
               "enumerate(DataLoader)*|*data_loader*|*DataLoader*|load*|*IteratorGetNext*|"
               "*infeed*|*next_batch*|*NextBatch*|*next batch*|*load_batch*|*fetch_batch*|"
               "*wait_for_batch*",
               "step_total_ns", NULL,
               "{name} took {step_total_ns} in {step_calls} calls on the thread of the steps." },
      .remedy = "DataLoader(num_workers=4, persistent_workers=True, pin_memory=True, "
                "prefetch_factor=4); decode and augment in the workers, or once, ahead of "
                "training; in C, more threads that read ahead.",
      .remedy_host = "DataLoader(num_workers=2, persistent_workers=True, "
                "prefetch_factor=4), as many workers as the step leaves processors free; decode "
                "and augment in the workers, or once, ahead of training; no loop over single "
                "numbers in collate_fn (torch.stack, NumPy); in C, more threads that read ahead.",
      .remedy_xla = "tf.data: .prefetch(tf.data.AUTOTUNE), num_parallel_calls; grain: "
                "worker_count; put the next batch on the device ahead (jax.device_put); decode "
                "once, ahead of training.",
      .remedy_opencl = "More threads that read ahead, on a queue of some batches; decode "
                "once, ahead; write the next batch to the device meanwhile (CL_FALSE, a queue "
                "of its own).",
      .remedy_iree = "Read the next inputs while the device works; decode once, ahead.",
      .see = "varve report --table call_tree",
      .because = "torch-tb-profiler and XProf advise from 5 % on; below, the next batch is "
                 "noise." },
    { .name = "synchronisation",
      .is = { vv_analyse_step_split, "row", "total", "sync_ns", "duration_ns", 0.1, VV_EACH_ROW },
      .weight = 1,
      .saves = "sync_ns", .saves_part = 1.0,
      .says = "The steps wait {share} of their time in calls that synchronise, while no "
              "device works.",
      .why = { vv_analyse_syncs, "row", "call", "device_idle_ns", NULL,
               "{name}: {calls} calls, which block for {blocked_ns}; {device_idle_ns} of it "
               "with an idle device." },
      .remedy = "No .item(), .cpu(), .nonzero(), print of a tensor or `if tensor:` in the "
                "step; log every 100th step; copies with non_blocking=True from pinned "
                "memory.",
      .remedy_xla = "No block_until_ready(), float(x), np.asarray(x) or print of an array in the "
                "step; log every 100th step.",
      .remedy_opencl = "No clFinish, clWaitForEvents or blocking read (CL_TRUE) in the "
                "step but one at its end: CL_FALSE, and an event for the command that needs the "
                "result.",
      .remedy_cuda = "No cudaDeviceSynchronize, cudaStreamSynchronize or blocking cudaMemcpy in "
                "the step: events (cudaStreamWaitEvent) order the work.",
      .remedy_iree = "Wait once, at the end: iree-compile "
                "--iree-execution-model=async-external, whose calls take fences.",
      .see = "varve idle",
      .because = "PyTorch's tuning guide: avoid unnecessary CPU-GPU synchronization; 10 % is "
                 "beyond what a step's last wait takes." },
    { .name = "drained_queue",
      .is = { vv_analyse_syncs, "row", "call", "drained_ns", VV_OF_STEPS, 0.1, VV_EACH_ROW },
      .also = { vv_analyse_syncs, "row", "call", "gain_ns", VV_OF_STEPS, 0.05, VV_EACH_ROW },
      .weight = 1.1,
      .saves = "gain_ns", .saves_part = 1.0,
      .says = "After {name}[ of rank {rank}] the device stands still until the host has launched "
              "again: {share} of the steps, by {calls} calls.",
      .why = { vv_analyse_syncs, "op", "*", "drained_ns", NULL,
               "They come from {op}, mostly: {drained_ns} of the device's time." },
      .remedy = "No .item(), .cpu(), .nonzero(), print of a tensor or `if tensor:` in the "
                "step; log every 100th step; torch.where instead of if; copies with "
                "non_blocking=True from pinned memory.",
      .remedy_xla = "No block_until_ready(), float(x), np.asarray(x) or print of an array in the "
                "step; log every 100th step; jnp.where or jax.lax.cond instead of if.",
      .remedy_opencl = "No clFinish, clWaitForEvents or blocking read (CL_TRUE) between "
                "kernels: enqueue with CL_FALSE and give the next command the event to wait "
                "for; clFlush begins work without waiting; wait once, at the end of the step.",
      .remedy_cuda = "No cudaDeviceSynchronize, cudaStreamSynchronize or blocking cudaMemcpy "
                "between launches: events (cudaStreamWaitEvent) order the work.",
      .remedy_iree = "Wait once, at the end: iree-compile "
                "--iree-execution-model=async-external, whose calls take fences.",
      .see = "varve report --table syncs",
      .because = "PyTorch's tuning guide: a call that waits empties the queue, so the host's time "
                 "behind it is the device's, too; 10 % as for synchronisation." },
    { .name = "allocation",
      .is = { vv_analyse_step_split, "row", "total", "allocation_ns", "duration_ns", 0.05,
              VV_EACH_ROW },
      .weight = 1,
      .saves = "allocation_ns", .saves_part = 1.0,
      .says = "The steps spend {share} of their time allocating memory of the device.",
      .why = { vv_analyse_operators, "name", "*Malloc*|*Free*|*HostAlloc*|*MemAlloc*|*MemMap*",
               "step_self_ns", NULL,
               "{name}: {step_calls} calls, {step_self_ns} in the steps." },
      .remedy = "No torch.cuda.empty_cache() in the step; "
                "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True; pad to few sizes; in C, "
                "allocate once, ahead.",
      .remedy_xla = "Donate buffers (jax.jit(donate_argnums=…)); on GPUs leave "
                "XLA_PYTHON_CLIENT_PREALLOCATE on; pad to few sizes.",
      .remedy_ascend = "No torch.npu.empty_cache() in the step; "
                "PYTORCH_NPU_ALLOC_CONF=expandable_segments:True; pad to few sizes.",
      .remedy_opencl = "clCreateBuffer once, ahead, and the same buffers in each step; "
                "sub-buffers of one large buffer.",
      .remedy_cuda = "Allocate once, ahead, and use the same buffers in each step; "
                "cudaMallocAsync, which keeps a pool.",
      .remedy_iree = "iree-run-module --device_allocator=caching; in C, the same buffers for "
                "each call.",
      .see = "varve memory",
      .because = "msprof-analyze and PyTorch's guide: a step that is warm allocates nothing; "
                 "5 % is beyond a rare one." },
    { .name = "compilation",
      .is = { vv_analyse_step_split, "row", "total", "compile_ns", "duration_ns", 0.05,
              VV_EACH_ROW },
      .weight = 1,
      .saves = "compile_ns", .saves_part = 1.0,
      .says = "The steps spend {share} of their time compiling.",
      .why = { vv_analyse_operators, "name", "torch/_dynamo/convert_frame.py(*", "step_total_ns",
               NULL, "{name}: {step_calls} calls, {step_total_ns} in the steps.",
               1000 }, /* the outermost frame; frames within call themselves, and count twice   */
      .or_why = { vv_analyse_operators, "name", COMPILES, "step_total_ns", NULL,
                  "{name}: {step_calls} calls, {step_total_ns} in the steps." },
      .remedy = "Keep shapes fixed, or torch.compile(dynamic=True) and mark_dynamic; "
                "TORCH_LOGS=recompiles says what changed; leave warm-up steps out of the "
                "measure.",
      .remedy_xla = KEEP_XLA "; leave warm-up steps out of the measure.",
      .remedy_ascend = KEEP_ASCEND "; leave warm-up steps out of the measure.",
      .remedy_opencl = KEEP_OPENCL,
      .remedy_cuda = KEEP_CUDA,
      .see = "varve report --table step_split --fields +compile_ns",
      .because = "XProf and PyTorch's guide: a warm step compiles nothing; 5 % is several "
                 "steps' worth." },
    { .name = "compilation_of_all",
      .unless = "compilation",
      .is = { vv_analyse_verdict, "bound_by", "compilation", "share", NULL, 0.2, VV_EACH_ROW },
      .weight = 1,
      .saves = VV_OF_STEPS, .saves_part = 1.0,
      .says = "Compilation takes {share} of the time.",
      .why = { vv_analyse_operators, "name", "torch/_dynamo/convert_frame.py(*", "total_ns",
               NULL, "{name}: {calls} calls, {total_ns}.", 1000 },
      .or_why = { vv_analyse_operators, "name", "*through layout assignment (jit_*", "calls", NULL,
                  "{name}: {calls} calls, one for each compilation.",
                  1e15 }, /* which function: more than how long                               */
      .or_else = { vv_analyse_operators, "name", COMPILES, "total_ns", NULL,
                   "{name}: {calls} calls, {total_ns}." },
      .remedy = "Many calls: keep shapes fixed, or torch.compile(dynamic=True); "
                "TORCH_LOGS=recompiles says what changed. Few calls: a longer run hides them, "
                "and TORCHINDUCTOR_CACHE_DIR on a disk that stays keeps what they made.",
      .remedy_xla = KEEP_XLA ". Few calls: a longer run hides them.",
      .remedy_ascend = KEEP_ASCEND ".",
      .remedy_opencl = KEEP_OPENCL,
      .remedy_cuda = KEEP_CUDA,
      .see = "varve report --table critical_bound",
      .because = "XProf's rule for steps, where there are none. A trace as a whole holds each "
                 "first compilation, too: below a fifth a longer run outweighs it." },
    { .name = "garbage_collection",
      .is = { vv_analyse_step_split, "row", "total", "garbage_collection_ns", "duration_ns", 0.02,
              VV_EACH_ROW },
      .weight = 1,
      .saves = "garbage_collection_ns", .saves_part = 1.0,
      .says = "The steps spend {share} of their time collecting garbage.",
      .why = { vv_analyse_operators, "name",
               "*gc.collect*|<built-in function collect>*|Python GC*|*Garbage Collect*",
               "step_total_ns", NULL, "{name}: {step_calls} calls, {step_total_ns}." },
      .remedy = "gc.freeze() after set-up, gc.disable() in the loop, and gc.collect() between "
                "epochs, on all ranks at once.",
      .see = "varve report --table step_split --fields +garbage_collection_ns",
      .because = "msprof-analyze's GC check: collections of some ms hit single ranks, and all "
                 "others wait; 2 % is beyond the usual." },
};
const size_t vv_rules_steps_count = sizeof vv_rules_steps / sizeof *vv_rules_steps;
