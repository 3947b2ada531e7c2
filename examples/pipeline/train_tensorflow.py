# SPDX-License-Identifier: Apache-2.0
"""Trains a small convolutional network in TensorFlow, and keeps what doc/pipeline.md works with:

    trace.pb        the profile of three steps, by TensorFlow's profiler and its three tracers
    model.mlir      the step that was trained, in MLIR's dialect tf, with the names of its nodes
"""
import os
import pathlib
import shutil

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf  # noqa: E402

STEPS = 3


class Net(tf.Module):
    def __init__(self):
        super().__init__()
        random = tf.random.Generator.from_seed(1)

        def weight(*shape):
            return tf.Variable(random.normal(shape) * 0.1)

        self.filters = [weight(5, 5, 1, 16), weight(5, 5, 16, 32)]
        self.shifts = [tf.Variable(tf.zeros(16)), tf.Variable(tf.zeros(32))]
        self.head = weight(7 * 7 * 32, 10)

    def __call__(self, images):
        x = images
        for number, (filters, shift) in enumerate(zip(self.filters, self.shifts)):
            with tf.name_scope(f"layer{number}"):
                x = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, filters, 1, "SAME"), shift))
                x = tf.nn.max_pool2d(x, 2, 2, "VALID")
        with tf.name_scope("head"):
            return tf.matmul(tf.reshape(x, (-1, 7 * 7 * 32)), self.head)


def main():
    net = Net()
    images = tf.random.stateless_normal((32, 28, 28, 1), (1, 2))
    labels = tf.range(32) % 10

    @tf.function
    def step(images, labels):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels,
                                                                                 net(images)))
        for variable, slope in zip(net.trainable_variables,
                                   tape.gradient(loss, net.trainable_variables)):
            variable.assign_sub(0.1 * slope)
        return loss

    print(f"loss {step(images, labels).numpy():.3f}")
    options = tf.profiler.experimental.ProfilerOptions(
        host_tracer_level=2, python_tracer_level=1, device_tracer_level=1)
    tf.profiler.experimental.start("log", options)
    for number in range(STEPS):
        with tf.profiler.experimental.Trace("step", step_num=number, _r=1):
            loss = step(images, labels).numpy()
    tf.profiler.experimental.stop()
    print(f"loss {loss:.3f}")
    trace, = pathlib.Path("log").rglob("*.xplane.pb")
    shutil.move(trace, "trace.pb")
    shutil.rmtree("log")

    program = step.get_concrete_function(images, labels)
    pathlib.Path("model.mlir").write_text(tf.mlir.experimental.convert_function(
        program, pass_pipeline="tf-standard-pipeline", show_debug_info=True))


if __name__ == "__main__":
    main()
