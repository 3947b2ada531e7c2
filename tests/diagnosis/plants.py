# SPDX-License-Identifier: Apache-2.0
"""plants.py: the planted problems, as data. A row says which rule must speak first, and which words
name the place and the remedy."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Plant:
    name: str              # argument of its program
    program: str           # of programs/: NAME.py with PyTorch, NAME a C program
    rule: str              # of the first finding
    places: tuple          # texts that the finding, its evidence or its advice contains
    options: tuple = ()    # of varve record, and part of what the plant is
    promises: bool = True  # mending saves time of the steps, and the finding says how much
    apart: bool = False    # that is measured by the two recordings, and not in turns

    @property
    def id(self):
        return "".join((self.program, "-", self.name, *self.options[1:]))


MODULES, PYTHON = ("--collect", "+modules"), ("--collect", "+python")
COUNTED = ("--metrics", "Memory")

TORCH_LOOPS = (
    Plant("loader", "loops.py", "data_wait",
          ("enumerate(DataLoader)#_SingleProcessDataLoaderIter", "num_workers")),
    Plant("collated", "loops.py", "data_wait",
          ("enumerate(DataLoader)#_SingleProcessDataLoaderIter", "collate_fn")),
    Plant("workers", "loops.py", "workers_too_slow",
          ("enumerate(DataLoader)#_MultiProcessingDataLoaderIter", "num_workers"),
          apart=True),  # in turns the workers take each other's processors
    Plant("crowd", "loops.py", "crowded_workers",
          ("2 workers have 3", "torch.set_num_threads(1)", "worker_init_fn", "OMP_NUM_THREADS"),
          promises=False),  # depends on whose turn it is on the processors
    Plant("epochs", "loops.py", "workers_restarted",
          ("beside the first", "persistent_workers=True"), apart=True),  # in turns, of both ways
    Plant("kept", "loops.py", "leak", ("aten::", "loss.item()"), promises=False),  # of memory
    Plant("pause", "loops.py", "outside_operators", ("before aten::linear", "+python")),
    Plant("interpreter", "loops.py", "outside_operators", ("before aten::linear", "+python")),
    Plant("interpreter", "loops.py", "python_itself", ("loops.py(", ": average"), PYTHON),
    Plant("checkpoint", "loops.py", "outside_operators", ("after aten::detach", "+python")),
    Plant("checkpoint", "loops.py", "saving", ("torch/serialization.py(", ": save"), PYTHON),
    Plant("one_step", "loops.py", "slow_step",
          ("Step ", "after aten::detach and before aten::empty", "+python"),
          apart=True),  # in turns the median counts
    Plant("collect", "loops.py", "garbage_collection", ("<built-in function collect>",), PYTHON),
    Plant("shapes", "loops.py", "compilation", ("dynamo: 1", "dynamic=True")),
    Plant("blocks", "loops.py", "one_module", ("nn.Module: Linear_4 (4.0)",), MODULES,
          promises=False),  # nobody knows how much work a module needs
    Plant("threads", "loops.py", "oversubscription",
          ("processors", "torch.set_num_threads", "OMP_NUM_THREADS"), COUNTED, apart=True),
    Plant("fresh", "loops.py", "page_faults", ("aten::fill_", "Keep buffers"), COUNTED),
)

TORCH_OPERATORS = (
    Plant("optimizer", "operators.py", "optimizer_loop", ("aten::add_", "fused=True")),
    Plant("copies", "operators.py", "conversions", ("aten::copy_", "channels_last")),
    Plant("layout", "operators.py", "conversions", ("aten::copy_", "channels_last")),
    Plant("clones", "operators.py", "conversions", ("aten::copy_", ".clone()")),
    Plant("doubles", "operators.py", "double_precision", ("aten::mm", "[384,128] f64")),
    Plant("tiny", "operators.py", "tiny_operators", ("aten::mul", "torch.vmap")),
    Plant("items", "operators.py", "scalars_from_tensors", ("aten::item", ".item()")),
    Plant("zeros", "operators.py", "zeroing_gradients", ("aten::zero_", "set_to_none=True")),
    Plant("norms", "operators.py", "gradient_norms", ("aten::linalg_vector_norm",)),
    Plant("noise", "operators.py", "random_numbers", ("aten::normal_",)),
    Plant("masks", "operators.py", "filling_tensors", ("aten::fill_", "buffers")),
    Plant("words", "operators.py", "embedding_gradients",
          ("aten::embedding_dense_backward", "sparse=True")),
    Plant("cells", "operators.py", "recurrent_cells", ("aten::lstm_cell", "nn.LSTM,"),
          promises=False),  # a layer saves between none and nine tenths: doc/truth.md
    Plant("joined", "operators.py", "joining_tensors", ("aten::cat", "torch.empty"),
          apart=True),  # in turns each way finds the caches of the other
    Plant("passes", "operators.py", "repeated_backward",
          ("AddmmBackward0", "call backward() once")),
    Plant("recomputed", "operators.py", "recomputation", ("checkpointing", "every second block")),
    Plant("anomaly", "operators.py", "anomaly_detection",
          ("aten::any", "set_detect_anomaly(False)"),
          promises=False),  # Python's stacks cost, too, and have no operator
    Plant("evaluated", "operators.py", "dropout_at_evaluation", ("aten::dropout", "model.eval()")),
    Plant("heads", "operators.py", "tiny_operators", ("aten::linear", "one wide layer")),
    Plant("printed", "operators.py", "printing_tensors", ("aten::item", "print(")),
    Plant("numbers", "operators.py", "numbers_outside",
          ("After aten::resolve_neg", ".numpy()", "whole tensor")),
    Plant("graphs", "operators.py", "forward_only", ("aten::addmm", "torch.no_grad()"),
          promises=False),  # memory is what it costs
    Plant("selections", "operators.py", "sizes_from_tensors", ("aten::nonzero", "torch.where")),
)

TORCH_RANKS = (
    Plant("late", "ddp.py", "late_rank", ("for rank 1", "read_shard", "longer on rank 1")),
    Plant("forked", "ddp.py", "late_rank", ("for rank 1", "read_shard", "longer on rank 1"),
          promises=False),  # that of "late"
    Plant("buckets", "ddp.py", "small_collectives", ("allreduce of ", "bucket_cap_mb")),
)
