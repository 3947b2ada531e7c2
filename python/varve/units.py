# SPDX-License-Identifier: Apache-2.0
"""Numbers with their units, in the manner of torch.profiler."""


def time_text(us: float) -> str:
    """As torch.profiler writes a time."""
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if us >= size:
            return f"{us / size:.3f}{unit}"
    return f"{us:.3f}us"


def bytes_text(count: int) -> str:
    for unit, size in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)):
        if abs(count) >= size:
            return f"{count / size:.2f} {unit}"
    return f"{count} B"
