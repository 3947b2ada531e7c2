# SPDX-License-Identifier: Apache-2.0
"""notebook_cells.py — a notebook's kernel executes cells, one after the other.

    notebook_cells.py FOLDER      reads cells.json: [text, …]; writes said.json: for each cell
                                  {"status", "text": what it printed, "shown": {mime: text}}
"""
import json
import pathlib
import sys

from jupyter_client.manager import KernelManager
from jupyter_client.kernelspec import KernelSpec

SECONDS = 120


def execute(client, cell):
    said = {"text": "", "shown": {}}

    def hear(message):
        content = message["content"]
        said["text"] += content.get("text", "") + "\n".join(content.get("traceback", ()))
        said["shown"].update(content.get("data", {}))
    reply = client.execute_interactive(cell, timeout=SECONDS, output_hook=hear)
    return {"status": reply["content"]["status"], **said}


def main():
    folder = pathlib.Path(sys.argv[1])
    manager = KernelManager()
    manager._kernel_spec = KernelSpec(  # no file of it has to be installed
        argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        language="python")
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=SECONDS)
        said = [execute(client, cell) for cell in json.loads((folder / "cells.json").read_text())]
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    (folder / "said.json").write_text(json.dumps(said))


if __name__ == "__main__":
    main()
