# SPDX-License-Identifier: Apache-2.0
"""endings.py — three operators of PyTorch, and then an end.

    endings.py NAME         one of ENDINGS
"""
import os
import signal
import sys

import torch


def fail():
    raise ValueError("as it should")


ENDINGS = {
    "returns": lambda: None,
    "fails": fail,
    "says_5": lambda: sys.exit(5),
    "leaves": lambda: os._exit(3),
    "is_killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "is_ended": lambda: os.kill(os.getpid(), signal.SIGTERM),
}


def main():
    print("norm", torch.full((4,), 3.0).square().sum().item(), flush=True)
    print(sys.flags.isolated, __name__, file=sys.stderr, flush=True)
    ENDINGS[sys.argv[1]]()


if __name__ == "__main__":
    main()
