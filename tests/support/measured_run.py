# SPDX-License-Identifier: Apache-2.0
"""measured_run.py: a program with what it cost: processor time and the most memory it had, whatever
else the machine does."""
import dataclasses
import os
import subprocess
import sys


@dataclasses.dataclass
class Run:
    code: int
    out: str
    err: str
    cpu_s: float
    peak_bytes: int


# A child has had its parent's memory, as Linux counts: so its parent is small.
SMALL = """
import os, resource, sys
usage_fd, limit_s = int(sys.argv[1]), int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_CPU, (limit_s, limit_s + 5))
_, status, usage = os.wait4(os.posix_spawnp(sys.argv[3], sys.argv[3:], os.environ), 0)
os.write(usage_fd, b"%d %f %d" % (os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024))
"""


def measured(command, folder, cpu_limit_s=60):
    """`cpu_limit_s` of processor time end it: a loop without end fails and does not hang."""
    read_end, write_end = os.pipe()
    with open(folder / "out", "w+b") as out, open(folder / "err", "w+b") as err:
        subprocess.run([sys.executable, "-S", "-c", SMALL, str(write_end), str(cpu_limit_s),
                        *map(str, command)],
                       stdout=out, stderr=err, pass_fds=(write_end,), check=True)
        os.close(write_end)
        with open(read_end, encoding="ascii") as usage:
            code, cpu_s, peak_bytes = usage.read().split()
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read().decode(errors="replace"))
    return Run(int(code), *texts, float(cpu_s), int(peak_bytes))
