# SPDX-License-Identifier: Apache-2.0
"""tf_python.py — TensorFlow profiles Python alone: host level 0, Python level 1, device level 0.

    tf_python.py FOLDER       host.xplane.pb, and calls.json: how often each function was called
"""
import collections
import json
import os
import pathlib
import shutil
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf  # noqa: E402  pylint: disable=wrong-import-position

CALLS = collections.Counter()


class Level:
    """A level that TensorFlow 2.21 obeys: it ignores every int ("expects an i value")."""
    def __init__(self, number):
        self.number = number

    def __index__(self):
        return self.number


def leaf(data):
    CALLS["leaf"] += 1
    return data + 1.0


def middle(data):
    CALLS["middle"] += 1
    return leaf(leaf(data))


def lonely(data):
    CALLS["lonely"] += 1
    return data


def step(data):
    CALLS["step"] += 1
    return lonely(middle(middle(data)))


def main():
    folder = pathlib.Path(sys.argv[1])
    data = tf.zeros((4, 4))
    options = tf.profiler.experimental.ProfilerOptions(
        host_tracer_level=Level(0), python_tracer_level=Level(1), device_tracer_level=Level(0))
    tf.profiler.experimental.start(str(folder / "log"), options)
    for _ in range(3):
        step(data)
    tf.profiler.experimental.stop()
    for found in (folder / "log").rglob("*.xplane.pb"):
        shutil.move(found, folder / "host.xplane.pb")
    (folder / "calls.json").write_text(json.dumps(CALLS))


if __name__ == "__main__":
    main()
