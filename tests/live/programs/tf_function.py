# SPDX-License-Identifier: Apache-2.0
"""tf_function.py — TensorFlow profiles a function of a few matrix products, and counts what it ran.

    tf_function.py FOLDER       host.xplane.pb, trace.json.gz if it writes one, and numbers.json

The numbers are the events that TensorFlow's own protobuf classes find in the profile.
"""
import json
import os
import pathlib
import shutil
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf  # noqa: E402  pylint: disable=wrong-import-position
from tensorflow.tsl.profiler.protobuf import xplane_pb2  # noqa: E402  pylint: disable=wrong-import-position

STEPS = 3


class Model(tf.Module):
    def __init__(self):
        super().__init__()
        self.weights = [tf.Variable(tf.random.normal(shape, seed=1))
                        for shape in ((16, 32), (32, 4))]

    @tf.function
    def train(self, data, target):
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(tf.matmul(data, self.weights[0], name="first"))
            loss = tf.reduce_mean(tf.square(tf.matmul(hidden, self.weights[1],
                                                      name="second") - target))
        for weight, slope in zip(self.weights, tape.gradient(loss, self.weights)):
            weight.assign_sub(0.1 * slope)
        return loss


def record(folder):
    model = Model()
    data, target = tf.random.normal((64, 16), seed=2), tf.random.normal((64, 4), seed=3)
    model.train(data, target)
    options = tf.profiler.experimental.ProfilerOptions(host_tracer_level=3, python_tracer_level=1)
    tf.profiler.experimental.start(str(folder / "log"), options)
    for number in range(STEPS):
        with tf.profiler.experimental.Trace("train", step_num=number, _r=1):
            model.train(data, target).numpy()
    tf.profiler.experimental.stop()
    for pattern, name in (("*.xplane.pb", "host.xplane.pb"), ("*.trace.json.gz", "trace.json.gz")):
        for found in (folder / "log").rglob(pattern):
            shutil.move(found, folder / name)


def value_of(stat, names):
    kind = stat.WhichOneof("value")
    value = getattr(stat, kind)
    if kind == "ref_value":
        return names[value].name
    return f"{len(value)} bytes" if kind == "bytes_value" else value


def planes_of(path):
    space = xplane_pb2.XSpace.FromString(path.read_bytes())
    for plane in space.planes:
        keys, kinds = plane.stat_metadata, plane.event_metadata
        stats = lambda owner: [[keys[stat.metadata_id].name, value_of(stat, keys)]  # noqa: E731
                               for stat in owner.stats]
        yield {"name": plane.name, "stats": stats(plane), "lines": [
            {"name": line.display_name or line.name, "id": line.id, "begin_ns": line.timestamp_ns,
             "events": [
                [kinds[event.metadata_id].name, kinds[event.metadata_id].display_name,
                 event.offset_ps, event.duration_ps, stats(kinds[event.metadata_id]) + stats(event)]
                 for event in line.events]}
            for line in plane.lines]}


def main():
    folder = pathlib.Path(sys.argv[1])
    record(folder)
    (folder / "numbers.json").write_text(json.dumps({
        "version": tf.__version__, "planes": list(planes_of(folder / "host.xplane.pb"))}))


if __name__ == "__main__":
    main()
