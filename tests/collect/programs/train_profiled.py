# SPDX-License-Identifier: Apache-2.0
"""train_profiled.py — two steps of a small conv net on random data, and what PyTorch's own profiler
saw of them.

    python train_profiled.py FILE        writes {"version", "tid", "events": [[name, shapes,
                                         sequence], …]}

Runs on PyTorch 1.13 and later. The events are those of the main thread from the range "window" on,
in the order in which they began.
"""
import json
import sys
import threading

import torch
from torch.profiler import profile, record_function


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.features = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4),
                                            torch.nn.ReLU())
        self.linear = torch.nn.Linear(4 * 6 * 6, 5)

    def forward(self, images):
        features = self.features(images)
        return self.linear(torch.cat([features.flatten(1)[:, :72], features.flatten(1)[:, 72:]],
                                     dim=1))


def train(model, optimizer, images, labels):
    for _ in range(2):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            model(images).argmax(dim=1)


def main():
    torch.manual_seed(7)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    images, labels = torch.randn(2, 3, 8, 8), torch.tensor([1, 2])
    train(model, optimizer, images, labels)
    with profile(record_shapes=True) as profiler:
        with record_function("window"):
            train(model, optimizer, images, labels)
    events = profiler.profiler.kineto_results.events()
    window = next(event for event in events if event.name() == "window")
    main_thread = [event for event in events if event.start_thread_id() == window.start_thread_id()
                   and not event.name().startswith(("[memory]", "cuda", "PyTorch Profiler"))]
    in_order = sorted(main_thread, key=lambda event: event.correlation_id())
    begun = [event for event in in_order if event.correlation_id() >= window.correlation_id()]
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump({"version": torch.__version__, "tid": threading.get_native_id(),
                   "events": [[event.name(), event.shapes(), event.sequence_nr()]
                              for event in begun]}, file)


if __name__ == "__main__":
    main()
