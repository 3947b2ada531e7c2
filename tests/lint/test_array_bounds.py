# SPDX-License-Identifier: Apache-2.0
"""Arrays of a fixed size, in what reads files, are indexed by what is bounded where it stands: a
constant, a remainder or mask, a loop's or an earlier comparison with the index in the ten lines
before. Each other one stands below with the reason why it holds."""
import re

import pytest
import sources

FOLDERS = ("src/import/", "src/ctf/", "src/cache/", "src/settings/")
DECLARED = re.compile(r"^[ \t]*(?:static |const |volatile )*(?:struct \w+|enum \w+|union "
                      r"\w+|\w+)\s+[*\w, ]*?\*?(?:const )?(\w+)\[[^\]\n]*\]", re.M)
CONSTANT = re.compile(r"\d+u?|[A-Z][A-Z0-9_]*|.* [%&] [^|+]+|.*>> \(?\d+.*")
BOUND_WITHIN = 10

# (file, array): why the index is inside.
GROWS = "of the same name as a fixed array, but grows with what is read"
HOLDS = {
    ("src/ctf/pack/block.c", "least"): "context_of gives VV_PACK_CONTEXT_BITS bits",
    ("src/ctf/pack/block.c", "starts"): "context_of gives VV_PACK_CONTEXT_BITS bits",
    ("src/settings/schedule.c", "words"): "ends at its NULL",
    ("src/settings/sources.c", "names"): "has a place for each source and three words more",
    ("src/ctf/snapshot/process.c", "digits"): "a uint64_t has 20 at most",
    ("src/cache/read.c", "last"): "has a place for each uint8_t",
    ("src/import/chrome/async.c", "asyncs"): GROWS,
    ("src/import/chrome/flows.c", "pieces"): "a thread gets numbers below piece_count",
    ("src/import/chrome/merge.c", "bases"): "our own table of columns",
    ("src/import/chrome/pairs.c", "halves"): GROWS,
    ("src/import/chrome/reader.c", "known_classes"): "the first one",
    ("src/import/chrome/text.c",
     "braces"): "follow_bracket compares the depth with both ends first",
    ("src/import/graph/graphml.c",
     "around"): "a node in nodes is an element, of which VV_XML_DEPTH_MAX are open",
    ("src/import/graph/reading.c", "hints"): "our own enum",
    ("src/import/graph/resolve.c", "order"): "has a place for each edge",
    ("src/import/graph/to_model.c", "layers"): "vv_dag_member_set takes words of the enum alone",
    ("src/import/graph/mlir.c", "text"): GROWS,
    ("src/import/graph/mlir.c", "types"): "the count that filled it, and more than 0",
    ("src/import/graph/mlir.c", "name"): "a column of the graph",
    ("src/import/graph/memory_plan.c", "column"): "our own enum",
    ("src/import/graph/memory_plan.c", "is_kb"): "our own enum",
    ("src/import/graph/memory_plan.c", "what"): "our own enum",
    ("src/import/graph/memory_plan.c", "word"): "the loop compares length + 1 with its size",
    ("src/import/iree/statistics.c", "name"): "a column of the model",
    ("src/import/nsys/events.c", "device"): GROWS,
    ("src/import/nsys/events.c", "name"): "the end of a word of our own",
    ("src/import/nsys/names.c", "name"): GROWS,
    ("src/import/importer.c", "out_paths"): "has a place for each path",
    ("src/import/parts.c", "parts"): GROWS,
    ("src/import/perfetto/perfetto.c", "key"): GROWS,
    ("src/import/perfetto/join.c", "layers"): "ends at its empty prefix",
    ("src/import/rows/launch_words.c", "grid"): "role is compared with both ends of its three",
    ("src/import/rows/launch_words.c",
     "work_items"): "role is compared with both ends of its three",
    ("src/import/rpd/monitor.c", "name"): GROWS,
    ("src/import/rpd/places.c", "name"): GROWS,
    ("src/import/rpd/work.c", "categories"): "find_kind gives a kind that has one",
    ("src/import/rocprof/rocprof.c", "name"): GROWS,
    ("src/import/rocprof/names.c", "key"): "a column of the model",
    ("src/import/rocprof/names.c", "name"): "a column of the model",
    ("src/import/rocprof/names.c", "names"): "counts down from their number",
    ("src/import/rocprof/records.c", "path"): "length is compared with its size",
    ("src/import/rocprof/records.c", "values"): "our own enum",
    ("src/import/varve/process/pairs.c", "ends"): GROWS,
    ("src/import/varve/process/process.c", "key"): GROWS,
    ("src/import/varve/process/ranges.c",
     "open"): "vv_ranges_decode ends the run before more than VV_RUN_DEPTH ranges are open",
    ("src/import/varve/process/ranges.c",
     "ended"): "vv_ranges_decode compares ended_count with VV_RUN_DEPTH before leave_level",
    ("src/import/varve/process/record.c", "actions"): "actions are given out by classes.c alone",
    ("src/import/varve/process/parallel.c",
     "spans"): "numbers of work that vv_workers_run was given",
    ("src/import/varve/records/values.c", "more"): "rows of vv_order_rows, which was given count",
    ("src/import/xspace/append.c", "moves"): "columns of the model's tables, fewer than MOVES_MAX",
    ("src/import/xspace/event.c", "name"): GROWS,
    ("src/import/xspace/flow.c", "categories"): "a bool",
    ("src/import/xspace/flow.c", "category"): "a bool",
    ("src/import/xspace/json.c", "bytes"): GROWS,
}


def arrays(text):
    return {name for name in DECLARED.findall(text)} - {"argv"}


def is_bounded(index, lines, at):
    if CONSTANT.fullmatch(index):
        return True
    core = re.escape(re.sub(r"\+\+|--|^\w+->\w+ - |^\(\w+\)", "", index).strip("()& "))
    bound = re.compile(rf"{core}\)?\s*(?:<|>|==|!=|>=|<=|%|&)|(?:<|>|==)\s*{core}|{core}-- >")
    return any(bound.search(line) for line in lines[max(0, at - BOUND_WITHIN):at + 1])


def uses(text, names):
    lines = re.sub(r"/\*.*?\*/", lambda comment: "\n" * comment[0].count("\n"), text,
                   flags=re.DOTALL).split("\n")
    for at, line in enumerate(lines):
        for match in re.finditer(r"\b(\w+)\[((?:[^\[\]]|\[[^\]]*\])+)\]", line):
            name, index = match[1], match[2].strip()
            declares = re.match(r"\s*(?:static |const |struct |enum |u?int\w* |char |bool "
                                r"|unsigned |double |size_t |FILE )", line)
            if name in names and not (declares
                                      and "=" not in line[:match.start()]) and not is_bounded(
                                          index, lines, at):
                yield name, index, at + 1


def found():
    files = {str(path.relative_to(sources.ROOT)): sources.text_of(path)
             for path in sources.tracked()
             if path.suffix in (".c", ".h")
             and str(path.relative_to(sources.ROOT)).startswith(FOLDERS)}
    for name, text in files.items():
        own = files.get(name[:-1] + "h", "")
        for array, index, line in uses(text, arrays(text) | arrays(own)):
            yield name, array, index, line


@pytest.mark.parametrize("code, expected", [
    ("uint32_t a[4];\na[n] = 1;", 1), ("uint32_t a[4];\na[3] = 1;", 0),
    ("uint32_t a[4];\nif (n < 4)\n    a[n] = 1;", 0), ("uint32_t a[4];\na[n % 4] = 1;", 0),
    ("static const char *const t[] = { 0 };\nreturn t[kind];", 1)])
def test_a_fault_is_told(code, expected):
    assert len(list(uses(code, arrays(code)))) == expected


def test_each_index_is_bounded_where_it_stands():
    unknown = [f"{name}:{line}: {array}[{index}]" for name, array, index, line in found()
               if (name, array) not in HOLDS]
    assert not unknown, "\n".join(unknown)


def test_no_reason_is_left_over():
    assert set(HOLDS) == {(name, array) for name, array, _, _ in found()} & set(HOLDS)
