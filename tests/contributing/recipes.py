# SPDX-License-Identifier: Apache-2.0
"""One change of each kind that CONTRIBUTING.md has a recipe for: recipes/KIND/ holds the files that
are new, EDITS the lines that come into files that are there."""
import pathlib

FOLDER = pathlib.Path(__file__).resolve().parent / "recipes"

# What a recipe calls NAME.
NAMES = {"format": "tally", "table": "longest", "collector": "heartbeat", "verb": "count",
         "device": "NPU", "record": "beat"}

READ_BEAT = """/* How often it beat, among what the collectors said. */
static enum varve_code read_beat(struct vv_stream_reader *stream, const struct vv_record *record, struct varve_error *error)
{
    struct vv_process_reader *process = stream->process;
    struct vv_collector said = { .state = VV_COLLECTOR_NOTE };
    size_t count = process->collectors.count;
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)word(record, 0));
    VV_TRY(vv_model_text(process->model, "beat", &said.name, error));
    VV_TRY(vv_model_text(process->model, text, &said.text, error));
    if (count == 0 || process->collectors.items[count - 1].name != said.name)
        VV_PUSH(&process->collectors, said, error);
    return VARVE_OK;
}

"""
COUNT_ROW = """    { .name = "count", .group = "Look", .summary = "how many records a trace has", .operands = "TRACE",
      .description = "Prints how many records there are in the trace.", .takes = VV_TAKES(VV_TAKES_ALWAYS),
      .examples = EXAMPLES({ "varve count train.varve", "one number" }), .run = vv_cmd_count },
"""

# Of each kind, of each file: the text behind which something is put, and what; as often as need be.
EDITS = {
    "format": {
        "src/import/formats.h": [("    FORMAT(varve) \\\n", "    FORMAT(tally) \\\n")],
        "src/LAYERS": [("import/rocprof:    import/rows import/input model base/*\n",
                        "import/tally:      import/input model base\n")],
        "doc/formats.md": [("`src/import/graph/memory_plan.c`.\n",
                            "\n## Tallies\n\nThe first line is `TALLY 1`. Each other line, "
                            "`NAME BEGIN_NS END_NS`, is a slice of the one thread. "
                            "`src/import/tally/tally.c`.\n")],
        "README.md": [("PyTorch, JAX, TensorFlow, ONNX Runtime, Nsight, rocprof,", " tallies,")],
    },
    "table": {
        "src/question/tables.h": [("#define VV_TABLES(TABLE) \\\n",
                                   '    TABLE(longest, 0, false, "the slice that lasts longest") '
                                   '\\\n')],
        "doc/metrics.md": [("`trace`, `inputs`, ", "`longest`, ")],
    },
    "collector": {
        "src/settings/sources.h": [('calls of functions written in C too")',
                                    ' \\\n    COLLECTOR(heartbeat, false, NOTHING, NULL, "it is '
                                    'there")')],
        "src/LAYERS": [("collect/process:   settings base/system base\n",
                        "collect/heartbeat: collect/process record ctf\n")],
        "doc/collectors.md": [("| `builtins` | yes | of `python`: each call of a function written "
                               "in C |\n",
                               "| `heartbeat` | | that the process is there |\n")],
    },
    "verb": {
        "src/cli/verbs.c": [("vv_run_verb vv_cmd_record,", " vv_cmd_count,"),
                            ("      .run = vv_cmd_dump },\n", COUNT_ROW)],
        "README.md": [("| `varve steps` | one line a step |\n",
                       "| `varve count TRACE` | how many records it has |\n")],
        "tests/cli/test_verbs.py": [("Look:      ", "count  ")],
    },
    "device": {
        "include/varve/varve.h": [("#define VARVE_DEVICE_KIND_OTHER 3u\n",
                                   "#define VARVE_DEVICE_KIND_NPU 5u\n")],
        "src/base/device_kind.h": [('    KIND(OPENCL, "opencl", 4) \\\n',
                                    '    KIND(NPU, "npu", 30)      \\\n')],
    },
    "record": {
        "src/ctf/layout.h": [('u32 registers; u32 shared_bytes;")',
                              ' \\\n    EVENT(63, BEAT, "varve.beat", 2, "u64 count;")')],
        "src/record/process_clock.c": [("    (void)vv_process_stream_put(cost, 2);\n",
                                        "    const uint64_t beat[] = { VV_EVENT_BEAT, 7 };\n    "
                                        "(void)vv_process_stream_put(beat, 2);\n")],
        "src/import/varve/process/record.c": [("#include <endian.h>\n", "#include <stdio.h>\n"),
                                      ("/* ---- dispatch ---- */\n\n", READ_BEAT),
                                      ("    [VV_EVENT_END_UNDER] = read_end_under,\n",
                                       "    [VV_EVENT_BEAT] = read_beat,\n")],
        "doc/format.md": [("length is a multiple of 8, above 0, NUL-padded |\n",
                           "| 63 | `varve.beat` | u64 `count` | process | that the process is "
                           "there |\n")],
        "tools/varve_classes.py": [('"u32 argument_count; u32 subject; struct { u32 key; '
                                   'u32 length; utf8 text[length]; }"\n         '
                                   '" arguments[argument_count];"),\n',
                                   '    63: ("varve.beat", "process", "u64 count;"),\n')],
        "tests/support/trace_writer.py": [('utf8 text[length]; } arguments[argument_count];",\n',
                                           '    (63, "varve.beat"): "u64 count;",\n'),
                                          ("        self._note(15, at, struct.pack(\"<IIQ\", "
                                           "name, COLLECTOR_STATES.index(state), "
                                           "text))\n", "\n    def beat(self, count, at=0):\n      "
                                                       "  self._note(63, at, "
                                           "struct.pack(\"<Q\", count))\n")],
    },
}


def new_files(kind):
    """{path: text} of the files that a change of this kind adds."""
    return {str(path.relative_to(FOLDER / kind)): path.read_text()
            for path in sorted((FOLDER / kind).rglob("*")) if path.is_file()}


def apply(kind, root):
    """Makes the change in a copy of the tree; the files that it touched."""
    for name, text in new_files(kind).items():
        path = root / name
        assert not path.exists(), name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for name, edits in EDITS[kind].items():
        text = (root / name).read_text()
        for behind, what in edits:
            head, found, tail = text.partition(behind)
            assert found, f"{name} has no longer {behind!r}"
            text = head + found + what + tail
        (root / name).write_text(text)
    return sorted([*new_files(kind), *EDITS[kind]])
