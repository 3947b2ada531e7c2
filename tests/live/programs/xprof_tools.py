# SPDX-License-Identifier: Apache-2.0
"""xprof_tools.py — what xprof's converters make of a profile.

    xprof_tools.py FOLDER PROFILE       tools.json: {tool: its answer}
"""
import json
import pathlib
import shutil
import sys

from xprof.convert.raw_to_tool_data import xspace_to_tool_data

TOOLS = ("trace_viewer", "overview_page", "framework_op_stats")


def main():
    folder = pathlib.Path(sys.argv[1])
    copy = folder / "host.xplane.pb"  # xprof writes beside what it reads
    shutil.copy(sys.argv[2], copy)
    answers = {tool: json.loads(xspace_to_tool_data([str(copy)], tool, {})[0]) for tool in TOOLS}
    (folder / "tools.json").write_text(json.dumps(answers))


if __name__ == "__main__":
    main()
