# SPDX-License-Identifier: Apache-2.0
"""Trains a small network on PyTorch, and does what makes the same data known by several tensors:
views, writes in place, memory that is taken again."""
import torch

torch.manual_seed(0)
torch.set_num_threads(1)
network = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
optimizer = torch.optim.SGD(network.parameters(), lr=0.01)
samples, labels = torch.randn(8, 16), torch.randint(0, 4, (8,))
for _ in range(3):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(network(samples), labels)
    loss.backward()
    optimizer.step()

with torch.no_grad(), torch.profiler.record_function("by hand"):
    product = torch.mm(samples, samples.t())
    view = product.view(-1)[3:9]
    view.mul_(2.0)
    total = torch.sigmoid(product)
    first, second = torch.cat([total, total]).chunk(2)
    torch.tanh(second)
    torch._foreach_exp_([first, second])
    torch.cos(first)
    for _ in range(3):  # in the memory of the one before
        torch.sin(torch.neg(samples))
