# SPDX-License-Identifier: Apache-2.0
"""examples/train on its own: it learns, says the same each time, goes on from a checkpoint, refuses
nonsense."""
import re
import subprocess

import pytest

LINE = re.compile(r"step +(\d+)  loss (\d+\.\d{4})")
LAST_LINE = re.compile(r"held-out accuracy (\d+\.\d) % of 512")


@pytest.fixture(scope="module")
def train(build):
    """train("--steps", "5") runs the example; standard error must stay empty unless it fails."""
    program = build / "examples" / "train"
    if not program.exists():
        pytest.skip("needs examples/train: apt-get install libopenblas-dev, then make")

    def run(*arguments):
        done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True,
                              check=False)
        assert (done.stderr == "") == (done.returncode == 0), done.stderr
        return done
    return run


@pytest.fixture(scope="module")
def default_run(train):
    return train()


def test_the_default_run_learns(default_run):
    *lines, last = default_run.stdout.splitlines()
    steps, losses = zip(*(LINE.fullmatch(line).groups() for line in lines))
    assert [int(step) for step in steps] == [10, 20, 30, 40, 50, 60]
    assert float(losses[-1]) < float(losses[0]) / 4
    assert float(LAST_LINE.fullmatch(last)[1]) >= 90


def test_the_first_loss_is_that_of_guessing(train):
    first = train("--steps", 1).stdout.splitlines()[0]
    assert float(LINE.fullmatch(first)[2]) == pytest.approx(2.3026, abs=0.15)  # log(10)


def test_two_runs_print_the_same(train, default_run):
    assert train().stdout == default_run.stdout


def test_the_seed_makes_another_run(train):
    assert train("--steps", 2).stdout == train("--steps", 2, "--seed", 1).stdout
    assert train("--steps", 2).stdout != train("--steps", 2, "--seed", 2).stdout


def test_a_resumed_run_equals_an_uninterrupted_one(train, tmp_path):
    whole, part, resumed = (tmp_path / name for name in ("whole", "part", "resumed"))
    expected = train("--steps", 25, "--batch", 16, "--seed", 5, "--checkpoint",
                     whole).stdout.splitlines()
    assert train("--steps", 13, "--batch", 16, "--seed", 5, "--checkpoint", part).returncode == 0
    done = train("--steps", 25, "--resume", part, "--checkpoint", resumed)
    assert done.stdout.splitlines() == expected[1:]  # without the line of step 10
    assert resumed.read_bytes() == whole.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["part", "resumed", "whole"]


def test_a_checkpoint_replaces_the_one_it_came_from(train, tmp_path):
    path = tmp_path / "state"
    assert train("--steps", 1, "--checkpoint", path).returncode == 0
    first = path.read_bytes()
    assert train("--steps", 2, "--resume", path, "--checkpoint", path).returncode == 0
    assert len(path.read_bytes()) == len(first) and path.read_bytes() != first


@pytest.mark.parametrize("damage, why", [
    (lambda data: data[:20], "it is not a checkpoint that train wrote"),
    (lambda data: b"V" + data, "it is not a checkpoint that train wrote"),
    (lambda data: data[:32] + b"\1" + data[33:], "it belongs to another version of the network"),
    (lambda data: data[:-1], "it ends too early"),
    (lambda data: data[:-1] + bytes([data[-1] ^ 1]),
     "its checksum is wrong: the file was changed or damaged"),
    (lambda data: data[:24] + b"\xff\xff\xff\x7f" + data[28:], "its batch or step is too great"),
])
def test_a_damaged_checkpoint_is_refused(train, tmp_path, damage, why):
    path = tmp_path / "state"
    assert train("--steps", 1, "--checkpoint", path).returncode == 0
    path.write_bytes(damage(path.read_bytes()))
    done = train("--resume", path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"train: cannot resume from '{path}': {why}\n"


def test_a_missing_checkpoint_is_named(train, tmp_path):
    done = train("--resume", tmp_path / "none")
    assert done.returncode == 1
    assert (done.stderr == f"train: cannot resume from '{tmp_path}/none': No such file or "
                           f"directory\n")


def test_a_finished_run_has_nothing_to_resume(train, tmp_path):
    assert train("--steps", 2, "--checkpoint", tmp_path / "state").returncode == 0
    done = train("--steps", 2, "--resume", tmp_path / "state")
    assert done.returncode == 2
    assert (done.stderr == f"train: '{tmp_path}/state' has done step 2 already; give --steps more "
                           f"than that\n")


def test_a_checkpoint_that_cannot_be_written_ends_the_run(train, tmp_path):
    done = train("--steps", 3, "--checkpoint", tmp_path / "no" / "folder")
    assert done.returncode == 1
    assert done.stderr == (f"train: cannot write the checkpoint '{tmp_path}/no/folder': "
                           "No such file or directory\n")


def test_results_that_nobody_got_are_a_failure(build, train):
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([build / "examples/train", "--steps", "1"], stdout=full,
                              stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode,
            done.stderr) == (1, "train: cannot write the results: No space left on device\n")


@pytest.mark.parametrize("arguments, message", [
    (["--steps", "0"], "--steps wants a number from 1 to 1000000, not '0'"),
    (["--steps=-1"], "--steps wants a number from 1 to 1000000, not '-1'"),
    (["--steps", ""], "--steps wants a number from 1 to 1000000, not ''"),
    (["--batch", "12x"], "--batch wants a number from 1 to 4096, not '12x'"),
    (["--seed", "18446744073709551616"],
     "--seed wants a number from 0 to 18446744073709551615, not '18446744073709551616'"),
    (["--threads", "257"], "--threads wants a number from 1 to 256, not '257'"),
    (["--steps"], "--steps wants a value; train --help says which"),
    (["--bogus"], "unknown option '--bogus'; train --help lists them all"),
    (["--help=now"], "unknown option '--help=now'; train --help lists them all"),
    (["-xy"], "unknown option '-x'; train --help lists them all"),
    (["more"], "'more' is no option; train --help lists them all"),
    (["--resume", "state", "--seed", "1"],
     "--resume takes seed and batch from its file; leave --seed and --batch out"),
])
def test_a_wrong_command_line_gets_one_line(train, arguments, message):
    done = train(*arguments)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"train: {message}\n")


def test_help_names_every_option(train):
    done = train("--help")
    assert done.returncode == 0 and done.stdout.startswith("usage: train [options]\n")
    assert re.findall(r"^  (--\w+)", done.stdout, re.MULTILINE) == [
        "--steps", "--batch", "--seed", "--checkpoint", "--resume", "--threads", "--graph",
            "--help"]
