# SPDX-License-Identifier: Apache-2.0
"""Phases of torch.compile, on every Python that Varve traces, with a log of events that is a few
lines of Python: the program does not notice. `live/` has the real one."""
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support")]

from model_tables import dump, health  # noqa: E402

UTILS = """
class ChromiumEventLogger:
    def log_event_start(self, event_name, time=None):
        if event_name == "refused":
            raise ValueError(event_name)
        return "start", ascii(event_name)

    def log_event_end(self, event_name, time=None):
        return "end", ascii(event_name)


def compile_time_record_function(name):
    pass


import colorsys
"""
OUTPUT_CODE = """
class CompiledFxGraph:
    def __init__(self, key, *within):
        self.within = within
        if key is not None:
            self._fx_graph_cache_key = key

    def __call__(self, inputs):
        for inner in self.within:
            inner()
        return inputs


import colorsys
"""
STAND_IN = {"torch/_inductor/__init__.py": "", "torch/_inductor/output_code.py": OUTPUT_CODE,
            "torch/__init__.py": "", "torch/_dynamo/__init__.py": "",
            "torch/_dynamo/utils.py": UTILS, "torch/autograd/__init__.py": "",
            "torch/autograd/profiler.py": "_is_profiler_enabled = False\n"}
BOTH = [("both outer", None), ("both inner", "both outer")]
DEEPEST = 70 - 64 + 1  # as many phases are open at once at most
EXPECTED = [*BOTH, ("closes", None), ("left open", "closes"), ("refused", None),
            *((f"deep {level}", f"deep {level + 1}" if level < 70 else None)
              for level in range(70, DEEPEST - 1, -1)),
            ("in a handler", None),
            *((f"## Call CompiledFxGraph {key} ##", around) for key, around in [
                ("outer", None), ("inner", "## Call CompiledFxGraph outer ##"), ("raises", None),
                ("None", None)])]


@pytest.fixture(name="made")
def fixture_made(tmp_path):
    def make(utils=UTILS):
        for name, text in {**STAND_IN, "torch/_dynamo/utils.py": utils}.items():
            path = tmp_path / "stand-in" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path / "stand-in"
    return make


def phases(run, build):
    """[(name, name around)] of each track, tracks in the order of their first range."""
    found = dump(build, run.trace)
    assert found["run"][0]["lost"] == 0 and health(found).keys() <= {"zero_length"}
    by_track = {}
    for row in sorted(found["slices"], key=lambda row: row["begin_ns"]):
        around = found["slices"][row["parent"]]["name"] if row["parent"] is not None else None
        by_track.setdefault(row["track"], []).append((row["name"], around))
    return list(by_track.values())


def test_the_program_does_not_notice(python, run_both, made, build):
    run = run_both(python, HERE / "programs" / "phases_compiled.py", made(), collect="torch")
    assert run.plain.returncode == 0 and run.plain.stdout.count("Error") == 3
    assert (run.done.returncode, run.done.stdout, run.done.stderr) == (0, run.plain.stdout,
                                                                       run.plain.stderr)
    assert phases(run, build) == [EXPECTED, BOTH]


@pytest.mark.parametrize("change", [
    ("compile_time_record_function", "another_name"), ("log_event_end", "log_event_stop"),
    ("def log_event_start", "log_event_start = len\n    def other")])
def test_where_the_functions_are_not_as_known_no_phase_is_a_range(either_python, run_both, made,
                                                                 build, change):
    run = run_both(either_python, HERE / "programs" / "phases_compiled.py",
                   made(UTILS.replace(*change)), collect="torch")
    assert (run.done.returncode, run.done.stdout) == (run.plain.returncode, run.plain.stdout)
    recorded = {name for track in phases(run, build) for name, _ in track}
    assert not {name for name in recorded if "CompiledFxGraph" not in name}
