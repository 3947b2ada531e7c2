/* SPDX-License-Identifier: Apache-2.0 */
/* What the host does that it need not do. */
#include "analyse/advice/rules/rules.h"
#include "meaning/call_kind.h"

/* Operators that make a gradient as large as the table of the embedding. */
#define WHOLE_TABLES "aten::embedding_dense_backward|aten::_embedding_bag_dense_backward"

/* Shapes with a tensor of doubles; "[] f64" is a number of Python. */
#define DOUBLES \
    "*0] f64*|*1] f64*|*2] f64*|*3] f64*|*4] f64*|*5] f64*|*6] f64*|*7] f64*|*8] f64*|*9] f64*"

const struct vv_rule vv_rules_host[] = {
    { .name = "one_operator",
      .bound = "host", .bound_least = 0.3,
      .is = { vv_analyse_operators, "row", "operator", "step_self_share", NULL, 0.4, VV_EACH_ROW },
      .weight = 0.2,
      .says = "{name} alone takes {share} of the steps.",
      .why = { vv_analyse_operators, "row", "operator", "step_self_share", NULL,
               "{step_calls} calls, {step_median_ns} the median, {step_max_ns} the longest." },
      .remedy = "Call it less or with less: see its shapes. Or a faster form: a library's (BLAS, "
                "oneDNN), a fused one, bfloat16, more threads; in C -O3 -march=native, and blocks "
                "that fit the cache.",
      .remedy_iree = "iree-compile --iree-opt-level=O3 and --iree-llvmcpu-target-cpu=host; varve "
                "hot gives a dispatch other tiles.",
      .see = "varve report --by shape",
      .because = "What takes 40 % is the first thing to make faster (Amdahl)." },
    { .name = "python_itself",
      .bound = "host", .bound_least = 0.3,
      .is = { vv_analyse_step_split, "row", "total", "python_own_ns", "untraced_ns", 0.3,
              VV_EACH_ROW },
      .weight = 1,
      .saves = "python_own_ns", .saves_part = 1.0,
      .says = "Python itself takes {share} of the steps, outside of operators[; {tracing_ns} more "
              "is what recording its calls takes, and is left out].",
      .why = { vv_analyse_operators, "name", "*.py(*|<built-in*", "step_self_ns", NULL,
               "{name}: {step_self_ns} in {step_calls} calls[, the longest from {source}]." },
      .remedy = "Arrays instead of loops and lists: NumPy or torch over all rows, "
                "torch.from_numpy of one array; files and logs every 100th step; torch.compile; "
                "the loader's workers.",
      .remedy_xla = "More of the step under one jax.jit; jax.lax.scan over steps; work of the "
                "host on other threads.",
      .remedy_opencl = "Fewer, larger calls: loops over arrays belong in NumPy or in a "
                "kernel; several steps in one call of C.",
      .remedy_cuda = "Fewer, larger calls: loops over arrays belong in a kernel; several steps in "
                "one call of C.",
      .see = "varve report --by source",
      .because = "TraceLens and PyTorch's guide: beyond a third, a compiler pays; without what "
                 "recording takes, which table step_split estimates (tracing_ns)." },
    { .name = "saving",
      .is = { vv_analyse_operators, "name", VV_SAVING_NAMES, "step_total_ns", VV_OF_STEPS, 0.05,
              VV_EACH_ROW },
      .weight = 1.5,
      .saves = "step_total_ns", .saves_part = 1.0,
      .says = "Saving takes {share} of the steps: {name}, {step_calls} calls.",
      .why = { vv_analyse_operators, "name", "torch/serialization.py(*): save", "step_total_ns",
               NULL, "{name}: {step_total_ns}, {step_median_ns} the median[; the longest call is "
               "from {source}]." },
      .remedy = "Save every thousandth step, or between epochs; copy the state, and write it on a "
                "thread (torch.distributed.checkpoint.async_save).",
      .remedy_xla = "Save every thousandth step; orbax's AsyncCheckpointer writes on a thread.",
      .remedy_opencl = "Save every thousandth step, or on a thread that has a copy of the "
                "state.",
      .remedy_cuda = "Save every thousandth step, or on a thread that has a copy of the state.",
      .see = "varve report --table call_tree",
      .because = "PyTorch's checkpoint recipe saves between epochs; 5 % as for other waits." },
    { .name = "one_module",
      .bound = "host", .bound_least = 0.3,
      .is = { vv_analyse_operators, "module", "nn.Module*", "step_self_share", NULL, 0.25,
              VV_EACH_ROW },
      .needs = VV_NEEDS_MODULES, .by = "module",
      .weight = 0.6,
      .says = "{name} takes {share} of the steps, more than any other module.",
      .why = { vv_analyse_operators, "module", "nn.Module*", "step_self_ns", NULL,
               "{step_self_ns} in {step_calls} operators, {step_median_ns} the median." },
      .remedy = "Give layers equal work, or make this one smaller: its width, its sequence, a "
                "factorized or sampled output layer.",
      .see = "varve report --by module",
      .because = "TraceLens' comparison of layers: with a dozen modules, a quarter in one is the "
                 "first to change (Amdahl)." },
    { .name = "tiny_kernels",
      .bound = "host|launch", .bound_least = 0.3,
      .is = { vv_analyse_launches, "row", "total", "launching_ns", VV_OF_STEPS, 0.05,
              VV_EACH_ROW },
      .also = { vv_analyse_launches, "row", "total", "under_10_us", "works", 0.5, VV_EACH_ROW },
      .weight = 1.1,
      .saves = "launching_ns", .saves_part = 1.0,
      .says = "Launching work one piece at a time takes {share} of the steps; most pieces run "
              "for less than 10 µs.",
      .why = { vv_analyse_launches, "row", "call", "launching_ns", NULL,
               "{name}: {calls} calls take {call_ns}; {under_10_us} pieces of the work are "
               "shorter than 10 µs." },
      .remedy = "torch.compile(mode='reduce-overhead') (CUDA graphs), a larger batch, "
                "foreach=True or fused=True optimizers, fewer small tensors.",
      .remedy_xla = "One jax.jit around the whole step, and not around its parts; jax.lax.scan "
                "over steps; a larger batch.",
      .remedy_ascend = "torch.npu.set_compile_mode(jit_compile=False); TASK_QUEUE_ENABLE=2; "
                "graph mode (torch.compile with torchair); a larger batch; foreach=True or "
                "torch_npu's fused optimizers.",
      .remedy_opencl = "One kernel over more work items, so that a step enqueues few: a "
                "dimension of the range for the loop on the host, several steps in one kernel; "
                "command buffers (cl_khr_command_buffer).",
      .remedy_cuda = "CUDA graphs (cudaStreamBeginCapture, cudaGraphLaunch), or HIP's; one kernel "
                "over more work, or several steps of it in one kernel.",
      .remedy_iree = "iree-compile --iree-opt-level=O3 and "
                "--iree-dispatch-creation-enable-aggressive-fusion: fewer and larger "
                "dispatches; a larger batch.",
      .see = "varve idle --table launches",
      .because = "HTA's short kernels and PyTorch's guide: a launch costs the host 5 to 10 "
                 "µs, so shorter work cannot keep the device busy." },
    { .name = "embedding_gradients",
      .is = { vv_analyse_operators, "name", WHOLE_TABLES, "step_total_ns", VV_OF_STEPS, 0.1,
              VV_EACH_ROW },
      .weight = 1.5,
      .saves = "step_total_ns", .saves_part = 1.0,
      /* all of it: a table whose gradient takes so long is most of what the optimizer goes over */
      .saves_too = { vv_analyse_phases, "phase", "optimizer", "total_ns", NULL, 0, VV_EACH_ROW },
      .says = "{share} of the steps passes in gradients of whole embedding tables, of which a "
              "batch uses a few rows.",
      .why = { vv_analyse_operators, "name", WHOLE_TABLES, "step_total_ns", NULL,
               "{name}: {step_calls} calls, {step_total_ns}; the optimizer then goes over each "
               "table, too." },
      .remedy = "nn.Embedding or nn.EmbeddingBag(…, sparse=True) with SGD or SparseAdam; a smaller "
                "table (hashing, only the words that occur).",
      .see = "varve report --by shape", .filter = "name~'aten::*embedding*'",
      .because = "PyTorch's notes on nn.Embedding: a dense gradient is as large as the table; a "
                 "tenth as for other operators that need not be." },
    { .name = "optimizer_loop",
      .unless = "embedding_gradients",
      .bound = "host", .bound_least = 0.1,
      .is = { vv_analyse_phases, "phase", "optimizer", "share", NULL, 0.15, VV_EACH_ROW },
      .also = { vv_analyse_operators, "name",
                "aten::addcdiv_|aten::addcmul_|aten::add_|aten::mul_|aten::lerp_|aten::sqrt",
                "step_lead_share", NULL, 0.03, VV_ALL_ROWS },
      .never = { vv_analyse_operators, "name", "aten::_fused_*", "step_calls", NULL, 1,
                 VV_EACH_ROW },
      .weight = 0.9,
      .saves = "total_ns", .saves_part = 0.7,
      .says = "The optimizer takes {share} of the steps.",
      .why = { vv_analyse_operators, "name",
               "aten::addcdiv_|aten::addcmul_|aten::add_|aten::mul_|aten::lerp_", "step_calls",
               NULL,
               "It works parameter by parameter: {name} runs {step_calls} times in the steps." },
      .remedy = "foreach=True or fused=True in the optimizer's constructor; torch.compile of "
                "optimizer.step.",
      .see = "varve report", .filter = "phase=='optimizer'",
      .because = "PyTorch's tuning guide: fused optimizers; above 15 % the loop over "
                 "parameters shows." },
    { .name = "conversions",
      .bound = "host", .bound_least = 0.3,
      .is = { vv_analyse_operators, "name",
              "aten::copy_|aten::_to_copy|aten::to|aten::contiguous|aten::clone|"
              "*ToCopyBackward0|*CloneBackward0", "step_led_share", NULL,
              0.15, VV_ALL_ROWS },
      .weight = 0.8,
      .saves = VV_OF_STEPS, .saves_part = 1.0,
      .says = "{share} of the steps is copies and conversions of tensors on the host.",
      .why = { vv_analyse_operators, "name",
               "aten::copy_|aten::_to_copy|aten::to|aten::contiguous|aten::clone|"
              "*ToCopyBackward0|*CloneBackward0", "step_self_ns", NULL,
               
               "{name}: {step_calls} calls, {step_self_ns}." },
      .remedy = "One dtype and memory format from the loader on; .to(..., non_blocking=True) "
                "once; no .contiguous() or .clone() where a view does; channels_last for the "
                "whole model.",
      .remedy_host = "One dtype and memory format from the loader on; no .contiguous() or .clone() "
                "where a view does; channels_last for the whole model.",
      .see = "varve report --by module", .filter = VV_ITS_NAMES,
      .because = "TraceLens and msprof-analyze (affinity, format conversions): beyond 15 % "
                 "one conversion more than needed is likely." },
    { .name = "printing_tensors",
      .is = { vv_analyse_operators, "name",
              "aten::item|aten::_local_scalar_dense|aten::is_nonzero|aten::select|aten::unbind|"
              "aten::resolve_conj|aten::masked_select|aten::isfinite|aten::ceil|aten::isnan",
              "step_led_share", NULL, 0.05, VV_ALL_ROWS },
      .also = { vv_analyse_operators, "name", "aten::masked_select", "step_calls", NULL, 4,
                VV_EACH_ROW },
      .besides = { vv_analyse_operators, "name", "aten::isfinite", "step_calls", NULL, 4,
                   VV_EACH_ROW },
      .weight = 1.3,
      .saves = VV_OF_STEPS, .saves_part = 2.0, /* Python writes each number, too              */
      .says = "{share} of the steps passes in operators that print() of a tensor calls: numbers "
              "are read one by one, and their width is looked for.",
      .why = { vv_analyse_operators, "name", "aten::item|aten::is_nonzero|aten::masked_select",
               "step_calls", NULL, "{name}: {step_calls} calls in the steps." },
      .remedy = "print(x.shape, x.mean().item()) every 100th step, or x.tolist(); no print, no "
                "f-string and no log of a whole tensor in the step.",
      .see = "varve report --by source", .filter = "name=='aten::item'",
      .because = "torch/_tensor_str.py: masked_select and isfinite find the width of the numbers, "
                 "then each one is read; 5 % as for other numbers that are read." },
    { .name = "scalars_from_tensors",
      .unless = "printing_tensors",
      .is = { vv_analyse_operators, "name",
              "aten::item|aten::_local_scalar_dense|aten::is_nonzero|aten::equal",
              "step_led_share", NULL, 0.05, VV_ALL_ROWS },
      .weight = 1.2,
      .saves = VV_OF_STEPS, .saves_part = 1.0,
      .says = "{share} of the steps passes in reading single numbers from tensors, which "
              "waits for what computes them.",
      .why = { vv_analyse_operators, "name",
               "aten::item|aten::_local_scalar_dense|aten::is_nonzero|aten::equal", "step_calls",
               NULL,
               "{name}: {step_calls} calls in the steps[, the longest from {source}]." },
      .remedy = "Keep loss and metrics on the device; .item() every 100th step, and no print of a "
                "tensor; torch.where instead of if; clip_grad_norm_(foreach=True) without .item().",
      .see = "varve report --by source", .filter = VV_ITS_NAMES,
      .because = "PyTorch's tuning guide: avoid unnecessary synchronization; 5 % as for other "
                 "waits." },
    { .name = "sizes_from_tensors",
      .is = { vv_analyse_operators, "name",
              "aten::nonzero|aten::index|aten::masked_select|aten::unique*|aten::_unique2|"
              "aten::repeat_interleave",
              "step_led_share", NULL, 0.05, VV_ALL_ROWS },
      .weight = 1.1,
      .saves = VV_OF_STEPS, .saves_part = 1.0,
      .says = "{share} of the steps passes in operators whose result's size depends on "
              "values, which waits for what computes them.",
      .why = { vv_analyse_operators, "name",
               "aten::nonzero|aten::index|aten::masked_select|aten::unique*|aten::_unique2|"
               "aten::repeat_interleave",
               "step_calls", NULL,
               "{name}: {step_calls} calls in the steps[, the longest from {source}]." },
      .remedy = "torch.where, masks by multiplication, output_size= of repeat_interleave, "
                "fixed capacities.",
      .see = "varve report --by source", .filter = VV_ITS_NAMES,
      .because = "PyTorch's tuning guide names nonzero; 5 % as for other waits." },
    { .name = "outside_operators",
      .unless = "python_itself",
      .is = { vv_analyse_host_gaps, "row", "total", "long_ns", VV_OF_STEPS, 0.2, VV_EACH_ROW },
      .also = { vv_analyse_step_split, "row", "total", "other_ns", "duration_ns", 0.2,
                VV_EACH_ROW },
      .never = { vv_analyse_step_split, "row", "total", "python_ns", "other_ns", 0.8,
                 VV_EACH_ROW }, /* calls of Python were recorded, and fill the gaps            */
      .weight = 0.8,
      .saves = "long_ns", .saves_part = 1.0,
      .says = "In {share} of the steps' time nothing ran that was recorded: Python, or code "
              "without marks.",
      .why = { vv_analyse_host_gaps, "row", "gap", "long_ns", NULL,
               "Most of it after {after} and before {until}: {long_ns}. Gaps: {long_gaps}, the "
               "longest {max_ns} in step {step}." },
      .remedy = "Record it: varve record --collect +python, or mark ranges (varve.h, "
                "record_function); then look again.",
      .remedy_xla = "Record it: python_tracer_level of jax.profiler.ProfileOptions, or mark "
                "ranges (jax.profiler.TraceAnnotation); then look again.",
      .see = "varve report --table host_gaps",
      .because = "A fifth of the step in gaps of 50 µs and more is no call's overhead, and has no "
                 "name (TraceLens: CPU idle; first-use reports of sleeping steps)." },
    { .name = "numbers_outside",
      .unless = "outside_operators",
      .never = { vv_analyse_operators, "name", "aten::masked_select", "step_calls", NULL, 4,
                 VV_EACH_ROW }, /* that is print() of a tensor                                 */
      .is = { vv_analyse_host_gaps, "after", "aten::resolve_neg", "total_ns",
              VV_OF_STEPS, 0.1, VV_ALL_ROWS },
      .also = { vv_analyse_step_split, "row", "total", "python_ns", "other_ns", 0.2,
                VV_REST_OF_ROW }, /* calls of Python do not fill the pauses                    */
      .weight = 0.9,
      .saves = "total_ns", .saves_part = 1.25, /* and the operators that hand them over          */
      .says = "{share} of the steps passes in pauses right after numbers were taken from tensors "
              "(.numpy(), .tolist()): NumPy or Python works on them.",
      .why = { vv_analyse_host_gaps, "after", "aten::resolve_neg", "total_ns", NULL,
               "After {after} and before {until}: {gaps} pauses, {total_ns}." },
      .remedy = "Metrics as operators over the whole tensor, on its device; .numpy() or .tolist() "
                "once, of all rows, every 100th step. varve record --collect +python names the "
                "line.",
      .see = "varve report --table host_gaps",
      .because = "PyTorch's tuning guide: avoid the way over the host. A tenth is more than what "
                 "Python takes between operators of a model." },
    { .name = "tiny_operators",
      .bound = "host", .bound_least = 0.5,
      .is = { vv_analyse_host_gaps, "row", "total", "tiny_ns", VV_OF_STEPS, 0.6, VV_EACH_ROW },
      .also = { vv_analyse_host_gaps, "row", "total", "tiny_calls", NULL, 1000, VV_EACH_ROW },
      .weight = 0.4,
      .saves = "tiny_ns", .saves_part = 0.9,
      .says = "Small operators one after the other take {share} of the steps: {tiny_calls} calls "
              "shorter than 20 µs, with what Python takes for each.",
      .why = { vv_analyse_operators, "name", "aten::*", "step_lead_ns", NULL,
               "{name}: {step_calls} calls of {step_median_ns}, and {step_lead_ns} between them." },
      .or_why = { vv_analyse_operators, "row", "operator", "step_lead_ns", NULL,
               "{name}: {step_calls} calls of {step_median_ns}, and {step_lead_ns} between them.",
               .weight = 1e-3 }, /* the engine's ranges are nobody's to change                  */
      .remedy = "One operator over all rows instead of a loop in Python, one wide layer instead "
                "of a ModuleList of many; torch.compile; torch.vmap; a larger batch.",
      .remedy_xla = "jax.jit around the loop; jax.vmap instead of it; a larger batch.",
      .remedy_opencl = "One operator over all rows instead of a loop over them; a larger "
                "batch.",
      .remedy_cuda = "One kernel over all rows instead of a loop over them; a CUDA graph of the "
                "loop; a larger batch.",
      .see = "varve report --by source",
      .because = "PyTorch's tuning guide: a call from Python costs 5 to 20 µs, so shorter work is "
                 "overhead; three fifths of the step is beyond a small model's." },
    { .name = "zeroing_gradients",
      .is = { vv_analyse_operators, "name", "Optimizer.zero_grad*|torch::autograd::AccumulateGrad",
              "step_total_ns", VV_OF_STEPS, 0.05, VV_ALL_ROWS },
      .also = { vv_analyse_operators, "name", "Optimizer.zero_grad*", "step_total_ns", VV_OF_STEPS,
                0.02, VV_EACH_ROW },
      .besides = { vv_analyse_operators, "name", "aten::zero_|aten::_foreach_zero_",
                   "step_led_share", NULL, 0.01, VV_ALL_ROWS },
      .weight = 1.1,
      .saves = "step_total_ns", .saves_part = 1.0,
      .says = "{share} of the steps passes in setting gradients to zero, and adding to the zeros.",
      .why = { vv_analyse_operators, "name", "aten::zero_|aten::_foreach_zero_", "step_total_ns",
               NULL, "{name}: {step_calls} calls, {step_total_ns}." },
      .remedy = "optimizer.zero_grad(set_to_none=True), which is the default since PyTorch 2.0.",
      .see = "varve report", .filter = "name~'*zero*'",
      .because = "PyTorch's tuning guide: gradients that are None need neither zeros nor an "
                 "addition." },
    { .name = "gradient_norms",
      .is = { vv_analyse_operators, "name",
              "aten::linalg_vector_norm|aten::norm|aten::_foreach_norm", "step_led_share", NULL,
              0.05, VV_ALL_ROWS },
      .weight = 1,
      .saves = VV_OF_STEPS, .saves_part = 1.0,
      .says = "{share} of the steps passes in norms, as clipping of gradients takes them.",
      .why = { vv_analyse_operators, "name",
               "aten::linalg_vector_norm|aten::norm|aten::_foreach_norm", "step_calls", NULL,
               "{name}: {step_calls} calls in the steps." },
      .remedy = "clip_grad_norm_(…, foreach=True); take norms for the log every 100th step only.",
      .see = "varve report --by source", .filter = VV_ITS_NAMES,
      .because = "PyTorch's notes on foreach: one norm a parameter is a loop of small operators; "
                 "5 % as for other loops." },
    { .name = "repeated_backward",
      .needs = VV_NEEDS_SECOND_PASSES,
      .is = { vv_analyse_links, "row", "link", "again_ns", VV_OF_STEPS, 0.1, VV_ALL_ROWS },
      .also = { vv_analyse_phases, "phase", "backward", "share", NULL, 0.1, VV_EACH_ROW },
      .weight = 1.2,
      .saves = "again_ns", .saves_part = 1.0,
      .says = "{share} of the steps is backward passes over a graph that had one before.",
      .why = { vv_analyse_links, "row", "link", "again_ns", NULL,
               "{backward_op} ran again for {forward_op}: pass {ordinal}, {again_ns}." },
      .remedy = "Add the losses and call backward() once, without retain_graph=True; where two "
                "optimizers train two models (a GAN), detach() what the other model made; "
                "torch.autograd.grad of several outputs at once.",
      .see = "varve report --table links",
      .because = "PyTorch's autograd notes: gradients of a sum are the sum of gradients, so one "
                 "pass does for all losses; a tenth as for other work that is done twice." },
    { .name = "recomputation",
      .is = { vv_analyse_phases, "phase", "recompute", "share", NULL, 0.1, VV_EACH_ROW },
      .weight = 1,
      .saves = "total_ns", .saves_part = 1.0,
      .says = "{share} of the steps computes again what the forward pass had: gradient "
              "checkpointing.",
      .why = { vv_analyse_memory, NULL, NULL, "peak_bytes", NULL,
               "{device} holds {peak_bytes} at most: it pays only where memory is short." },
      .remedy = "Checkpoint fewer blocks, or none, where memory allows: every second block, or "
                "what is cheap alone (context_fn of torch.utils.checkpoint).",
      .see = "varve report", .filter = "phase=='recompute'",
      .because = "PyTorch's page of torch.utils.checkpoint trades time for memory; a tenth of "
                 "the step is a third of the forward pass." },
    { .name = "anomaly_detection",
      .is = { vv_analyse_operators, "name", "aten::ne|aten::any", "step_led_share", NULL, 0.05,
              VV_ALL_ROWS },
      .also = { vv_analyse_operators, "name", "aten::any", "step_calls", NULL, 50, VV_EACH_ROW },
      .besides = { vv_analyse_operators, "name", "aten::ne", "step_calls", NULL, 50,
                   VV_EACH_ROW },
      .weight = 1.3,
      .says = "{share} of the steps compares tensors with themselves, as the search for NaN does "
              "after each backward function; Python's stack, kept for each forward one, comes on "
              "top.",
      .why = { vv_analyse_operators, "name", "aten::any", "step_calls", NULL,
               "{name}: {step_calls} calls in the steps, {step_total_ns}." },
      .remedy = "torch.autograd.set_detect_anomaly(False), and no detect_anomaly() around the "
                "step.",
      .see = "varve report --by phase",
      .because = "PyTorch's tuning guide: disable debugging APIs; a twentieth as for other calls "
                 "that wait." },
    { .name = "dropout_at_evaluation",
      .is = { vv_analyse_operators, "name", "aten::dropout|aten::dropout_|aten::feature_dropout",
              "step_total_ns", VV_OF_STEPS, 0.05, VV_ALL_ROWS },
      .also = { vv_analyse_operators, "name", "aten::bernoulli_|aten::native_dropout",
                "step_calls", NULL, 1, VV_ALL_ROWS },
      .never = { vv_analyse_operators, "name",
                 "autograd::engine::evaluate_function*|*Backward0|Optimizer.step*", "calls", NULL,
                 1, VV_EACH_ROW },
      .weight = 1.3,
      .saves = "step_total_ns", .saves_part = 1.0,
      .says = "{share} of the steps is dropout, though nothing is trained.",
      .why = { vv_analyse_operators, "name", "aten::dropout|aten::dropout_|aten::feature_dropout",
               "step_total_ns", NULL, "{name}: {step_calls} calls, {step_total_ns}." },
      .remedy = "model.eval() before evaluation and inference (torch.no_grad() does not turn "
                "dropout off), model.train() before training goes on.",
      .see = "varve report --by source", .filter = "name~'*dropout*'",
      .because = "PyTorch's notes on evaluation mode: results are random until eval() is called; "
                 "a twentieth, though one call is wrong already." },
    { .name = "forward_only",
      .is = { vv_analyse_forward_only, "row", "total", "total_ns", VV_OF_STEPS, 0.25,
              VV_EACH_ROW },
      .also = { vv_analyse_forward_only, "row", "total", "nodes", NULL, 50, VV_EACH_ROW },
      .weight = 0.35, /* memory is what it costs                                             */
      .says = "{share} of the steps is operators that recorded a graph for a backward pass: "
              "{nodes} nodes that no backward pass used.",
      .why = { vv_analyse_forward_only, "row", "operator", "total_ns", NULL,
               "{name}: {nodes} of {all_nodes} calls, {total_ns}. What each one saves for the way "
               "back stays in memory until its output is gone." },
      .remedy = "torch.inference_mode() or torch.no_grad() around evaluation and inference; "
                ".detach() of what is kept for a log.",
      .see = "varve report --table forward_only",
      .because = "PyTorch's notes on locally disabling gradients; a quarter is more than a metric "
                 "beside training." },
    { .name = "random_numbers",
      .unless = "dropout_at_evaluation",
      .bound = "host", .bound_least = 0.3,
      .is = { vv_analyse_operators, "name",
              "aten::bernoulli_|aten::normal_|aten::uniform_|aten::random_|aten::randperm|"
              "aten::native_dropout",
              "step_led_share", NULL, 0.1, VV_ALL_ROWS },
      .weight = 1,
      .saves = VV_OF_STEPS, .saves_part = 1.0,
      .says = "{share} of the steps draws random numbers on the host.",
      .why = { vv_analyse_operators, "name",
               "aten::bernoulli_|aten::normal_|aten::uniform_|aten::random_|aten::randperm|"
               "aten::native_dropout",
               "step_self_ns", NULL,
               "{name}: {step_calls} calls, {step_self_ns}[, the longest from {source}]." },
      .remedy = "Draw in the loader's workers, ahead, or on the device; a fused dropout "
                "(torch.compile).",
      .see = "varve report --by source", .filter = VV_ITS_NAMES,
      .because = "TraceLens lists such operators apart; a tenth is more than a model's dropout." },
    { .name = "filling_tensors",
      .unless = "zeroing_gradients",
      .bound = "host", .bound_least = 0.3,
      .is = { vv_analyse_operators, "name", "aten::fill_|aten::ones|aten::zeros|aten::full",
              "step_led_share", NULL, 0.1, VV_ALL_ROWS },
      .never = { vv_analyse_operators, "name", WHOLE_TABLES, "step_total_ns", VV_OF_STEPS, 0.1,
                 VV_EACH_ROW }, /* those are its zeros                                         */
      .weight = 0.9,
      .saves = VV_OF_STEPS, .saves_part = 1.0,
      .says = "{share} of the steps fills tensors with one value.",
      .why = { vv_analyse_operators, "name", "aten::fill_|aten::ones|aten::zeros|aten::full",
               "step_self_ns", NULL, "{name}: {step_calls} calls, {step_self_ns}." },
      .remedy = "Make constant tensors (masks, positions) once, as buffers of the module; "
                "torch.empty where all is written.",
      .see = "varve report --by source", .filter = VV_ITS_NAMES,
      .because = "PyTorch's tuning guide: create tensors once and on the device; a tenth is more "
                 "than the loss needs." },
    { .name = "recurrent_cells",
      .is = { vv_analyse_operators, "name",
              "aten::lstm_cell|aten::gru_cell|aten::rnn_tanh_cell|aten::rnn_relu_cell",
              "step_total_ns", VV_OF_STEPS, 0.1, VV_ALL_ROWS },
      .also = { vv_analyse_operators, "name",
                "aten::lstm_cell|aten::gru_cell|aten::rnn_tanh_cell|aten::rnn_relu_cell",
                "step_calls", NULL, 100, VV_ALL_ROWS },
      .besides = { vv_analyse_operators, "name",
                   "aten::lstm_cell|aten::gru_cell|aten::rnn_tanh_cell|aten::rnn_relu_cell",
                   "step_calls", "step_total_ns", 1 / 300e3, VV_EACH_ROW }, /* calls below 300 µs */
      .never = { vv_analyse_operators, "name",
                 "aten::lstm|aten::gru|aten::rnn_tanh|aten::rnn_relu", "step_calls", NULL, 1,
                 VV_EACH_ROW },
      .weight = 1.5,
      .says = "A recurrent cell runs time step by time step, {share} of the steps forward alone.",
      .why = { vv_analyse_operators, "name",
               "aten::lstm_cell|aten::gru_cell|aten::rnn_tanh_cell|aten::rnn_relu_cell",
               "step_total_ns", NULL, "{name}: {step_calls} calls of {step_median_ns}." },
      .remedy = "nn.LSTM, nn.GRU or nn.RNN over the whole sequence instead of nn.LSTMCell in a "
                "loop; torch.compile of the loop.",
      .see = "varve report --by source", .filter = "name~'aten::*cell'",
      .because = "cuDNN and oneDNN run a layer over the sequence in one call; a tenth forward is "
                 "three with the way back. Cells of 25 to 150 µs took 1.7 to 8 times a layer's "
                 "time, those of 1 ms as long (doc/truth.md)." },
    { .name = "joining_tensors",
      .bound = "host", .bound_least = 0.3,
      .is = { vv_analyse_operators, "name", "aten::cat", "step_total_ns", VV_OF_STEPS, 0.15,
              VV_EACH_ROW },
      .weight = 1,
      .saves = "step_total_ns", .saves_part = 1.0,
      .says = "{share} of the steps joins tensors, which copies all of them.",
      .why = { vv_analyse_operators, "name", "aten::cat", "step_total_ns", NULL,
               "{name}: {step_calls} calls, {step_median_ns} the median, {step_max_ns} the "
               "longest. What is joined with all that came before it is copied in each step." },
      .remedy = "Append to a list, and torch.cat once, behind the loop; or torch.empty of the "
                "whole size, and write each part into its rows.",
      .see = "varve report --by shape --sort shapes", .filter = "name=='aten::cat'",
      .because = "PyTorch's FAQ on histories: a tensor that grows by torch.cat costs the square of "
                 "the steps; 15 % as for other copies." },
    { .name = "double_precision",
      .bound = "host", .bound_least = 0.5,
      .is = { vv_analyse_operators, "shapes", DOUBLES, "step_self_share", NULL, 0.1, VV_ALL_ROWS },
      .needs = VV_NEEDS_DOUBLES, .by = "shape",
      .weight = 1,
      .saves = VV_OF_STEPS, .saves_part = 0.5,
      .says = "{share} of the steps is operators in double precision.",
      .why = { vv_analyse_operators, "shapes", DOUBLES, "step_self_ns", NULL,
               "{name} of {shapes}: {step_calls} calls, {step_self_ns}." },
      .remedy = "float32: look for numpy's default (float64) in the loader, "
                "torch.set_default_dtype, .double(), and float64 constants; .float() at the input.",
      .remedy_xla = "jax_enable_x64=False; look for numpy's default (float64) in what the "
                "program is given.",
      .remedy_opencl = "float32: literals like 1.0f, and no double in what the program is "
                "given.",
      .remedy_cuda = "float: literals like 1.0f, and no double in what the program is given.",
      .see = "varve report --by shape",
      .because = "A processor's vectors hold half as many doubles as floats; a tenth is more than "
                 "sums in a loss (TraceLens lists dtypes)." },
};
const size_t vv_rules_host_count = sizeof vv_rules_host / sizeof *vv_rules_host;
