# SPDX-License-Identifier: Apache-2.0
"""Programs with one planted problem each, and their mended twins: what the findings say of both,
and how well they promise what mending saves.

A program of programs/ is asked in three ways:

    PROGRAM PLANT planted       runs some steps with the problem
    PROGRAM PLANT mended        the same steps without it
    PROGRAM --measure PLANT     both, step by step in turns; its last line of output is
                                {"planted_ns": n, "mended_ns": n}, typical times of a step

The machine may be busy, and then what is taken from a program falls on any of its parts. So the
programs run with precedence where the tests may give it, and each way is tried up to five times.
What leads may be true and the machine's: one step was slow, the first one was. Where no such step
is planted, the next finding counts, of all steps or, as a user would ask, of the longest stretch of
them without a slow one. Promise and saving are compared as shares of a step: of the step that was
recorded, and of the step that was measured in the same process as its twin. Where both ways would
disturb each other there, the recordings of both are compared."""
import dataclasses
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "live"))
# pylint: disable-next=wrong-import-position
from environments import python_of, run_in  # noqa: E402

SLOW_STEPS = {"slow_step", "stopped_step", "warm_up_counted"}  # steps that others may have taken
BY_OTHERS = SLOW_STEPS | {"late_rank"}    # what another program may cause, and the twin may have
SLOW = 1.5    # x the median, as these rules have it
LEAST_STEPS = 4
ATTEMPTS = 5  # a neighbour's burst of work hits one program of a pair
FACTOR = 1.5  # between the promise and what mending saved


@dataclasses.dataclass
class Diagnosis:
    """What the findings say of one plant and of its twin, and the time of a step of both."""
    rules: list       # of the plant, the first finding first
    twin_rules: list  # of its twin, those that are the plant's
    text: str         # finding, evidence and advice of the first
    promised: float   # share of the step; 0 = no promise
    saved: float      # share of the step
    commands: list    # those that are printed beside the findings and fail

    @property
    def factor(self):
        return self.promised / self.saved if self.saved > 0 else float("inf")

    def faults(self, plant):
        """Sentences; none = the diagnosis is right."""
        found = []
        if self.rules[:1] != [plant.rule]:
            found.append(f"{plant.rule} is not the first of {self.rules}")
        else:
            found += [f"{place!r} is not in {self.text!r}" for place in plant.places
                      if place not in self.text]
        found += [f"{command} fails" for command in self.commands]
        if self.twin_rules:
            found.append(f"the twin has {plant.rule}, too")
        if plant.promises and not 1 / FACTOR <= self.factor <= FACTOR:
            found.append(f"promised {self.promised:.1%} of a step, saved {self.saved:.1%}")
        return found


def said(row):
    return "\n".join(filter(None, (row.get(part) for part in ("finding", "why", "try"))))


def precedence():
    """The words before a command that have other programs of the machine wait, if this may."""
    words = ("chrt", "--rr", "1")
    try:
        return words if subprocess.run([*words, "true"], check=False).returncode == 0 else ()
    except OSError:
        return ()


class Clinic:
    """Records, reads and measures the programs."""

    def __init__(self, varve, build, folder):
        self.varve, self.build, self.folder = varve, build, folder
        self.first, self.kept = precedence(), {}

    def command(self, program):
        if program.endswith(".py"):
            return [python_of("torch"), HERE / "programs" / program]
        built = self.build / "tests" / "programs" / program
        if not built.exists():
            pytest.skip(f"needs a compiler with what {program}.c asks for: tools/setup check")
        return [built]

    def table(self, trace, name, options=()):
        """Its rows, as dicts."""
        shown = subprocess.run([self.varve, "report", "--json", "--table", name, *options, trace],
                               capture_output=True, text=True, check=True).stdout
        table = json.loads(shown)["tables"][name]
        names = [column["name"] for column in table["columns"]]
        return [dict(zip(names, row)) for row in table["rows"]]

    def runs(self, command):
        """Does it run as it is printed?"""
        program, *words = shlex.split(command)
        done = subprocess.run([self.varve, *words], cwd=self.folder, capture_output=True,
                              check=False)
        return program == "varve" and done.returncode == 0

    def record(self, plant, way, attempt):
        """The trace of a run."""
        command = self.command(plant.program)
        folder = self.folder / f"{plant.id}-{way}-{attempt}"
        folder.mkdir()
        trace = folder / "run.varve"
        run_in(folder, *self.first, self.varve, "record", "-q", *plant.options, "-o", trace, "--",
               *command, plant.name, way)
        return trace

    def measure(self, plant):
        """The share of a step that mending saves."""
        done = run_in(self.folder, *self.first, *self.command(plant.program), "--measure",
                      plant.name)
        times = json.loads(done.stdout.splitlines()[-1])
        return 1 - times["mended_ns"] / times["planted_ns"]

    def steps(self, trace):
        """The numbers of the steps, and of those that are slow."""
        rows = [row for row in self.table(trace, "steps") if row["excess_ns"] is not None]
        return ({row["step"] for row in rows},
                {row["step"] for row in rows if row["duration_ns"] > SLOW * row["median_ns"]})

    def beside_slow_steps(self, trace):
        """The options that ask for the longest stretch of steps without a slow one."""
        numbers, slow = self.steps(trace)
        stretches = [[]]
        for number in sorted(numbers):
            if number in slow:
                stretches.append([])
            else:
                stretches[-1].append(number)
        longest = max(stretches, key=len)
        return ("--steps", f"{longest[0]}..{longest[-1]}") if len(longest) >= LEAST_STEPS else ()

    def step_ns(self, trace, options=()):
        """The mean."""
        step = self.table(trace, "step", options)[0]
        return step["total_ns"] / step["steps"] if step["steps"] else 0

    def saved(self, plant, planted, mended, options):
        if not plant.promises:
            return 0
        if plant.apart:
            return 1 - self.step_ns(mended) / self.step_ns(planted, options)
        return self.measure(plant)

    def is_of_a_slow_step(self, row, trace):
        """Does this finding speak of a step that is slow?"""
        named = re.match(r"Step (\d+)", row["finding"])
        return (row["rule"] in SLOW_STEPS and named is not None and
                int(named[1]) in self.steps(trace)[1])

    @staticmethod
    def speaks_of(plant, row):
        """Is this row of the twin the planted finding? Of what others may cause, only one of the
        same place."""
        return row["rule"] == plant.rule and (plant.rule not in BY_OTHERS or
                                              all(place in said(row) for place in plant.places))

    def examine(self, plant, attempt):
        planted, mended = (self.record(plant, way, attempt) for way in ("planted", "mended"))
        twin_rows, measured = self.table(mended, "advice"), {}

        def saved_of(options):
            key = options if plant.apart else ()
            if key not in measured:
                measured[key] = self.saved(plant, planted, mended, key)
            return measured[key]

        def of_steps(*options):
            rows, step_ns = self.table(planted, "advice", options), self.step_ns(planted, options)
            failing = [row["see"] for row in rows if not self.runs(row["see"])]
            is_aside = (plant.rule not in SLOW_STEPS and rows != [] and
                        self.is_of_a_slow_step(rows[0], planted))
            rows = [row for row in rows if not is_aside or row["rule"] not in SLOW_STEPS]
            first = rows[0] if rows else {}
            seen = Diagnosis(rules=[row["rule"] for row in rows],
                             twin_rules=[row["rule"] for row in twin_rows
                                         if self.speaks_of(plant, row)],
                             text=said(first),
                             promised=(first.get("saves_ns") or 0) / step_ns if step_ns else 0,
                             saved=saved_of(options), commands=failing)
            return seen, is_aside

        seen, is_aside = of_steps()
        options = self.beside_slow_steps(planted) if is_aside and seen.faults(plant) else ()
        return of_steps(*options)[0] if options else seen

    def diagnose(self, plant):
        """The first diagnosis without a fault, or the last one."""
        for attempt in range(ATTEMPTS):
            if plant.id in self.kept and not self.kept[plant.id].faults(plant):
                break
            self.kept[plant.id] = self.examine(plant, attempt)
        return self.kept[plant.id]


@pytest.fixture(scope="session", name="clinic")
def clinic_of_session(varve, build, tmp_path_factory):
    clinic = Clinic(varve, build, tmp_path_factory.mktemp("diagnosis"))
    yield clinic
    if "VARVE_DIAGNOSES" in os.environ:  # a file: what was seen, a line a plant
        with open(os.environ["VARVE_DIAGNOSES"], "a", encoding="utf-8") as file:
            for name, seen in sorted(clinic.kept.items()):
                file.write(json.dumps({"plant": name, **dataclasses.asdict(seen),
                                       "factor": seen.factor}) + "\n")
