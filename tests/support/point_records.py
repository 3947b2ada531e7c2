# SPDX-License-Identifier: Apache-2.0
"""point_records.py: the records of trace points, which trace_writer's threads can write."""
import struct


class PointRecords:
    """A thread with self.record and self.process."""

    def trace_mark(self, tag, at, track=0, value=0, **more):
        """A point that was reached, at `value` in the track's clock; more: model, iteration,
        stream."""
        self.record(32, at, struct.pack("<QQQqqq", track, tag, more.get("model", 0),
                                        more.get("iteration", -1), more.get("stream", -1), value))

    def trace_point(self, kind, tags, at, node=-1, **more):
        """A planned point; tags are those before and after its node; more: state, model, graph,
        name, operation, reason."""
        name, operation, reason = (self.process.string(more[key]) if key in more else 0
                                   for key in ("name", "operation", "reason"))
        self.record(33, at, struct.pack("<QQQqqIIIIQ", more.get("model", 0), *tags,
                                        more.get("graph", -1), node, kind, more.get("state", 1),
                                        name, operation, reason))
