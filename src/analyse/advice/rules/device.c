/* SPDX-License-Identifier: Apache-2.0 */
/* What devices do, and why they stand still. */
#include "analyse/advice/rules/rules.h"

#define LATE_IN                                                                           \
    "During {idle_ns} of it the thread that launches was late ({doing}), mostly in {name}" \
    "[ at {source}]: {name_ns}."
#define LATE_IN_NOTHING                                                                   \
    "During {idle_ns} of it the thread that launches was late, and nothing was recorded there: "   \
    "code without marks, such as Python."
#define HOST_WORKS "The host takes {time_ns} of the steps, mostly {mostly}: {mostly_ns}."
#define NO_WORK_TO_WAIT_FOR                                                               \
    "During {device_idle_ns} of it {name} waited[ in {op}], and no device work was recorded: " \
    "it ended before, or the trace lacks it."

const struct vv_rule vv_rules_device[] = {
    { .name = "device_waits",
      .bound = "host", .bound_least = 0.2,
      .is = { vv_analyse_step_split, "row", "total", "kernel_ns", "duration_ns", 0.4,
              VV_REST_OF_ROW },
      .also = { vv_analyse_devices, "row", "device", "events", NULL, 1, VV_EACH_ROW },
      .weight = 0.4,
      .says = "No kernel computes in {share} of the steps' time.",
      .why = { vv_analyse_idle, "name", "*", "idle_ns", NULL, LATE_IN },
      .or_why = { vv_analyse_idle, "doing", "nothing recorded", "idle_ns", NULL, LATE_IN_NOTHING },
      .or_else = { vv_analyse_verdict, "bound_by", "host", "time_ns", NULL, HOST_WORKS,
                   .weight = 0.1 }, /* unless idle devices tell little */
      .remedy = "Make the host faster or let it run ahead: see the other findings; a larger "
                "batch hides the host's part.",
      .remedy_iree = "Call the module again before the last call is done (iree-compile "
                "--iree-execution-model=async-external); a larger batch hides the "
                "host's part.",
      .see = "varve idle",
      .because = "XProf and TraceLens: a device that computes less than 60 % of the step is "
                 "not the bound." },
    { .name = "device_idle",
      .unless = "device_waits",
      .is = { vv_analyse_devices, "row", "device", "idle_ns", "span_ns", 0.2, VV_EACH_ROW },
      .weight = 0.3, /* that is so for a reason, which other rules name                        */
      .says = "{device}[ of rank {rank}] is idle {share} of the time between its first and its "
              "last work.",
      .why = { vv_analyse_idle, "name", "*", "idle_ns", NULL, LATE_IN },
      .or_why = { vv_analyse_idle, "doing", "nothing recorded", "idle_ns", NULL, LATE_IN_NOTHING },
      .or_else = { vv_analyse_syncs, "row", "call", "device_idle_ns", NULL, NO_WORK_TO_WAIT_FOR },
      .remedy = "Keep work in the device's queue: launch ahead, read the next batch and copy it "
                "meanwhile, wait once at the end; a larger batch.",
      .remedy_iree = "Call the module again before the last call is done (iree-compile "
                "--iree-execution-model=async-external); a larger batch.",
      .see = "varve idle",
      .because = "torch-tb-profiler: GPU utilisation below 80 % leaves a fifth to gain." },
    { .name = "idle_tail",
      .is = { vv_analyse_step_split, "row", "total", "tail_ns", "duration_ns", 0.1, VV_EACH_ROW },
      .weight = 1.2,
      .saves = "tail_ns", .saves_part = 1.0,
      .says = "At the end of each step, when its work is done, devices stand still: {tail_ns} in "
              "all, {share} of the steps.",
      .why = { vv_analyse_step_split, "tail_in", "*", "tail_ns", NULL,
               "Most of it the thread of the steps was in {tail_in}." },
      .remedy = "Do at the end of a step only what needs its results: log and evaluate every "
                "100th step, save on a thread, read the next batch while devices still work.",
      .see = "varve idle",
      .because = "TraceLens' and msprof-analyze's idle time, by its place: a tenth as for other "
                 "waits of devices." },
    { .name = "launch_gaps",
      .unless = "tiny_kernels",
      .bound = "launch", .bound_least = 0.1,
      .is = { vv_analyse_verdict, "bound_by", "launch", "share", NULL, 0.1, VV_EACH_ROW },
      .weight = 1,
      .saves = VV_OF_STEPS, .saves_part = 0.8,
      .says = "{share} of the steps passes between calls and the work that they launch, or "
              "between two pieces of work.",
      .remedy = "CUDA graphs (torch.cuda.make_graphed_callables, "
                "torch.compile(mode='reduce-overhead')), fewer and larger kernels.",
      .remedy_xla = "One jax.jit around the whole step, jax.lax.scan over steps; on GPUs "
                "--xla_gpu_enable_command_buffer; a larger batch.",
      .remedy_ascend = "Graph mode (torch.compile with torchair), TASK_QUEUE_ENABLE=2; fewer and "
                "larger kernels.",
      .remedy_opencl = "Fewer and larger kernels; clFlush when work is enqueued; events "
                "between commands instead of the host; command buffers (cl_khr_command_buffer).",
      .remedy_cuda = "CUDA graphs (cudaStreamBeginCapture, cudaGraphLaunch), or HIP's; fewer and "
                "larger kernels; launch ahead of what is waited for.",
      .remedy_iree = "iree-compile --iree-opt-level=O3 and "
                "--iree-dispatch-creation-enable-aggressive-fusion: fewer and larger "
                "dispatches; a larger batch.",
      .see = "varve idle --table launches",
      .because = "Nsight's and HTA's launch statistics: a tenth of the step in gaps is what "
                 "graphs remove." },
    { .name = "one_kernel",
      .bound = "computation", .bound_least = 0.5,
      .is = { vv_analyse_kernels, "row", "group", "share", NULL, 0.3, VV_EACH_ROW },
      .weight = 0.1, /* a place to look at; other rules name causes                              */
      .says = "One kernel takes {share} of the device's time: {name}.",
      .why = { vv_analyse_kernel_ops, "row", "group", "total_ns", NULL,
               "It is launched by {op}[ at {source}]: {calls} calls, the median {median_ns}." },
      .remedy = "See its shapes; a fused operator (scaled_dot_product_attention, fused "
                "norms), another layout (channels_last) or dtype (autocast).",
      .remedy_xla = "See the operation's shapes: multiples of 128 fill a TPU's matrix units; "
                "bfloat16; a fused form (jax.nn.dot_product_attention, Pallas).",
      .remedy_ascend = "See its shapes; a fused operator (torch_npu.npu_fusion_attention, "
                "npu_rms_norm); bfloat16; sizes that are multiples of 16.",
      .remedy_opencl = "See its sizes: the work-group size "
                "(CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE), local memory, vector loads "
                "(float4), cl_khr_fp16.",
      .remedy_cuda = "See its sizes and its occupancy (--table kernels): the size of a block, "
                "shared memory, vector loads (float4), half precision; a library's kernel.",
      .remedy_iree = "See its shapes in the module; varve hot gives the dispatch other tiles; "
                "iree-compile --iree-opt-data-tiling, and --iree-llvmcpu-target-cpu=host on a "
                "processor.",
      .see = "varve report --table kernel_ops",
      .because = "What takes 30 % of the device is the first kernel to change (Amdahl)." },
    { .name = "float64",
      .bound = "computation", .bound_least = 0.1,
      .is = { vv_analyse_kernels, "name", "*double*|*dgemm*|*f64*|*_d_*gemm*", "share", NULL, 0.05,
              VV_ALL_ROWS },
      .weight = 1.5,
      .saves = "total_ns", .saves_part = 0.5,
      .says = "{share} of the device's time is arithmetic in double precision.",
      .why = { vv_analyse_kernels, "name", "*double*|*dgemm*|*f64*", "total_ns", NULL,
               "{name}: {calls} calls, {total_ns}." },
      .remedy = "float32 or bfloat16: look for numpy defaults (float64) in the loader, "
                "torch.set_default_dtype, .float().",
      .remedy_xla = "jax_enable_x64=False; look for numpy's default (float64) in what the "
                "program is given.",
      .remedy_opencl = "float and half in kernels: 1.0f and not 1.0, "
                "-cl-single-precision-constant.",
      .remedy_cuda = "float or half where it is enough: 1.0f and not 1.0 in kernels.",
      .remedy_iree = "iree-compile --iree-input-demote-f64-to-f32.",
      .see = "varve report --table kernel_ops",
      .because = "Devices for training do doubles at 1/2 to 1/64 of their speed; TraceLens "
                 "lists dtypes." },
    { .name = "full_precision_volta",
      .bound = "computation", .bound_least = 0.4,
      .is = { vv_analyse_kernels, "name",
              "*volta_sgemm*|*volta_scudnn*|*maxwell_sgemm*|*maxwell_scudnn*", "share", NULL, 0.2,
              VV_ALL_ROWS },
      .weight = 0.9,
      .saves = "total_ns", .saves_part = 0.5,
      .says = "{share} of the device's time is matrix products and convolutions in float32, of a "
              "kind from before Ampere.",
      .why = { vv_analyse_kernels, "name", "*volta_s*|*maxwell_s*", "total_ns", NULL,
               "{name}: {calls} calls, {total_ns}." },
      .remedy = "torch.autocast('cuda', dtype=torch.float16) with torch.amp.GradScaler: tensor "
                "cores of Volta and Turing know neither bfloat16 nor TF32.",
      .remedy_cuda = "half and cublasGemmEx: tensor cores of Volta and Turing know neither "
                "bfloat16 nor TF32.",
      .remedy_xla = "float16 parameters and inputs: tensor cores of Volta and Turing know neither "
                "bfloat16 nor TF32.",
      .see = "varve report --table kernel_ops",
      .because = "As full_precision; NVIDIA's guide to mixed precision: TF32 and bfloat16 came "
                 "with Ampere." },
    { .name = "full_precision",
      .unless = "full_precision_volta",
      .bound = "computation", .bound_least = 0.4,
      .is = { vv_analyse_kernels, "name",
              "*sgemm*|*scudnn*|*f32f32_f32f32*|*_fp32_*|*convolve_sgemm*|"
              "*float, float, float*gemm*",
              "share", NULL, 0.2, VV_ALL_ROWS },
      .weight = 0.9,
      .saves = "total_ns", .saves_part = 0.5,
      .says = "{share} of the device's time is matrix products and convolutions in float32 "
              "without tensor cores.",
      .why = { vv_analyse_kernels, "name", "*sgemm*|*scudnn*|*f32f32*|*_fp32_*", "total_ns", NULL,
               "{name}: {calls} calls, {total_ns}." },
      .remedy = "torch.autocast(dtype=torch.bfloat16), or "
                "torch.set_float32_matmul_precision('high') and "
                "torch.backends.cudnn.allow_tf32 = True.",
      .remedy_xla = "bfloat16 parameters and inputs, or jax_default_matmul_precision "
                "('bfloat16', 'tensorfloat32').",
      .remedy_ascend = "torch.autocast('npu', dtype=torch.bfloat16).",
      .remedy_opencl = "half where it is enough (cl_khr_fp16), -cl-mad-enable and "
                "-cl-fast-relaxed-math, the vendor's matrix extensions.",
      .remedy_cuda = "half or bfloat16 by cublasGemmEx, or CUBLAS_TF32_TENSOR_OP_MATH and "
                "CUDNN_TENSOR_OP_MATH: tensor cores instead of float32.",
      .remedy_iree = "iree-compile --iree-global-opt-demote-contraction-inputs-type=bf16, or "
                "a module in half precision.",
      .see = "varve report --table kernel_ops",
      .because = "PyTorch's tuning guide: mixed precision; torch-tb-profiler's tensor-core "
                 "advice." },
    { .name = "layout_conversions",
      .bound = "computation", .bound_least = 0.2,
      .is = { vv_analyse_kernels, "name",
              "*nchwToNhwc*|*nhwcToNchw*|*nchw2nhwc*|*nhwc2nchw*|*TransData*|"
              "*transpose_readWrite*|*convertTensor*",
              "share", NULL, 0.05, VV_ALL_ROWS },
      .weight = 1.2,
      .saves = "total_ns", .saves_part = 0.9,
      .says = "{share} of the device's time converts between memory layouts.",
      .why = { vv_analyse_kernels, "name",
               "*nchwToNhwc*|*nhwcToNchw*|*nchw2nhwc*|*nhwc2nchw*|*TransData*|*convertTensor*",
               "total_ns", NULL,
               "{name}: {calls} calls, {total_ns}." },
      .remedy = "model.to(memory_format=torch.channels_last), and the inputs too.",
      .remedy_xla = "One jax.jit around the whole step lets XLA choose layouts; channels last "
                "(NHWC) in convolutions.",
      .remedy_ascend = "Keep private formats: npu_format_cast once; "
                "torch.npu.config.allow_internal_format.",
      .remedy_opencl = "One layout for all kernels, chosen where the data is made; "
                "sub-buffers and strides instead of copies.",
      .remedy_cuda = "One layout for all kernels, chosen where the data is made: "
                "CUDNN_TENSOR_NHWC from the input on.",
      .remedy_iree = "One layout in the module, chosen where the data is made.",
      .see = "varve report --table kernel_ops",
      .because = "PyTorch's channels_last guide, msprof-analyze's TransData check; 5 % is "
                 "several layers' conversions." },
    { .name = "elementwise",
      .bound = "computation", .bound_least = 0.4,
      .is = { vv_analyse_kernels, "name",
              "*elementwise_kernel*|*vectorized_elementwise*|*pointwise*", "share", NULL, 0.35,
              VV_ALL_ROWS },
      .weight = 0.7,
      .saves = "total_ns", .saves_part = 0.5,
      .says = "{share} of the device's time is elementwise kernels, each of which reads and "
              "writes all of memory.",
      .why = { vv_analyse_kernel_ops, "name", "*elementwise_kernel*|*vectorized_elementwise*",
               "total_ns", NULL,
               "Most by {op}: {calls} calls, {total_ns}." },
      .remedy = "torch.compile fuses them; autocast halves their bytes; inplace activations; "
                "fused norms and optimizers.",
      .remedy_xla = "XLA fuses what one jax.jit holds: none around single operations; bfloat16 "
                "halves their bytes.",
      .remedy_opencl = "One kernel for several elementwise steps; half halves their bytes.",
      .remedy_cuda = "One kernel for several elementwise steps, or the epilogue of the matrix "
                "product (cublasLt, CUTLASS); half halves their bytes.",
      .remedy_iree = "iree-compile --iree-opt-level=O3 and "
                "--iree-dispatch-creation-enable-aggressive-fusion, which put "
                "elementwise operations into the products' dispatches.",
      .see = "varve report --table kernel_ops",
      .because = "TraceLens: elementwise share; above a third, fusing pays more than faster "
                 "products." },
    { .name = "copies_among_kernels",
      .bound = "computation", .bound_least = 0.2,
      .is = { vv_analyse_kernels, "name",
              "*direct_copy_kernel*|*copy_device_to_device*|*CatArrayBatchedCopy*|"
              "*Memcpy DtoD*|*copy_kernel*",
              "share", NULL, 0.1, VV_ALL_ROWS },
      .weight = 1,
      .saves = "total_ns", .saves_part = 0.8,
      .says = "{share} of the device's time copies tensors on the device: casts, "
              ".contiguous(), torch.cat.",
      .why = { vv_analyse_kernel_ops, "name",
               "*direct_copy_kernel*|*CatArrayBatchedCopy*|*Memcpy DtoD*", "total_ns", NULL,
               "Most by {op}: {calls} calls, {total_ns}." },
      .remedy = "Write into slices of one buffer instead of torch.cat; keep one dtype; views "
                "instead of .contiguous(); torch.compile.",
      .remedy_xla = "Donate buffers (jax.jit(donate_argnums=…)); one dtype; "
                "jax.lax.dynamic_update_slice into a donated buffer instead of jnp.concatenate.",
      .remedy_opencl = "Write where the next kernel reads: sub-buffers (clCreateSubBuffer) "
                "and offsets instead of clEnqueueCopyBuffer.",
      .remedy_cuda = "Write where the next kernel reads: slices of one buffer, and strides "
                "instead of copies.",
      .remedy_iree = "Write where the next dispatch reads: in-place updates of globals, "
                "tensor.insert_slice instead of concatenations.",
      .see = "varve report --table kernel_ops",
      .because = "TraceLens and msprof-analyze list copies among the kernels; a tenth is more "
                 "than the model needs." },
    { .name = "memory_sets",
      .bound = "computation", .bound_least = 0.1,
      .is = { vv_analyse_kernels, "class", "memset", "share", NULL, 0.05, VV_ALL_ROWS },
      .weight = 1,
      .saves = "total_ns", .saves_part = 0.9,
      .says = "{share} of the device's time sets memory to a value.",
      .remedy = "optimizer.zero_grad(set_to_none=True); torch.empty instead of torch.zeros "
                "where all is written.",
      .remedy_xla = "Make constant arrays once, outside of the step; donate buffers "
                "(jax.jit(donate_argnums=…)).",
      .remedy_opencl = "No clEnqueueFillBuffer where a kernel writes all; the first kernel "
                "sets what it needs.",
      .remedy_cuda = "No cudaMemsetAsync where a kernel writes all; the first kernel sets what it "
                "needs.",
      .remedy_iree = "tensor.empty instead of a fill where all is written.",
      .see = "varve report --table kernels",
      .because = "PyTorch's tuning guide: set_to_none; a model has little else to set." },
    { .name = "exposed_copies",
      .is = { vv_analyse_devices, "row", "device", "exposed_memcpy_ns", "span_ns", 0.05,
              VV_EACH_ROW },
      .weight = 1.5,
      .saves = "exposed_memcpy_ns", .saves_part = 1.0, .of_steps = "steps",
      .says = "{device}[ of rank {rank}] copies memory {share} of the time while nothing computes.",
      .why = { vv_analyse_copies, "row", "copy", "total_ns", NULL,
               "{name}: {copies} copies[, {bytes}][, {bytes_per_s}]." },
      .remedy = "DataLoader(pin_memory=True) and .to(device, non_blocking=True); copy the "
                "next batch on a stream of its own; keep on the device what every step needs.",
      .remedy_xla = "Put the next batch on the device ahead (jax.device_put, tf.data's "
                "prefetch); on the device donate buffers (jax.jit(donate_argnums=…)), keep one "
                "dtype and layout, and recompute (jax.checkpoint) rather than offload.",
      .remedy_ascend = "DataLoader(pin_memory=True) and .to('npu', non_blocking=True); copy the "
                "next batch on a stream of its own (torch.npu.Stream); keep on the device what "
                "every step needs.",
      .remedy_opencl = "Copies on a queue of their own, with events to the kernels that "
                "need them; CL_FALSE instead of CL_TRUE; CL_MEM_ALLOC_HOST_PTR and "
                "clEnqueueMapBuffer; keep on the device what every step needs.",
      .remedy_cuda = "Pinned memory (cudaHostAlloc, hipHostMalloc) and cudaMemcpyAsync on a "
                "stream of its own, so that a part is copied while another is computed; keep on "
                "the device what is used again.",
      .remedy_iree = "Keep constants and state in the module (util.global) instead of "
                "arguments; give inputs as buffers of the device, ahead of the call.",
      .see = "varve report --table devices",
      .because = "PyTorch's tuning guide: pinned, asynchronous copies; 5 % is beyond a "
                 "batch's own copy." },
    { .name = "pageable_copies",
      .unless = "exposed_copies",
      .bound = "copies", .bound_least = 0.03,
      .is = { vv_analyse_copies, "name", "*Pageable*", "total_ns", VV_OF_STEPS, 0.03, VV_EACH_ROW },
      .weight = 1.2,
      .saves = "total_ns", .saves_part = 0.6,
      .says = "Copies from pageable memory take {share} of the steps; they wait for the host "
              "and run at half of the link's speed.",
      .remedy = "DataLoader(pin_memory=True), tensor.pin_memory(), .to(device, "
                "non_blocking=True).",
      .remedy_xla = "Put the next batch on the device ahead (jax.device_put, tf.data's prefetch).",
      .remedy_opencl = "CL_MEM_ALLOC_HOST_PTR and clEnqueueMapBuffer give pinned memory; "
                "CL_FALSE instead of CL_TRUE.",
      .remedy_cuda = "Pinned memory (cudaHostAlloc, hipHostMalloc, or cudaHostRegister once) and "
                "cudaMemcpyAsync.",
      .see = "varve report --table copies",
      .because = "CUDA's guide and torch-tb-profiler: pageable copies are staged; 3 % pays "
                 "the change." },
    { .name = "small_copies",
      .bound = "host", .bound_least = 0.1,
      .is = { vv_analyse_launches, "name", "*emcpy*|*MemCopy*|*ReadBuffer*|*WriteBuffer*",
              "call_ns", VV_OF_STEPS, 0.03, VV_EACH_ROW },
      .also = { vv_analyse_copies, "direction", "HtoD|DtoH", "copies", "bytes", 0.00006,
                VV_EACH_ROW },
      .besides = { vv_analyse_copies, "direction", "HtoD|DtoH", "copies", NULL, 100, VV_EACH_ROW },
      .weight = 1,
      .saves = "call_ns", .saves_part = 0.8,
      .says = "{calls} calls of {name} take {share} of the steps; they copy little each.",
      .why = { vv_analyse_copies, "direction", "HtoD|DtoH", "copies", NULL,
               "{name}: {copies} copies[ move {bytes} in all]." },
      .remedy = "Collect scalars and lists in one tensor and copy it once; make constants on the "
                "device, once; pin memory and use non_blocking=True.",
      .remedy_xla = "Give whole batches to jax.device_put; keep on the device what every step "
                "needs; no float(x) or np.asarray(x) in the step.",
      .remedy_opencl = "Collect small values in one buffer and write it once; pass scalars "
                "by clSetKernelArg; CL_FALSE instead of CL_TRUE.",
      .remedy_cuda = "Collect small values in one buffer and copy it once; pass scalars as "
                "arguments of kernels; cudaMemcpyAsync from pinned memory.",
      .remedy_iree = "Keep constants and state in the module (util.global); one argument "
                "instead of many small ones.",
      .see = "varve report --table copies",
      .because = "msprof-analyze's and Nsight's small copies: below 16 kB the call costs more than "
                 "the transfer; 3 % of the steps pays." },
    { .name = "uneven_blocks",
      .bound = "computation", .bound_least = 0.4,
      .is = { vv_analyse_blocks, "device", "*", "excess_ns", VV_OF_STEPS, 0.05, VV_EACH_ROW },
      .weight = 1,
      .saves = "excess_ns", .saves_part = 1.0,
      .says = "Of {all_times} repetitions of one block (layers, mostly) some take longer than the "
              "median one, {excess_ns} together.",
      .why = { vv_analyse_blocks, "device", "*", "excess_ns", NULL,
               "It begins with {name}: {mean_ns} in the mean, {max_ns} the longest; odd ones: "
               "{odd}." },
      .remedy = "Give layers, experts and pipeline stages equal work; look at shapes and padding "
                "of the odd ones.",
      .see = "varve report --table blocks",
      .because = "TraceLens' and msprof-analyze's comparison of layers: equal layers that differ "
                 "by 5 % of the step have unequal work." },
};
const size_t vv_rules_device_count = sizeof vv_rules_device / sizeof *vv_rules_device;
