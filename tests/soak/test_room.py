# SPDX-License-Identifier: Apache-2.0
"""The program keeps its disk: recording stops while little of it is free, says so, counts to the
record, and goes on."""
import csv
import os
import shutil
import subprocess

import pytest

from recording import binary, quiet_environment
from streams import lost_by_process, thread_streams

DISK = 40_000_000
SAVED = 200_000  # bytes of a checkpoint


@pytest.fixture
def disk(tmp_path):
    """A small file system of its own."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("needs root, to mount a small file system")
    folder = tmp_path / "disk"
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", folder],
                          capture_output=True, check=False)
    if done.returncode != 0:
        pytest.skip("needs the right to mount: run it outside the container")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


class Recorded:
    """tests/programs/on_command under varve record, whose trace is on the small disk."""
    def __init__(self, disk, *options, command=("-o", "t.varve"), **environment):
        self.disk = disk
        self.process = subprocess.Popen([binary("varve"), "record", *command, *options, "--",
                                         binary("tests/programs/on_command")],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, cwd=disk,
                                        env=quiet_environment(**environment))

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "ok\n"

    def end(self):
        _, said = self.process.communicate(timeout=240)
        assert self.process.returncode == 0
        return said

    def save(self, name):
        """What a program does with a checkpoint: True if all of it could be written."""
        try:
            (self.disk / name).write_bytes(b"x" * SAVED)
            return True
        except OSError:
            return False


def kept_and_lost(trace):
    streams = thread_streams(trace)
    return sum(len(words)
               for words, _, _ in streams), sum(lost
                                                for _, lost, _ in streams) + lost_by_process(trace)


def facts(trace):
    done = subprocess.run([binary("varve"), "info", "--csv", "--table", "trace", trace],
                          capture_output=True, text=True, check=True)
    (row,) = csv.DictReader(done.stdout.splitlines())
    return row


def test_checkpoints_that_fit_without_us_fit(disk, three_readers):
    """60 MB of records and 2.4 MB of checkpoints on 40 MB: all of these, and half of the disk for
    those."""
    program = Recorded(disk)
    saved = []
    for number in range(12):
        program.tell("pairs 312500")
        saved.append(program.save(f"checkpoint {number}"))
    said = program.end()
    assert saved == [True] * 12
    kept, lost = kept_and_lost(disk / "t.varve")
    assert kept + lost == 2 * 12 * 312500
    assert 8 * kept > DISK // 3
    assert ("varve: nothing was recorded while less than 20.0 MB of the disk were free: --reserve "
            "SIZE leaves less to others, "
            "-o NAME.varve names another place\n") in said
    trust = facts(disk / "t.varve")["trust"]
    assert " EVENTS LOST (" in trust and ") to leave 20.0 MB of the disk free" in trust
    three_readers(disk / "t.varve", decode=False)


@pytest.mark.parametrize("options, environment, least, most", [
    (["--reserve", "0"], {}, DISK - 1_000_000, DISK + 4096),
    (["--reserve", "75%"], {}, DISK // 5, DISK // 4 + 200_000),
    (["--reserve", "36MB"], {}, 2_000_000, 4_200_000)])
def test_how_much_is_left_can_be_said(disk, options, environment, least, most):
    program = Recorded(disk, *options, **environment)
    program.tell("pairs 3500000")
    used = os.statvfs(disk)
    assert least <= (used.f_blocks - used.f_bfree) * used.f_frsize <= most
    program.end()
    kept, lost = kept_and_lost(disk / "t.varve")
    assert kept + lost == 7_000_000 and lost > 0


@pytest.mark.parametrize("options", ['{"reserve": "36MB"}', '{}'])
def test_a_program_that_records_itself_leaves_it_too(disk, options):
    environment = {
        "VARVE_OPTIONS": options.replace(
            "{", '{"output": "%s/t.varve"%s' % (disk, ", " if len(options) > 2 else ""))
    }
    if options == "{}":
        environment["VARVE_RESERVE"] = "90%"
    subprocess.run([binary("tests/programs/on_command")], input="pairs 1000000\n", text=True,
                   capture_output=True, cwd=disk, check=True, env=quiet_environment(**environment),
                   timeout=240)
    kept, lost = kept_and_lost(disk / "t.varve")
    assert kept + lost == 2_000_000 and 8 * kept < 4_300_000


def test_it_goes_on_when_there_is_room_again(disk):
    (disk / "ballast").write_bytes(b"x" * 30_000_000)
    program = Recorded(disk, "--reserve", "8MB")
    program.tell("pairs 500000")
    (disk / "ballast").unlink()
    program.tell("sleep 2500")  # it asks again once a second
    program.tell("pairs 500000")
    program.end()
    kept, lost = kept_and_lost(disk / "t.varve")
    assert kept + lost == 2_000_000 and kept > 1_000_000 and lost > 0


def test_a_flight_recorder_goes_round_in_what_it_has(disk):
    (disk / "ballast").write_bytes(b"x" * 30_000_000)
    program = Recorded(disk, "--reserve", "4MB", "--keep", "16MB")
    program.tell("pairs 3000000")
    program.end()
    row = facts(disk / "t.varve")
    assert int(row["lost"]) == 0 and 300_000 < int(row["events"]) < 1_000_000


def records(words):
    """How many there are: a range of a name begins with two words (7), all others are one."""
    at = count = 0
    while at < len(words):
        at += 2 if words[at] & 0xFFFFF == 7 else 1
        count += 1
    return count


@pytest.mark.parametrize("reserve", ["0", "36MB"])
def test_names_without_room_cost_the_records_that_need_them_and_no_more(disk, reserve):
    """Each of the records is kept or counted once, though its name's record had no room either."""
    program = Recorded(disk, "--reserve", reserve)
    (disk / "ballast").write_bytes(b"x" * (34_000_000 if reserve == "0" else 0))
    for _ in range(4):
        program.tell("names 60000")
    program.end()
    streams = thread_streams(disk / "t.varve")
    kept = sum(records(words) for words, _, _ in streams)
    lost = sum(lost for _, lost, _ in streams) + lost_by_process(disk / "t.varve")
    assert kept + lost == 2 * 240_000 and lost > 0
