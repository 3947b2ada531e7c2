# SPDX-License-Identifier: Apache-2.0
"""make_protobuf_corpus.py: writes the seeds of fuzz/corpus/xspace, xspace_json, perfetto and hlo
again.

    python3 tests/fuzz/make_protobuf_corpus.py

Small traces with every kind of field, from tests/support; what a campaign finds is added by hand.
"""
import pathlib
import sys
import zlib

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "support"))

import perfetto_writer as perfetto  # noqa: E402
from protobuf_bytes import field, message  # noqa: E402
from xspace_bytes import Plane, camel, environment, space, to_json  # noqa: E402


def xspace():
    host, device = Plane("/host:CPU"), Plane("/device:GPU:1", 1)
    host.metadata("a:Op", "Op", [host.stat("flops", 9),
                                 host.stat("shape", "(f32[8,<=4]{1,0}, /*i=1*/ pred[])", 7)])
    stats = [host.stat("d", 0.5), host.stat("u", 1 << 63, 3), host.stat("b", b"\0\xff", 6),
             host.stat("z", zlib.compress(b"text"), 8), host.stat("source", "a.py:7"),
             host.stat("_pt", 5), host.stat("_p", 1)]
    host.line(7, [host.event("a:Op", 1500, 3000, stats),
                  host.event("train", 0, 9000, [host.stat("step_num", 3)]),
                  host.event("sum", None, 5, occurrences=4),
                  host.event("consumer", 2000, -1, [host.stat("_c", 1)])],
              "main", 10)
    host.line(8, [host.event("MemoryAllocation", 1, None,
                             [host.stat("addr", 4096), host.stat("allocation_bytes", 8)])])
    host.line((1 << 63) - 1, [host.event("power", 1, None, [host.stat("watts", 1.5)])],
              "_counters_")
    device.stats = [device.stat("device_vendor", "Nvidia")]
    copy = [device.stat("correlation_id", 5, 3), device.stat("memcpy_details", "num_bytes:640"),
            device.stat("flow", 4 << 58 | 7 << 2 | 3, 3)]
    device.line(14, [device.event("MemcpyH2D", 0, 1000, copy)], "Stream #14(MemcpyH2D)",
                more=((9, 7), (10, 2), (11, "s")))
    device.line(1, [device.event("12", 0, 1000)], "Steps")
    return space(host, device, environment(1_700_000_000 * 10**9, 5), errors=["e"], warnings=["w"],
                 hosts=["h"])


def perfetto_trace(folder):
    trace = perfetto.Trace(folder / "none")
    trace.clear()
    trace.snapshot(perfetto.clock(6, 1000), perfetto.clock(1, 1_700_000_000 * 10**9),
                   perfetto.clock(64, 0, True, 10))
    trace.track(1, process=(7, "p"))
    trace.track(2, parent=1, thread=(7, 8, "t"))
    trace.track(3, parent=2, name="c", counter=[(4, 2), (5, 1)])
    trace.intern(names={1: "n"}, categories={1: "c"}, keys={1: "k"}, sources={1: ("f.c", 3)},
                 texts={1: "s"})
    trace.packet((59, message((58, 64), (11, message((11, 2), (31, 3))))))
    more = ((34, 1), (12, 5), (4, message((1, 1), (8, message((1, 1), (2, "a"),
                                                              (3, message((5, 4))))))))
    trace.event(5, perfetto.BEGIN, name=1, categories=[1], args={1: {"x": [1, "y", 2.5, True]}},
                flows=[9], more=more)
    trace.event(6, perfetto.END, more=((12, -2), (31, 3)))
    trace.event(7, perfetto.COUNTER, track=3, value=4)
    trace.event(1100, perfetto.INSTANT, track=2, name="i", ends=[9], clock_id=6)
    trace.event(1, 0, name="l", more=((6, message((2, ord("X")), (3, 5), (18, 7), (19, 9))),))
    trace.event(1, 0, name="a", more=((6, message((2, ord("b")), (6, 5))),))
    trace.packet((50, zlib.compress(field(1, message((8, 2000), (11, message((9, 3))))))))
    return b"".join(trace.packets)


def hlo():
    """A program with a fusion, a call stack and a fingerprint."""
    metadata = message((1, "varve#7"), (2, "jit(f)/dot"), (3, "a.py"), (4, 3), (15, 1))
    argument = message((1, "w"), (2, "parameter"), (9, 4), (35, 8))
    fusion = message((1, "fusion.3"), (2, "fusion"), (7, metadata), (35, 1), (36, b"\x08"),
                     (38, b"\x02\x03"))
    call = message((1, "call"), (2, "call"), (35, 2), (36, 8), (38, 4))
    taken = message((1, "gte"), (2, "get-tuple-element"), (13, 1), (35, 3), (36, 2))
    dot = message((1, "dot.5"), (2, "dot"), (7, message((2, "jit(f)/dot"), (15, 2))), (38, 3))
    inner = message((1, "p"), (2, "parameter"), (35, 1))
    turned = message((1, "t"), (2, "transpose"), (35, 2), (36, 1))
    pair = message((1, "pair"), (2, "tuple"), (35, 3), (36, 2), (36, 1))
    frames = message((1, "model.py"), (2, "f"), (2, "g"),
                     (3, message((1, 1), (2, 1), (3, 9), (4, 2))), (3, message((1, 1), (2, 2))),
                     (4, message((1, 1), (2, 2))), (4, message((1, 2))))
    attributes = message((1, message((1, "fingerprint_before_lhs"), (2, "f00d"))))
    return message((1, message((1, "jit_f"), (6, 1),
                               (3, message((1, "main"), (2, argument), (2, fusion), (2, call),
                                           (2, taken), (5, 1), (6, 3))),
                               (3, message((1, "called"), (2, inner), (2, turned), (2, pair),
                                           (5, 4), (6, 3))),
                               (3, message((1, "fused"), (2, dot), (2, dot), (5, 2))),
                               (3, message((1, "mapped"), (2, message((1, "x"))), (5, 3))),
                               (17, frames), (19, attributes))))


def seeds():
    whole = xspace()
    yield "hlo/every_field", hlo()
    yield "xspace/every_kind", whole
    yield "xspace/cut", whole[:len(whole) // 2]
    yield "xspace/empty_plane", message((1, message((2, "/host:CPU"))))
    yield "xspace_json/snake_case", to_json(whole).encode()
    yield "xspace_json/camel_case", to_json(whole, camel).encode()[:-40]
    packets = perfetto_trace(TESTS)
    yield "perfetto/every_kind", packets
    yield "perfetto/cut", packets[:-9]


def main():
    for name, data in seeds():
        path = TESTS / "fuzz" / "corpus" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


if __name__ == "__main__":
    main()
