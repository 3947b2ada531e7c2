# SPDX-License-Identifier: Apache-2.0
"""device_records.py: the records of what devices did and counted, which trace_writer's threads can
write."""
import struct

ACTIVITIES = ["", "kernel", "copy", "set", "wait", "range", "other"]
DEVICE_FIELDS = {
    (20, "varve.activity"): "u32 track; u32 name; u64 kind; i64 begin; i64 end;"
                            " u64 correlation; u64 bytes;",
    (21, "varve.launch"): "u64 correlation;",
    (52, "varve.kernel"): "u32 track; u32 name; i64 begin; u32 duration; u32 correlation;"
                          " u32 grid_x; u32 grid_y; u32 grid_z; u32 block_x; u32 block_y;"
                          " u32 block_z; u32 registers; u32 shared_bytes;",
}


class DeviceRecords:
    """A thread with self.record and self.process."""

    def activity(self, track, name, span, at, **more):
        """Work on a device; span is (begin, end) in the track's clock; more: kind, correlation,
        size."""
        kind = more.get("kind", "kernel")
        kind = kind if isinstance(kind, int) else ACTIVITIES.index(kind)
        self.record(20, at, struct.pack("<IIQqqQQ", track, self.process.string(name), kind, *span,
                                        more.get("correlation", 0), more.get("size", 0)))

    def kernel(self, track, name, span, at, **more):
        """As activity, of a kernel; more: correlation, grid, block, registers, shared."""
        self.record(52, at, struct.pack("<IIq10I", track, self.process.string(name), span[0],
                                        span[1] - span[0], more.get("correlation", 0),
                                        *more.get("grid", (1, 1, 1)),
                                        *more.get("block", (1, 1, 1)), more.get("registers", 0),
                                        more.get("shared", 0)))

    def launch(self, correlation, at):
        self.record(21, at, struct.pack("<Q", correlation))

    def device_counter(self, track, name, time, value, at):
        """A counter's value at `time` in the track's clock."""
        self.record(44, at, struct.pack("<IIqd", track, self.process.string(name), time, value))
