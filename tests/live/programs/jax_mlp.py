# SPDX-License-Identifier: Apache-2.0
"""jax_mlp.py — JAX profiles the training of a small network, and says what its own reader finds in
the profile.

    jax_mlp.py FOLDER       host.xplane.pb, trace.json.gz and numbers.json

The numbers are those of jax.profiler.ProfileData.
"""
import json
import pathlib
import shutil
import sys

import jax
import jax.numpy as jnp

STEPS = 3


def loss(parameters, data, target):
    hidden = data
    for weight, bias in parameters[:-1]:
        hidden = jax.nn.relu(hidden @ weight + bias)
    weight, bias = parameters[-1]
    return jnp.mean((hidden @ weight + bias - target) ** 2)


@jax.jit
def train_step(parameters, data, target):
    value, slopes = jax.value_and_grad(loss)(parameters, data, target)
    return value, jax.tree.map(lambda parameter, slope: parameter - 0.1 * slope, parameters, slopes)


def record(folder):
    keys = jax.random.split(jax.random.key(0), 5)
    sizes = [16, 32, 32, 4]
    parameters = [(jax.random.normal(key, (m, n)) / m, jnp.zeros(n))
                  for key, m, n in zip(keys, sizes, sizes[1:])]
    data, target = jax.random.normal(keys[3], (64, 16)), jax.random.normal(keys[4], (64, 4))
    train_step(parameters, data, target)[0].block_until_ready()
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 1
    with jax.profiler.trace(folder / "log", profiler_options=options):
        for number in range(STEPS):
            with jax.profiler.StepTraceAnnotation("train", step_num=number):
                value, parameters = train_step(parameters, data, target)
                value.block_until_ready()
    for pattern, name in (("*.xplane.pb", "host.xplane.pb"), ("*.trace.json.gz", "trace.json.gz")):
        found, = (folder / "log").rglob(pattern)
        shutil.move(found, folder / name)


def planes_of(path):
    return [{"name": plane.name, "stats": [[key, str(value)] for key, value in plane.stats],
             "lines": [{"name": line.name,
                        "events": [[event.name, event.start_ns, event.duration_ns, event.end_ns,
                                    [[key, str(value)] for key, value in event.stats]]
                                   for event in line.events]} for line in plane.lines]}
            for plane in jax.profiler.ProfileData.from_file(str(path)).planes]


def main():
    folder = pathlib.Path(sys.argv[1])
    record(folder)
    (folder / "numbers.json").write_text(json.dumps({
        "version": jax.__version__, "planes": planes_of(folder / "host.xplane.pb")}))


if __name__ == "__main__":
    main()
