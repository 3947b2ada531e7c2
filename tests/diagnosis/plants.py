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
    options: tuple = ()    # of varve record
    promises: bool = True  # mending saves time of the steps, and the finding says how much


TORCH_LOOPS = (
    Plant("loader", "loops.py", "data_wait",
          ("enumerate(DataLoader)#_SingleProcessDataLoaderIter", "num_workers")),
    Plant("kept", "loops.py", "leak", ("aten::", "loss.item()"), promises=False),
    Plant("pause", "loops.py", "outside_operators", ("nothing ran that was recorded", "+python")),
    Plant("one_step", "loops.py", "slow_step", ("Step ", " took "), promises=False),
)

TORCH_OPERATORS = (
    Plant("optimizer", "operators.py", "optimizer_loop", ("aten::", "fused=True")),
)
