# SPDX-License-Identifier: Apache-2.0
"""jax_modules.py — a transformer in JAX as StableHLO in each form, and XLA's profile of it.

    jax_modules.py FOLDER plain|scoped|scan|grad small|large

plain.mlir (and .generic.mlir, .mlirbc; portable.mlirbc is VHLO), plain.xplane.pb; tagged.mlir is
the same module as varve.mlir.jax_tags tagged it, tagged.xplane.pb its profile. bare.hlo and
tagged.hlo are what XLA made of both.
"""
import contextlib
import pathlib
import shutil
import sys

import jax
import jax.numpy as jnp
from jax import export

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "python"))

import varve.mlir  # noqa: E402

STEPS = 3
SIZES = {"small": (2, 64, 2, 100, 16), "large": (12, 384, 6, 2000, 64)}


def dense(x, parameters):
    weight, bias = parameters
    return x @ weight + bias


def norm(x, parameters):
    scale, shift = parameters
    x = x - x.mean(-1, keepdims=True)
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * scale + shift


def attention(x, block, heads):
    tokens, width = x.shape
    q, k, v = (y.reshape(tokens, heads, width // heads).swapaxes(0, 1)
               for y in jnp.split(dense(x, block["qkv"]), 3, -1))
    scores = jax.nn.softmax(q @ k.swapaxes(1, 2) * (width // heads) ** -0.5)
    return dense((scores @ v).swapaxes(0, 1).reshape(tokens, width), block["out"])


def layer(x, block, heads):
    x = x + attention(norm(x, block["ln1"]), block, heads)
    return x + dense(jax.nn.gelu(dense(norm(x, block["ln2"]), block["fc1"])), block["fc2"])


def network(parameters, words, heads, kind):
    """kind: "scan" takes the blocks as one with a leading axis."""
    x = parameters["embed"][words] + parameters["place"]
    if kind == "scan":
        x, _ = jax.lax.scan(lambda y, block: (layer(y, block, heads), None), x,
                            parameters["blocks"])
    else:
        for number, block in enumerate(parameters["blocks"]):
            scope = jax.named_scope(f"block{number}") if kind == "scoped" else (
                contextlib.nullcontext())
            with scope:
                x = layer(x, block, heads)
    return norm(x, parameters["norm"]) @ parameters["embed"].T


def parameters_of(layers, width, words, tokens, kind):
    keys = iter(jax.random.split(jax.random.key(0), 6 * layers + 2))

    def weight(*shape):
        return jax.random.normal(next(keys), shape) * 0.05

    def flat(into, out):
        return weight(into, out), jnp.zeros(out)

    def block():
        unit = jnp.ones(width), jnp.zeros(width)
        return {"ln1": unit, "ln2": unit, "qkv": flat(width, 3 * width), "out": flat(width, width),
                "fc1": flat(width, 4 * width), "fc2": flat(4 * width, width)}

    blocks = [block() for _ in range(layers)]
    if kind == "scan":
        blocks = jax.tree.map(lambda *parts: jnp.stack(parts), *blocks)
    return {"embed": weight(words, width), "place": weight(tokens, width), "blocks": blocks,
            "norm": (jnp.ones(width), jnp.zeros(width))}


def program_of(kind, size):
    layers, width, heads, words, tokens = SIZES[size]

    def forward(parameters, data):
        return network(parameters, data, heads, kind)

    def loss(parameters, data):
        scores = jax.nn.log_softmax(forward(parameters, data))
        return -jnp.take_along_axis(scores, data[:, None], 1).mean()

    program = jax.value_and_grad(loss) if kind == "grad" else forward
    return program, parameters_of(layers, width, words, tokens, kind), jnp.arange(tokens) % words


def profile(folder, name, call, arguments):
    jax.block_until_ready(call(*arguments))
    with jax.profiler.trace(folder / name):
        for number in range(STEPS):
            with jax.profiler.StepTraceAnnotation("step", step_num=number):
                jax.block_until_ready(call(*arguments))
    found, = (folder / name).rglob("*.xplane.pb")
    shutil.move(found, folder / f"{name}.xplane.pb")


def write_module(folder, lowered, program, arguments):
    module = lowered.compiler_ir().operation
    (folder / "plain.mlir").write_text(lowered.as_text(debug_info=True))
    (folder / "plain.generic.mlir").write_text(
        module.get_asm(enable_debug_info=True, print_generic_op_form=True))
    with open(folder / "plain.mlirbc", "wb") as out:
        module.write_bytecode(out)
    portable = export.export(jax.jit(program))(*arguments)
    (folder / "portable.mlirbc").write_bytes(portable.mlir_module_serialized)


def main():
    folder, kind, size = pathlib.Path(sys.argv[1]), *sys.argv[2:4]
    program, *arguments = program_of(kind, size)
    lowered = jax.jit(program).lower(*arguments)
    write_module(folder, lowered, program, arguments)
    bare = lowered.compile()
    (folder / "bare.hlo").write_text(bare.as_text())
    profile(folder, "plain", bare, arguments)
    jax.clear_caches()
    with varve.mlir.jax_tags(folder / "modules") as modules:
        tagged = jax.jit(program).lower(*arguments).compile()
    (folder / "tagged.hlo").write_text(tagged.as_text())
    profile(folder, "tagged", tagged, arguments)
    shutil.move(modules[-1], folder / "tagged.mlir")


if __name__ == "__main__":
    main()
