# SPDX-License-Identifier: Apache-2.0
"""plants_of_gpus.py: problems that are planted in simulated steps of a GPU. A function makes the
plant (`mended` 0) or its twin (1). What mending saves is the difference of their steps."""
import dataclasses

from simulated import COMM, Run

STEPS, LAYERS = 6, 8
GEMM, RELU = "ampere_fp16_s16816gemm_fp16_128x128_tn", "relu_kernel"
SGEMM = "ampere_sgemm_128x128_tn"
DGEMM = "ampere_dgemm_128x64_tn"


@dataclasses.dataclass(frozen=True)
class GpuPlant:
    name: str
    make: object           # function(mended) that returns a Run, or one for each rank
    rule: str              # of the first finding
    places: tuple          # texts of the finding, its evidence or its advice
    promises: bool = True  # the finding says what mending saves


def layers(run, gemm=GEMM, time=400, between=None):
    """Forward and backward."""
    for _ in range(2):
        for _ in range(LAYERS):
            run.kernel("aten::linear", gemm, time)
            run.kernel("aten::relu", RELU, 60)
            if between:
                between()


def simple(step, steps=STEPS):
    """A plant whose step is step(run, number, mended)."""
    return lambda mended: Run().steps(steps, lambda run, number: step(run, number, mended))


def items(run, _, mended):
    """A number is read from the GPU after each layer. Mended: once a step."""
    layers(run, between=None if mended else lambda: (run.item(), run.busy("aten::cat", 150)))
    if mended:
        for _ in range(2 * LAYERS):
            run.busy("aten::cat", 150)
        run.item()


def synchronize(run, _, mended):
    """torch.cuda.synchronize() in front of work of the host, after each layer. Mended: none."""
    def between():
        if not mended:
            run.wait("cudaDeviceSynchronize")
        run.busy("aten::topk", 200)
    layers(run, between=between)


def loader(run, _, mended):
    """Each batch is read on the thread of the steps. Mended: workers have it ready."""
    run.busy("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 50 if mended else 6000,
             "user_annotation")
    layers(run)


def workers(run, _, mended):
    """One worker does not keep up. Mended: several do."""
    run.busy("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
             50 if mended else 4000, "user_annotation")
    layers(run)


def pageable(run, number, mended):
    """The batch comes from pageable memory. Mended: pinned, on a stream of its own, while the
    former step computes."""
    if not mended or number == 0:
        run.upload(2500, bool(mended))
    if mended and number == 0:
        run.wait(stream=20)
    layers(run)
    if mended:
        run.upload(2500, True)


def float32(run, _, mended):
    """Products in float32. Mended: in half precision, twice as fast."""
    layers(run, GEMM if mended else SGEMM, 400 if mended else 800)


def float64(run, _, mended):
    """Products in float64. Mended: in float32."""
    layers(run, SGEMM if mended else DGEMM, 400 if mended else 800)


def layouts(run, _, mended):
    """Each convolution converts its input and its result. Mended: channels_last."""
    def convert():
        if not mended:
            for way in ("nchwToNhwcKernel", "nhwcToNchwKernel"):
                run.kernel("aten::cudnn_convolution",
                           f"void cudnn::ops::{way}<float, float, true>(float const*)", 120)
    layers(run, "cutlass_tensorop_f16_s16816fprop_optimized_f16_128x128_nhwc", between=convert)


def pointwise(run, _, mended):
    """A chain of elementwise operators. Mended: one fused kernel, which reads and writes once."""
    name = "void at::native::vectorized_elementwise_kernel<4, at::native::{}>(int)"
    def chain():
        for operator in ("mul", "add", "tanh", "mul", "add", "sub"):
            run.kernel(f"aten::{operator}", name.format(f"{operator}_functor"), 150)
    layers(run, between=(lambda: run.kernel("CompiledFunction", "triton_fused_mul_add_tanh", 400))
           if mended else chain)


def cats(run, _, mended):
    """Results are put together by torch.cat. Mended: written into slices of one tensor."""
    def cat():
        if not mended:
            run.kernel("aten::cat", "void at::native::CatArrayBatchedCopy<float, 4>(float*)", 150)
    layers(run, between=cat)


def zeros(run, _, mended):
    """Gradients are set to zero. Mended: to None."""
    layers(run)
    for _ in range(0 if mended else 2 * LAYERS):
        run.kernel("aten::zero_", "Memset (Device)", 80)


def tiny(run, _, mended):
    """Hundreds of small kernels, which the host cannot launch fast enough. Mended: one of them
    in a graph."""
    if mended:
        run.kernel("cudaGraph", "graph_of_400", 400)
        return
    for _ in range(400):
        run.kernel("aten::add", "void add_kernel(float*)", 1, host=1)


def mallocs(run, _, mended):
    """cudaMalloc and cudaFree in each layer. Mended: memory is kept."""
    def allocate():
        if not mended:
            run.busy("cudaMalloc", 450, "cuda_runtime")
            run.busy("cudaFree", 250, "cuda_runtime")
    layers(run, time=200, between=allocate)


def compiles(run, number, mended):
    """Every other step has a new shape and is compiled. Mended: shapes are fixed."""
    if not mended and number % 2:
        run.busy("compile_fx (dynamo_timed)", 9000)
    layers(run)


def collections(run, _, mended):
    """Garbage is collected in each step. Mended: after the epoch."""
    if not mended:
        run.busy("gc.collect", 1500, "python_function")
    layers(run)


def exposed(run, _, mended):
    """One all-reduce behind the backward pass. Mended: a part of it behind each layer."""
    name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)"
    layers(run, between=(lambda: run.collective(name, 200)) if mended else None)
    if not mended:
        run.collective(name, 3200)
    run.await_stream(COMM)
    run.kernel("aten::_fused_adam_", "fused_adam_kernel", 100)
    run.wait()


def uneven(run, _, mended):
    """One expert of eight gets most of the tokens. Mended: all get as many."""
    for _ in range(2):
        for number in range(LAYERS):
            odd = not mended and number == 5
            run.kernel("aten::bmm", GEMM, 1600 if odd else 250)
            run.kernel("aten::silu", "silu_kernel", 60)


def first(run, number, mended):
    """The first step tunes its kernels. Mended: it did so before the profiler began."""
    if not mended and number == 0:
        run.busy("aten::cudnn_convolution", 20000)
    layers(run)


def stall(run, number, mended):
    """A checkpoint in one step. Mended: a thread of its own writes it."""
    if not mended and number == 4:
        run.busy("torch.save", 20000)
    layers(run)


def tail(run, _, mended):
    """The log of the step is written when the GPU is done. Mended: while it works."""
    layers(run)
    if not mended:
        run.wait("cudaStreamSynchronize")
    run.busy("write_log", 3000)


def python(run, _, mended):
    """Half of the step is code that nothing records. Mended: it is gone."""
    run.pause(0 if mended else 7000)
    layers(run)


def attention(run, _, mended):
    """Attention is one slow kernel a layer. Mended: a fused one."""
    for number in range(LAYERS):
        run.kernel("aten::linear", f"{GEMM}_{number}", 200)
        run.kernel("aten::softmax", f"fused_{number}" if mended else "softmax_warp_forward",
                   150 if mended else 600)


def straggler(mended):
    """The second rank's loader is late, so the first one's all-reduce waits for it."""
    name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)"
    runs = [Run(rank=0), Run(rank=1)]
    for number in range(STEPS):
        begins = [run.now for run in runs]
        for rank, run in enumerate(runs):
            slow = rank == 1 and not mended
            run.busy("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                     5000 if slow else 100, "user_annotation")
            layers(run)
        meets = max(max(run.now + 4, run.free[7] + 1) for run in runs) + 3
        for run in runs:
            run.meet(name, meets + 300)
        for begin, run in zip(begins, runs):
            run.end_step(number, begin)
    return runs


GPU_PLANTS = (
    GpuPlant("items", simple(items), "drained_queue", ("aten::item", "every 100th step")),
    GpuPlant("synchronize", simple(synchronize), "drained_queue", ("cudaDeviceSynchronize",)),
    GpuPlant("loader", simple(loader), "data_wait",
             ("_SingleProcessDataLoaderIter", "num_workers")),
    GpuPlant("workers", simple(workers), "workers_too_slow", ("workers did not keep up",)),
    GpuPlant("pageable", simple(pageable), "exposed_copies", ("Pageable", "pin_memory=True")),
    GpuPlant("float32", simple(float32), "full_precision", (SGEMM, "autocast")),
    GpuPlant("float64", simple(float64), "float64", (DGEMM, "float32 or bfloat16")),
    GpuPlant("layouts", simple(layouts), "layout_conversions", ("ToNhwc", "channels_last")),
    GpuPlant("pointwise", simple(pointwise), "elementwise", ("aten::", "torch.compile")),
    GpuPlant("cats", simple(cats), "copies_among_kernels", ("aten::cat", "torch.cat")),
    GpuPlant("zeros", simple(zeros), "memory_sets", ("set_to_none=True",)),
    GpuPlant("tiny", simple(tiny), "tiny_kernels", ("cudaLaunchKernel", "reduce-overhead")),
    GpuPlant("mallocs", simple(mallocs), "allocation", ("cudaMalloc", "expandable_segments")),
    GpuPlant("compiles", simple(compiles), "compilation", ("compile_fx", "mark_dynamic")),
    GpuPlant("collections", simple(collections), "garbage_collection", ("gc.freeze",)),
    GpuPlant("exposed", simple(exposed), "exposed_communication", ("AllReduce", "bucket_cap_mb")),
    GpuPlant("uneven", simple(uneven), "uneven_blocks", ("repetitions", "experts")),
    GpuPlant("first", simple(first, 4), "warm_up_counted", ("Step 0", "cudnn_convolution")),
    GpuPlant("stall", simple(stall), "slow_step", ("Step 4 took", "torch.save")),
    GpuPlant("tail", simple(tail), "idle_tail", ("At the end of each step", "write_log")),
    GpuPlant("python", simple(python), "outside_operators", ("+python",)),
    GpuPlant("attention", simple(attention), "one_kernel",
             ("softmax_warp_forward", "launched by aten::softmax"),
             promises=False),  # nobody knows how fast a kernel can be
    GpuPlant("straggler", straggler, "late_rank", ("for rank 1", "DataLoader", "longer on rank 1")),
)
