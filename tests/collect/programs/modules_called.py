# SPDX-License-Identifier: Apache-2.0
"""modules_called.py — calls of modules in all ways, and what a program could notice; all that it
prints is the same each time.

    python modules_called.py FOLDER        FOLDER has a package torch, which may be a stand-in
"""
import copy
import gc
import pickle
import sys
import threading
import traceback
import weakref
sys.path.insert(0, sys.argv[1])
from torch.nn.modules.module import Module


class Leaf(Module):
    def forward(self, number, *, more=0):
        return number + more


class Pair(Module):
    def forward(self, number):
        return self.one(number) + self.two(number, more=1)


class Own(Module):
    def __call__(self, *args):
        return super().__call__(*args)

    def forward(self, depth):
        return self(depth - 1) if depth else self.missing


class Bare(Module):
    __slots__ = ()


class Slotted:
    __slots__ = ("forward",)


tree = Pair(one=Pair(one=Leaf(), two=Leaf()), two=Leaf(), **{"\u00e9": Own(odd=None)})
# a circle
tree.__dict__["_modules"]["one"].__dict__["_modules"]["two"].__dict__["_modules"]["self"] = tree
print(tree(1), tree(2), Module.__call__(*[tree, 3]), list(map(tree, range(3))))
for call in (lambda: tree.__dict__["_modules"]["\u00e9"](2), lambda: tree("text"),
             lambda: tree(1, 2), Module.__call__, lambda: Module.__call__(5)):
    try:
        call()
    except Exception:
        traceback.print_exc(file=sys.stdout)
print(Module.__call__(tree, 3))  # 3.11 calls a function from a function without a look at it
slotted = Slotted()
slotted.forward = len
print(Module.__call__(slotted, "four"))
print(copy.deepcopy(tree)(4), pickle.loads(pickle.dumps(tree.one))(4), sorted(vars(tree.one)))
print(Module.__call__.__qualname__, Module.__call__ is Module._call_impl,
      Module.__call__.__code__.co_name)
for _ in range(300):
    Bare.forward = lambda self: self
    Bare()()
threads = [threading.Thread(target=lambda: [tree(5) for _ in range(50)], name="worker")
           for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
gone = weakref.ref(tree)
del tree
gc.collect()
print(gone())
