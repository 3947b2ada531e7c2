# SPDX-License-Identifier: Apache-2.0
"""The confusion table of doc/truth.md: rules and what is planted. VARVE_WRITE_PAGES=1 writes it.

Programs are counted from their lists: test_torch_*, test_c_planted refuse a plant that is not the
first finding, and a twin that has it. What simulated steps and real traces say is asked here."""
import collections
import os
import re
import subprocess

import pytest

import plants
import plants_of_c
from judged_traces import JUDGED, advice
from plants_of_gpus import GPU_PLANTS

BEGIN, END = "<!-- confusion: begin -->\n", "<!-- confusion: end -->\n"
HEAD = ("| rule | PyTorch programs | C programs | simulated steps | first | missed | speaks on its "
        "twins | speaks on twins of others | right on real traces | wrong there |\n" +
        "| --- |" + " --- |" * 9 + "\n")


def rules_of(varve):
    shown = subprocess.run([varve, "help", "rules"], capture_output=True, text=True, check=True)
    return re.findall(r"^  (\w+) ", shown.stdout, re.MULTILINE)


def of_programs(module):
    """Plants of each rule in the module's lists, each once."""
    found = {plant for value in vars(module).values() if isinstance(value, tuple)
             for plant in value if isinstance(plant, plants.Plant)}
    return collections.Counter(plant.rule for plant in found)


def test_no_two_plants_share_a_folder():
    """Their ids name the folders of their recordings."""
    found = [plant.id for module in (plants, plants_of_c) for name, value in vars(module).items()
             if isinstance(value, tuple) and name != "OF_C" for plant in value
             if isinstance(plant, plants.Plant)]
    gpus = [plant.name for plant in GPU_PLANTS]
    assert len(found) == len(set(found)) and len(gpus) == len(set(gpus))


def findings_of(varve, folder, plant, mended):
    made = plant.make(mended)
    paths = [run.write(folder / f"{number}.json")
             for number, run in enumerate(made if isinstance(made, list) else [made])]
    return [row["rule"] for row in advice(varve, *paths)]


def of_simulated(varve, folder):
    """Counters of rules: planted, missed, on own twins, on other twins."""
    planted, missed, own, others = (collections.Counter() for _ in range(4))
    for plant in GPU_PLANTS:
        planted[plant.rule] += 1
        missed[plant.rule] += findings_of(varve, folder, plant, 0)[:1] != [plant.rule]
        for rule in findings_of(varve, folder, plant, 1):
            (own if rule == plant.rule else others)[rule] += 1
    return planted, missed, own, others


def of_real(varve, traces):
    """Counters of rules: traces on which a person wants them and they speak, and those on which
    they speak though a person excludes them. Wanted rules that are silent are refused."""
    right, wrong = collections.Counter(), collections.Counter()
    for judged in JUDGED:
        rules = [row["rule"] for row in advice(varve, *sorted(traces.glob(judged.files)))]
        wanted = set(judged.also) | ({judged.rule} if judged.rule else set())
        assert wanted <= set(rules), judged.files
        excluded = set(judged.not_these) if judged.rule else set(rules)
        right.update(wanted)
        wrong.update(excluded & set(rules))
    return right, wrong


def rows_of(page):
    """{rule: [numbers]}"""
    table = page.split(BEGIN)[1].split(END)[0]
    return {cells[0].strip(" `"): [int(cell) for cell in cells[1:]]
            for cells in (line.strip("| \n").split(" | ") for line in table.splitlines()[2:])}


@pytest.fixture(scope="module", name="counted")
def fixture_counted(varve, traces, tmp_path_factory):
    """{rule: numbers of the table}"""
    planted, missed, own, others = of_simulated(varve, tmp_path_factory.mktemp("simulated"))
    right, wrong = of_real(varve, traces)
    torch, c = of_programs(plants), of_programs(plants_of_c)
    return {rule: [torch[rule], c[rule], planted[rule],
                   torch[rule] + c[rule] + planted[rule] - missed[rule], missed[rule], own[rule],
                   others[rule], right[rule], wrong[rule]] for rule in rules_of(varve)}


def test_the_page_has_what_is_counted(root, counted):
    page_path = root / "doc" / "truth.md"
    page = page_path.read_text(encoding="utf-8")
    if os.environ.get("VARVE_WRITE_PAGES") == "1":
        lines = "".join(f"| `{rule}` | " + " | ".join(map(str, numbers)) + " |\n"
                        for rule, numbers in sorted(counted.items()))
        page = page.split(BEGIN)[0] + BEGIN + HEAD + lines + END + page.split(END)[1]
        page_path.write_text(page, encoding="utf-8")
    for rule, numbers in rows_of(page).items():
        torch, c, simulated, first, *others = numbers
        assert [c, simulated, *others] == [*counted[rule][1:3], *counted[rule][4:]], rule
        # programs with PyTorch are many: the page may have fewer of them, but no more
        assert torch <= counted[rule][0] and first == torch + c + simulated, rule


def test_nothing_is_missed_and_no_twin_has_its_problem(counted):
    for rule, (*_, missed, own, _, _, wrong) in counted.items():
        assert (missed, own, wrong) == (0, 0, 0), rule
