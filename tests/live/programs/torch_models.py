# SPDX-License-Identifier: Apache-2.0
"""torch_models.py — PyTorch profiles two models, and says what its own tables have.

    torch_models.py FOLDER      NAME.json, a trace, and NAME.numbers.json for each NAME in RUNS

The numbers are PyTorch's own: the rows of key_averages() in its groupings, and every event of
kineto_results.
"""
import json
import pathlib
import sys

import torch
from torch import nn
from torch._C._profiler import _ExperimentalConfig
from torch.profiler import ProfilerActivity, profile, record_function, schedule


def conv_net():
    net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(),
                        nn.MaxPool2d(2), nn.Conv2d(8, 8, 3), nn.ReLU(), nn.Flatten(),
                        nn.Linear(8 * 14 * 14, 10))
    return net, torch.randn(4, 3, 32, 32), nn.CrossEntropyLoss(), torch.randint(0, 10, (4,))


def transformer():
    layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.1, batch_first=True)
    return nn.TransformerEncoder(layer, 2), torch.randn(2, 12,
                                                        32), nn.MSELoss(), torch.randn(2, 12, 32)


def train(parts, profiler, steps):
    net, data, loss_of, target = parts
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for _ in range(steps):
        optimizer.zero_grad()
        with record_function("forward pass"):
            loss = loss_of(net(data), target)
        loss.backward()
        optimizer.step()
        if profiler is not None:
            profiler.step()


# name: (model, steps or None without a schedule, options of profile)
RUNS = {
    "conv_plain": (conv_net, None, {}),
    "conv_steps": (conv_net, 4, {"record_shapes": True}),
    "transformer_all": (transformer, 3, {
        "record_shapes": True, "profile_memory": True, "with_stack": True, "with_flops": True,
        "experimental_config": _ExperimentalConfig(verbose=True)}),
    "transformer_memory": (transformer, None, {"profile_memory": True}),
}

ROW = ("key", "count", "cpu_time_total", "self_cpu_time_total", "cpu_memory_usage",
       "self_cpu_memory_usage", "input_shapes", "stack", "is_user_annotation")
KINETO = ("name", "start_ns", "duration_ns", "start_thread_id", "fwd_thread_id", "sequence_nr",
          "correlation_id", "nbytes", "scope", "structured_input_shapes", "dtypes", "stack",
          "is_async", "is_python_function")


def rows_of(averages):
    return [{name: getattr(row, name) for name in ROW} for row in averages]


def numbers_of(profiler):
    return {
        "version": torch.__version__,
        "by_name": rows_of(profiler.key_averages()),
        "by_shape": rows_of(profiler.key_averages(group_by_input_shape=True)),
        "by_stack": rows_of(profiler.key_averages(group_by_stack_n=5)),
        "events": [{name: getattr(event, name)() for name in KINETO}
                   for event in profiler.profiler.kineto_results.events()],
    }


def main():
    folder = pathlib.Path(sys.argv[1])
    torch.manual_seed(1)
    torch.set_num_threads(1)
    for name, (model, steps, options) in RUNS.items():
        parts = model()
        train(parts, None, 1)
        plan = schedule(wait=0, warmup=1, active=steps - 1, repeat=1) if steps else None
        with profile(activities=[ProfilerActivity.CPU], schedule=plan, **options) as profiler:
            train(parts, profiler if steps else None, steps or 2)
        profiler.export_chrome_trace(str(folder / f"{name}.json"))
        (folder / f"{name}.numbers.json").write_text(json.dumps(numbers_of(profiler)))


if __name__ == "__main__":
    main()
