# SPDX-License-Identifier: Apache-2.0
"""The waist: behind the model nobody knows a producer's word. The words are those of the importers'
own tables, so that a new one is forbidden elsewhere from the day on which an importer learns it."""
import re

from sources import ROOT

SRC = ROOT / "src"
# Where the words of producers stand, one table each.
TABLES = ["import/rows/vocabulary.c", "import/rows/producer_words.c", "import/rows/launch_words.c",
          "import/chrome/kineto_devices.c",
          "import/xspace/words.c", "import/xspace/plane.c", "import/nsys/rows.c",
          "import/nsys/names.c", "import/rpd/rows.c", "import/rpd/calls.c",
          "import/rocprof/names.c", "import/rocprof/records.c"]
BEHIND = ["analyse", "present", "export", "cli", "derive", "question", "numbers", "sheet",
          "meaning", "graph", "mlir/profile", "mlir/match", "mlir/tables"]
# Files whose subject the words are.
SPEAK = {
    "export/chrome": "writes Kineto's form",
    "export/pgle": "writes XLA's form, of XLA's own statistics",
    "analyse/critical/hta.c": "rules of HTA, by HTA's own list",
    "graph/build/mlirgraph.c": "rules of mlirgraph, which takes one plane by name",
    "meaning/hta_rules.c": "rules of HTA, by HTA's own list",
    "mlir/profile/words.c": "how producers name operations: traces and programs are joined by it",
    "meaning/host_role.c": "what ranges are called, which is data: no argument, no category",
    "meaning/platform.c": "what processes of devices are called, which is data",
    "meaning/device_class.c": "what kernels are called, which is data: no argument, no category",
}
# What an importer writes is also what a column, an option or a name of ours is called.
OURS = {"RUNTIME_L1"}
PLAIN = {"fwdbwd", "overhead"}  # words of theirs that no rule below finds
CONVERSION = re.compile(r"%[-+ #0-9.*]*[a-zA-Z\"]")
# Names of calls of a device's runtime: what they do is asked of meaning/.
CALLS = re.compile(
    r"(?<![A-Za-z])(?:cuda|hip|hsa_|nccl|rccl|acl)[A-Z]\w+|LaunchKernel|StreamSynchronize|EventRecord")
# … but a remedy names what a person is to call.
REMEDY = re.compile(r'\.remedy\w* = (?:"(?:[^"\\\n]|\\.)*"\s*)+')
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


def literals(path):
    text = re.sub(r"/\*.*?\*/|^#include.*?$", "", path.read_text(), flags=re.DOTALL | re.MULTILINE)
    return LITERAL.findall(REMEDY.sub("", text) if path.parent.name == "rules" else text)


def words():
    """Texts that are not plain words of English: those mean the same to everybody."""
    found = {word for table in TABLES for word in literals(SRC / table)}
    special = {word for word in found if len(word) > 3
               and re.search(r"[a-z][A-Z]|[A-Z].*[a-z] |_|[.:#/]|%", word)}
    return {word for word in special if not CONVERSION.search(word)
            and " of " not in word} - OURS | (found & PLAIN)


def files():
    for room in BEHIND:
        for path in sorted((SRC / room).rglob("*.[ch]")):
            if not any(str(path.relative_to(SRC)).startswith(where) for where in SPEAK):
                yield path


def test_the_tables_have_words():
    known = words()
    assert {"user_annotation", "fwdbwd", "wait_on_stream", "est. achieved occupancy %",
            "deviceProperties", "Concrete Inputs", "peak_teraflops_per_second", "memoryBandwidth",
            "product_name"} <= known
    assert len(known) > 150


def test_no_word_of_a_producer_behind_the_model():
    known = words()
    found = [f"{path.relative_to(ROOT)}: {literal!r}" for path in files()
             for literal in literals(path) if literal in known]
    assert not found, "\n".join(found)


def test_calls_are_known_by_name_in_meaning_alone():
    found = [f"{path.relative_to(ROOT)}: {literal!r}" for path in files()
             if "meaning" not in path.parts
             for literal in literals(path) if CALLS.search(literal)]
    assert not found, "\n".join(found)


def test_who_speaks_their_words_is_still_there():
    assert all((SRC / where).exists() for where in SPEAK)
