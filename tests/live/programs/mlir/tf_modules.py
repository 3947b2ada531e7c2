# SPDX-License-Identifier: Apache-2.0
"""tf_modules.py — a TensorFlow program as MLIR in each form, and its profile by tracer level.

    tf_modules.py FOLDER gpt|resnet small|large

executor.mlir (tf_executor), standard.mlir (tf-standard-pipeline, .generic by its own text),
frozen.mlir, saved_model.mlir, stablehlo.mlir, optimized.hlo; executor.mlirbc is bytecode.
levelN.xplane.pb is the profile with host_tracer_level=N, jit.xplane.pb that of jit_compile=True.
"""
import os
import pathlib
import shutil
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf  # noqa: E402  pylint: disable=wrong-import-position
from tensorflow.python.framework import convert_to_constants  # noqa: E402  pylint: disable=wrong-import-position

STEPS = 3
GPT = {"small": (2, 64, 2, 100, 16), "large": (12, 384, 6, 2000, 64)}


class Gpt(tf.Module):
    def __init__(self, layers, width, heads, words, tokens):
        super().__init__()
        random = tf.random.Generator.from_seed(1)

        def weight(*shape):
            return tf.Variable(random.normal(shape) * 0.05)

        self.heads, self.tokens, self.width = heads, tokens, width
        self.embed, self.place = weight(words, width), weight(tokens, width)
        # All biases differ, as after training: of equal ones a frozen module has one.
        self.blocks = [{name: (weight(into, out), weight(out))
                        for name, into, out in (("qkv", width, 3 * width), ("out", width, width),
                                                ("fc1", width, 4 * width),
                                                ("fc2", 4 * width, width))}
                       for _ in range(layers)]

    @staticmethod
    def norm(x):
        x = x - tf.reduce_mean(x, -1, keepdims=True)
        return x * tf.math.rsqrt(tf.reduce_mean(x * x, -1, keepdims=True) + 1e-5)

    @staticmethod
    def dense(x, parameters, name):
        weight, bias = parameters
        with tf.name_scope(name):
            return tf.nn.bias_add(tf.matmul(x, weight), bias)

    def attention(self, x, block):
        q, k, v = (tf.transpose(tf.reshape(y, (self.tokens, self.heads, -1)), (1, 0, 2))
                   for y in tf.split(self.dense(x, block["qkv"], "qkv"), 3, -1))
        scores = tf.nn.softmax(tf.matmul(q, k, transpose_b=True)
                               * (self.width // self.heads) ** -0.5)
        mixed = tf.reshape(tf.transpose(tf.matmul(scores, v), (1, 0, 2)), (self.tokens, self.width))
        return self.dense(mixed, block["out"], "out")

    def __call__(self, words):
        x = tf.gather(self.embed, words) + self.place
        for number, block in enumerate(self.blocks):
            with tf.name_scope(f"block{number}"):
                with tf.name_scope("attn"):
                    x = x + self.attention(self.norm(x), block)
                with tf.name_scope("mlp"):
                    hidden = tf.nn.gelu(self.dense(self.norm(x), block["fc1"], "fc1"))
                    x = x + self.dense(hidden, block["fc2"], "fc2")
        return tf.matmul(self.norm(x), self.embed, transpose_b=True)


class Resnet(tf.Module):
    """Keras' ResNet-50, or a smaller one of the same layers."""

    def __init__(self, size):
        super().__init__()
        self.size = 96 if size == "large" else 32
        if size == "large":
            self.net = tf.keras.applications.ResNet50(weights=None, input_shape=(96, 96, 3))
        else:
            self.net = self.small_net()
        self.tell_norms_apart()

    @staticmethod
    def small_net():
        layers = tf.keras.layers
        data = tf.keras.Input((32, 32, 3))
        x = layers.Conv2D(8, 3, name="stem")(layers.ZeroPadding2D(name="pad")(data))
        for number, width in enumerate((8, 8, 16)):
            short = layers.Conv2D(width, 1, name=f"short{number}")(x)
            x = layers.Conv2D(width, 3, padding="same", name=f"conv{number}a")(x)
            x = layers.BatchNormalization(name=f"norm{number}")(x)
            x = layers.Conv2D(width, 3, padding="same", name=f"conv{number}b")(layers.ReLU()(x))
            x = layers.ReLU(name=f"relu{number}")(layers.Add()([x, short]))
        x = layers.GlobalAveragePooling2D()(x)
        return tf.keras.Model(data, layers.Dense(10, name="head")(x))

    def tell_norms_apart(self):
        """As training does. Where all norms of a width are equal, a frozen module has one."""
        random = tf.random.Generator.from_seed(2)
        for weight in self.net.weights:
            if len(weight.shape) == 1:
                weight.assign(random.uniform(weight.shape, 0.9, 1.1))

    def __call__(self, data):
        return self.net(data, training=False)


def net_of(name, size):
    if name == "gpt":
        net = Gpt(*GPT[size])
        return net, tf.range(net.tokens) % 100
    net = Resnet(size)
    return net, tf.random.stateless_normal((1, net.size, net.size, 3), (1, 2))


def profile(folder, name, level, call, data):
    call(data)
    options = tf.profiler.experimental.ProfilerOptions(host_tracer_level=level,
                                                       python_tracer_level=0)
    tf.profiler.experimental.start(str(folder / name), options)
    for number in range(STEPS):
        with tf.profiler.experimental.Trace("step", step_num=number, _r=1):
            call(data).numpy()
    tf.profiler.experimental.stop()
    found, = (folder / name).rglob("*.xplane.pb")
    shutil.move(found, folder / f"{name}.xplane.pb")


def write_modules(folder, net, call, data):
    mlir = tf.mlir.experimental
    concrete = call.get_concrete_function(data)
    frozen = convert_to_constants.convert_variables_to_constants_v2(concrete)
    saved = str(folder / "saved")
    tf.saved_model.save(net, saved, signatures=concrete)
    texts = {"executor": mlir.convert_function(concrete, pass_pipeline="", show_debug_info=True),
             "standard": mlir.convert_function(concrete, pass_pipeline="tf-standard-pipeline",
                                               show_debug_info=True),
             "frozen": mlir.convert_function(frozen, pass_pipeline="tf-standard-pipeline",
                                             show_debug_info=True),
             "saved_model": mlir.convert_saved_model(saved, "", show_debug_info=True)}
    for name, text in texts.items():
        (folder / f"{name}.mlir").write_text(text)
        mlir.write_bytecode(str(folder / f"{name}.mlirbc"), text)


def main():
    folder, name, size = pathlib.Path(sys.argv[1]), *sys.argv[2:4]
    tf.config.threading.set_intra_op_parallelism_threads(1)
    net, data = net_of(name, size)
    call = tf.function(net.__call__)
    for level in (1, 2, 3):
        profile(folder, f"level{level}", level, call, data)
    write_modules(folder, net, call, data)
    compiled = tf.function(net.__call__, jit_compile=True)
    profile(folder, "jit", 3, compiled, data)
    text_of = compiled.experimental_get_compiler_ir(data)
    (folder / "stablehlo.mlir").write_text(text_of(stage="stablehlo"))
    (folder / "optimized.hlo").write_text(text_of(stage="optimized_hlo"))


if __name__ == "__main__":
    main()
