# SPDX-License-Identifier: Apache-2.0
"""torch_loops.py — loops that people write, in small, while torch.profiler watches.

    torch_loops.py FOLDER LOOP      NAME.json, its trace; no loop says where a step begins

lbfgs and closure hand the optimizer a closure, as Lightning does; gan has two optimizers in each
iteration, and dcgan has the layers and the order of calls of pytorch/examples' program of that
name; accumulate updates once for several batches and evaluates after each epoch, as trainers do;
manual has no optimizer and updates its parameters itself; infer has no backward pass; dry has one
step alone; leak keeps all outputs to its end. threads runs manual on three threads, loaders an
evaluation on three, and beside runs manual on one thread while another infers: these are not seen
by torch.profiler.
"""
import pathlib
import sys
import threading

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile
from torch.utils.data import DataLoader, TensorDataset

STEPS = 6
EPOCHS, BATCHES = 2, 4  # of accumulate; batches to an update


def net(*sizes):
    layers = []
    for wide, narrow in zip(sizes, sizes[1:]):
        layers += [nn.Linear(wide, narrow), nn.Tanh()]
    return nn.Sequential(*layers[:-1])


def batches(size, count):
    return DataLoader(TensorDataset(torch.randn(count * 16, size)), batch_size=16)


def lbfgs():
    model, data = net(20, 64, 1), torch.randn(256, 20)
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=4)

    def closure():
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(data), data.sum(1, keepdim=True))
        loss.backward()
        return loss

    for _ in range(STEPS):
        optimizer.step(closure)


def closure_loop():
    model, loader = net(20, 64, 20), batches(20, STEPS)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for batch, in loader:

        def closure(batch=batch):
            loss = model(batch).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            return loss

        optimizer.step(closure)
    with torch.no_grad():
        for batch, in batches(20, 3):
            model(batch).mean()


def gan():
    makes, judges = net(8, 48, 20), net(20, 32, 1)
    optimizers = [torch.optim.Adam(part.parameters(), lr=1e-3) for part in (judges, makes)]
    score = nn.functional.binary_cross_entropy_with_logits
    for batch, in batches(20, STEPS):
        noise = torch.randn(len(batch), 8)
        ones, zeros = torch.ones(len(batch), 1), torch.zeros(len(batch), 1)
        optimizers[0].zero_grad()
        loss = score(judges(batch), ones) + score(judges(makes(noise).detach()), zeros)
        loss.backward()
        optimizers[0].step()
        optimizers[1].zero_grad()
        score(judges(makes(noise)), ones).backward()
        optimizers[1].step()


def dcgan():
    makes = nn.Sequential(
        nn.ConvTranspose2d(8, 16, 4, 1, 0, bias=False), nn.BatchNorm2d(16), nn.ReLU(True),
        nn.ConvTranspose2d(16, 3, 4, 2, 1, bias=False), nn.Tanh())
    judges = nn.Sequential(
        nn.Conv2d(3, 8, 4, 2, 1, bias=False), nn.LeakyReLU(0.2, inplace=True),
        nn.Conv2d(8, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.LeakyReLU(0.2, inplace=True),
        nn.Conv2d(16, 1, 4, 1, 0, bias=False), nn.Sigmoid())
    score, fixed_noise = nn.BCELoss(), torch.randn(8, 8, 1, 1)
    of_judge, of_maker = (torch.optim.Adam(part.parameters(), lr=2e-4, betas=(0.5, 0.999))
                          for part in (judges, makes))
    data = DataLoader(TensorDataset(torch.randn(STEPS * 8, 3, 8, 8)), batch_size=8, shuffle=True)
    for number, (real,) in enumerate(data):
        judges.zero_grad()
        label = torch.full((len(real),), 1.0)
        loss = score(judges(real).view(-1), label)
        loss.backward()
        fake = makes(torch.randn(len(real), 8, 1, 1))
        label.fill_(0.0)
        loss_of_fake = score(judges(fake.detach()).view(-1), label)
        loss_of_fake.backward()
        of_judge.step()
        makes.zero_grad()
        label.fill_(1.0)
        score(judges(fake).view(-1), label).backward()
        of_maker.step()
        assert (loss + loss_of_fake).item() > 0
        if number % 4 == 0:
            makes(fixed_noise).detach()


def accumulate():
    model = net(20, 64, 20)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer)
    for _ in range(EPOCHS):
        for number, (batch,) in enumerate(batches(20, STEPS // EPOCHS * BATCHES), 1):
            with torch.autocast("cpu", torch.bfloat16):
                loss = model(batch).pow(2).mean()
            (loss / BATCHES).backward()
            if number % BATCHES == 0:
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                schedule.step()
                optimizer.zero_grad()
        with torch.no_grad():
            for batch, in batches(20, 3):
                model(batch).mean().item()


def manual(steps=STEPS):
    model = net(20, 64, 20)
    for _ in range(steps):
        model.zero_grad()
        model(torch.randn(16, 20)).pow(2).mean().backward()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(parameter.grad, alpha=-0.01)


def infer():
    model = net(20, 64, 64, 20).eval()
    with torch.inference_mode():
        for number in range(5 * STEPS):
            float(model(torch.randn(1 if number % 4 else 4, 20)).sum())


def dry():
    model, data = net(20, 64, 20), torch.randn(4, 20)
    for row in range(60):  # what repeats itself is the making of the data
        data[row % 4].add_(1).mul_(0.5)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(data).pow(2).mean().backward()
    optimizer.step()


def leak():
    model, outputs = net(20, 64, 20), []
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(4 * STEPS):
        optimizer.zero_grad()
        outputs.append(model(torch.randn(16, 20)))
        outputs[-1].pow(2).mean().backward()
        optimizer.step()


def together(*loops):
    running = [threading.Thread(target=loop, name=name) for name, loop in loops]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()


def threads():
    together(*((f"trainer-{n}", lambda n=n: manual(STEPS + n)) for n in range(3)))


def loaders():
    def evaluate(count):
        model = net(20, 8)
        with torch.no_grad():
            for batch, in batches(20, count):
                model(batch).sum()

    together(*((f"reader-{n}", lambda n=n: evaluate(STEPS + n)) for n in range(3)))


def beside():
    is_done = threading.Event()

    def infer():
        model = net(*[8] * 60)
        with torch.no_grad():
            for count in range(100_000):
                if is_done.is_set() and count > STEPS:
                    break
                model(torch.ones(4, 8))

    def train():
        manual()
        is_done.set()

    together(("infers", infer), ("trains", train))


LOOPS = {"lbfgs": lbfgs, "closure": closure_loop, "gan": gan, "dcgan": dcgan,
         "accumulate": accumulate, "manual": manual, "infer": infer, "dry": dry,
         "leak": leak, "threads": threads, "loaders": loaders, "beside": beside}


def main():
    folder, name = pathlib.Path(sys.argv[1]), sys.argv[2]
    torch.manual_seed(1)
    torch.set_num_threads(1)
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiler:
        LOOPS[name]()
    profiler.export_chrome_trace(str(folder / f"{name}.json"))


if __name__ == "__main__":
    main()
