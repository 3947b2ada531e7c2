# SPDX-License-Identifier: Apache-2.0
"""Which steps are recorded: torch.profiler's schedule, by the same law and the same names."""
from __future__ import annotations

import enum
import warnings
from typing import Callable


class ProfilerAction(enum.Enum):
    """What is done with a step; the names are torch.profiler.ProfilerAction's."""
    NONE = 0
    WARMUP = 1           # made ready, not recorded
    RECORD = 2
    RECORD_AND_SAVE = 3  # recorded, and the last of its window


Schedule = Callable[[int], object]


def schedule(*, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0,
             skip_first_wait: int = 0) -> Callable[[int], ProfilerAction]:
    """As torch.profiler.schedule: `skip_first` steps, then cycles of `wait` steps, `warmup` steps
    and `active` steps, of which only the active ones are recorded; after `repeat` cycles nothing is
    (0: they never end). With `skip_first_wait` the first cycle does not wait.

    >>> with varve.profile(schedule=varve.schedule(wait=1, warmup=1, active=3, repeat=2)) as prof:
    ...     for batch in batches:
    ...         train(batch)
    ...         prof.step()
    """
    numbers = {"wait": wait, "warmup": warmup, "active": active, "repeat": repeat,
               "skip_first": skip_first}
    if min(numbers.values()) < 0 or active == 0:
        words = ", ".join(f"{name}={value}" for name, value in numbers.items())
        raise ValueError(f"varve.schedule: active is at least 1, the others at least 0: {words}")
    if warmup == 0:
        warnings.warn(
            "varve.schedule: without warmup the first recorded step also makes the trace ready",
            stacklevel=2)
    cycle = wait + warmup + active

    def action_of(step: int) -> ProfilerAction:
        if step < 0:
            raise ValueError(f"steps count from 0, and {step} is none")
        if step < skip_first:
            return ProfilerAction.NONE
        place = step - skip_first + (wait if skip_first_wait else 0)
        if 0 < repeat <= place / cycle:
            return ProfilerAction.NONE
        place %= cycle
        if place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if place < cycle - 1 else ProfilerAction.RECORD_AND_SAVE

    return action_of


def action_of(plan: Schedule, step: int) -> ProfilerAction:
    """What the plan says of the step, also if it speaks of torch.profiler's actions."""
    said = plan(step)
    name = getattr(said, "name", said)
    if name not in ProfilerAction.__members__:
        raise ValueError(
            f"the schedule says {said!r} of step {step}, which is no varve.ProfilerAction")
    return ProfilerAction[name]
