# SPDX-License-Identifier: Apache-2.0
"""Analyses take their memory from a scratch, and end in one place.

src/base/scratch.h is where the memory comes from, src/question/question.c where a table ends.
"""
import re

from sources import ROOT, c_functions, code

ROOMS = ("analyse", "derive", "meaning")
ALLOCATING = re.compile(
    r"\b(?:malloc|calloc|realloc|reallocarray|free|strn?dup|v?asprintf|vv_array_reserve)\s*\(")
ENDING = re.compile(r"\b(\w*_deinit)\s*\(")
# What may be ended by hand, and how often: the scratch of a part's own, sheets that are no table's
# result, and the list of repeats, which each level of a recursion makes and no later one needs.
ENDED = {"vv_scratch_deinit": 19, "vv_sheet_deinit": 3, "vv_repeats_deinit": 1}
OWN = re.compile(r"struct vv_scratch (?:\*\w+ = [^,;]*, )?(\w+) = \{ 0 \};")


def sources():
    for path in code(".c", ".h"):
        relative = path.relative_to(ROOT)
        if relative.parts[0] == "src" and relative.parts[1] in ROOMS:
            yield relative, path.read_text()


def test_analyses_allocate_from_a_scratch_alone():
    found = [f"{path}: {match[0]}" for path, text in sources()
             for match in ALLOCATING.finditer(text)]
    assert not found, "take memory from the scratch (VV_SCRATCH_ARRAY), which ends with the table"


def test_analyses_end_nothing_but_a_scratch_of_their_own():
    counts = {}
    for _, text in sources():
        for name in ENDING.findall(text):
            counts[name] = counts.get(name, 0) + 1
    assert not set(counts) - set(ENDED)
    assert all(counts[name] <= ENDED[name] for name in counts), counts


def test_who_has_a_scratch_of_its_own_ends_it():
    for path, text in sources():
        lines = text.splitlines()
        for function in c_functions(text):
            first = function.first_line - 1
            body = "\n".join(lines[first:first + function.lines])
            for name in OWN.findall(body):
                is_ended = f"vv_scratch_deinit(&{name})" in body or "vv_analyse_end(" in body
                assert is_ended, (path, function.name, name)


def test_tables_are_made_by_vv_analyse_alone():
    """Their functions are named where they are defined and listed; nobody calls one."""
    names = r"analyse_(?!end\b)\w+|diff_(?:step|operators|kernels|tree)"
    call = re.compile(rf"(?<!enum varve_code )\bvv_(?:{names})\((?!\w*\))")
    found = [f"{path.relative_to(ROOT)}: {match[0]}" for path in code(".c", ".h")
             for match in call.finditer(path.read_text())]
    assert not found, "vv_analyse(vv_analyse_NAME, …) ends the table's scratch and a failed sheet"
