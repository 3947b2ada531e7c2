# SPDX-License-Identifier: Apache-2.0
"""device_records.py: the records of what devices did and counted, which trace_writer's threads can
write."""
import struct

ACTIVITIES = ["", "kernel", "copy", "set", "wait", "range", "other"]


class DeviceRecords:
    """A thread with self.record and self.process."""

    def activity(self, track, name, span, at, **more):
        """Work on a device; span is (begin, end) in the track's clock; more: kind, correlation,
        size."""
        kind = more.get("kind", "kernel")
        kind = kind if isinstance(kind, int) else ACTIVITIES.index(kind)
        self.record(20, at, struct.pack("<IIQqqQQ", track, self.process.string(name), kind, *span,
                                        more.get("correlation", 0), more.get("size", 0)))

    def launch(self, correlation, at):
        self.record(21, at, struct.pack("<Q", correlation))

    def device_counter(self, track, name, time, value, at):
        """A counter's value at `time` in the track's clock."""
        self.record(44, at, struct.pack("<IIqd", track, self.process.string(name), time, value))
