# SPDX-License-Identifier: Apache-2.0
"""python_programs.py: what the tests of calls record, and an account of the same calls by Python's
own profile function."""

CALLS = '''
import sys
import threading


def leaf(number):
    return number + 1


def loop(count):
    for number in range(count):
        leaf(number)
    return [len((1, 2)) for _ in range(3)]


def counts(count):
    for number in range(count):
        yield leaf(number)


def chain(count):
    yield from counts(count)


def fails(depth):
    if depth == 0:
        raise ValueError("at the bottom")
    fails(depth - 1)


def deep(count):
    return deep(count - 1) if count else 0


class Pair:
    def __init__(self, first):
        self.first = first

    def __enter__(self):
        return self

    def __exit__(self, *what):
        return True

    @property
    def double(self):
        return leaf(self.first)


class Steps:
    def __await__(self):
        yield leaf(0)
        return 5


async def waits(count):
    for _ in range(count):
        await Steps()
    raise KeyError("after all")


def step(coroutine):
    while True:
        try:
            coroutine.send(None)
        except KeyError:
            return
        except StopIteration:
            return


def main():
    loop(10)
    sum(chain(4))
    try:
        fails(5)
    except ValueError:
        pass
    with Pair(1) as pair:
        pair.double
        int("no number")
    thrown = counts(9)
    next(thrown)
    try:
        thrown.throw(KeyError("in a generator"))
    except KeyError:
        pass
    closed = counts(9)
    next(closed)
    closed.close()
    step(waits(3))
    deep(400)
    made = {}
    for number in range(5):  # code objects come and go, often at one address
        exec(compile(f"def made_{number}(): return {number}", __file__, "exec"), made)
        made.pop(f"made_{number}")()
    sorted([3, 1, 2], key=leaf)
    thread = threading.Thread(target=loop, args=(7,))
    thread.start()
    thread.join()
'''

RUN = '''
main()
'''

# The calls of this file's functions: how often each was begun from each.
ACCOUNT = '''
def account():
    import collections
    import json
    seen, open_calls = collections.Counter(), threading.local()

    def hear(frame, what, argument):
        stack = open_calls.__dict__.setdefault("stack", [])
        if frame.f_code.co_filename != __file__:
            return
        if what == "call":
            seen[stack[-1] if stack else "", frame.f_code.co_name] += 1
            stack.append(frame.f_code.co_name)
        elif what == "return" and stack:
            stack.pop()

    threading.setprofile(hear)
    sys.setprofile(hear)
    main()
    sys.setprofile(None)
    print(json.dumps([[*names, count] for names, count in seen.items()]))


account()
'''
