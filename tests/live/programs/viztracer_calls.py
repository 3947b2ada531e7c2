# SPDX-License-Identifier: Apache-2.0
"""viztracer_calls.py — VizTracer traces functions that count their own calls.

    viztracer_calls.py FOLDER       calls.json, calls.json.gz and numbers.json
"""
import collections
import gzip
import json
import pathlib
import sys
import threading

import viztracer

CALLS = collections.Counter()


def fibonacci(number):
    CALLS["fibonacci"] += 1
    return number if number < 2 else fibonacci(number - 1) + fibonacci(number - 2)


def leaf():
    CALLS["leaf"] += 1


def branch(depth):
    CALLS["branch"] += 1
    for _ in range(3):
        branch(depth - 1) if depth else leaf()


def main():
    folder = pathlib.Path(sys.argv[1])
    tracer = viztracer.VizTracer(output_file=str(folder / "calls.json"), verbose=0,
                                 ignore_c_function=True)
    tracer.start()
    fibonacci(10)
    tracer.log_instant("between", {"what": "an instant"})
    counter = tracer.log_var("value", 7)
    del counter
    thread = threading.Thread(target=branch, args=(4,), name="brancher")
    thread.start()
    thread.join()
    tracer.stop()
    events = tracer.parse()
    tracer.save()
    (folder / "calls.json.gz").write_bytes(gzip.compress((folder / "calls.json").read_bytes()))
    (folder / "numbers.json").write_text(json.dumps({
        "version": viztracer.__version__, "events": events, "calls": CALLS}))


if __name__ == "__main__":
    main()
