# SPDX-License-Identifier: Apache-2.0
"""varve sample: the processor time of a program by line of its source, without perf."""
import collections
import pathlib
import signal
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from model_tables import dump, health  # noqa: E402

PROGRAM = r"""
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

__attribute__((noinline)) double three(double x) {
    for (int i = 0; i < 30000000; i++) x = sqrt(x + i); /* line 11 */
    return x;
}
__attribute__((noinline)) double one(double x) {
    for (int i = 0; i < 10000000; i++) x = sqrt(x + i); /* line 15 */
    return x;
}
static void *work(void *x) {
    *(double *)x = three(1) + one(2);
    return NULL;
}
static void *nothing(void *x) {
    return x;
}
int main(int count, char **words) {
    double x[2];
    struct timespec ran;
    pthread_t thread;
    if (count > 1 && strcmp(words[1], "crowd") == 0)
        for (int i = 0; i < 5000; i++) {
            pthread_create(&thread, NULL, nothing, NULL);
            pthread_join(thread, NULL);
        }
    if (count > 1 && strcmp(words[1], "fork") == 0) {
        if (fork() == 0)
            execl(words[0], words[0], (char *)NULL);
        wait(NULL);
        return 0;
    }
    pthread_create(&thread, NULL, work, &x[0]);
    work(&x[1]);
    pthread_join(thread, NULL);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ran);
    printf("%lld %f\n", ran.tv_sec * 1000000000LL + ran.tv_nsec, x[0] + x[1]);
    return 7;
}
"""


@pytest.fixture(scope="module", name="folder")
def fixture_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sampled")
    (folder / "a.c").write_text(PROGRAM)
    subprocess.run(["cc", "-g", "-O1", "a.c", "-o", "a", "-lm", "-pthread"], cwd=folder, check=True)
    return folder


def sample(varve, folder, *words):
    return subprocess.run([varve, "sample", *words], cwd=folder, capture_output=True, text=True,
                          check=False, timeout=120)


def self_ns(tables):
    """{last part of "file:line", or "": ns}, and the threads that ran."""
    found, threads = {}, set()
    for row in tables["slices"]:
        source = tables["sources"][row["source"]] if row["source"] else None
        place = f"{source['file'].rsplit('/', 1)[-1]}:{source['line']}" if source else ""
        found[place] = found.get(place, 0) + row["self_ns"]
        threads.add(row["track"])
    return found, threads


@pytest.mark.parametrize("how", [(), ("fork",)])
def test_time_by_line(varve, build, folder, how):
    """Two threads, also of a child that begins another program. The sum is the processor time that
    the program says itself; three loops of the same kind take three times as long as one."""
    done = sample(varve, folder, "-o", f"s{len(how)}.txt", "--", "./a", *how)
    assert done.returncode == (0 if how else 7), done.stderr
    tables = dump(build, folder / f"s{len(how)}.txt")
    assert not health(tables)
    lines, threads = self_ns(tables)
    ran_ns = int(done.stdout.split()[0])
    assert len(threads) >= 2
    assert 0.95 * ran_ns < sum(lines.values()) < 1.3 * ran_ns
    assert lines["a.c:11"] + lines["a.c:15"] > 0.7 * ran_ns  # a late look finds the thread's end
    assert 2 < lines["a.c:11"] / lines["a.c:15"] < 4.5


def test_a_thread_that_makes_threads_is_looked_at(varve, build, folder):
    """A request to stop that meets another stop is made again. Both threads run the same loops."""
    done = sample(varve, folder, "-o", "c.txt", "--", "./a", "crowd")
    assert done.returncode == 7, done.stderr
    tables = dump(build, folder / "c.txt")
    in_loops = collections.Counter()
    for row in tables["slices"]:
        if row["source"] and tables["sources"][row["source"]]["line"] in (11, 15):
            in_loops[row["track"]] += row["self_ns"]
    assert len(in_loops) == 2 and min(in_loops.values()) > 0.6 * max(in_loops.values())


def test_it_is_the_program_that_ends(varve, folder):
    """Its exit code, its signal, its output; what is there is kept."""
    assert sample(varve, folder, "-o", "e.txt", "--", "sh", "-c", "exit 3").returncode == 3
    done = sample(varve, folder, "-o", "e.txt", "--", "sh", "-c", "echo said; kill -TERM $$")
    assert (done.returncode, done.stdout) == (128 + signal.SIGTERM, "said\n")
    assert "former kept as .old" in done.stderr
    assert (folder / "e.txt.old").read_text().startswith("# Samples of the processor")


def test_signals_reach_the_program(varve, folder):
    """A handler runs, a call that waits goes on, and a process that stops can go on."""
    program = ("import os, signal, time\n"
               "signal.signal(signal.SIGUSR1, lambda *_: print('caught', flush=True))\n"
               "os.kill(os.getpid(), signal.SIGUSR1)\n"
               "if os.fork() == 0:\n"
               "    time.sleep(0.2); os.kill(os.getppid(), signal.SIGCONT); os._exit(0)\n"
               "os.kill(os.getpid(), signal.SIGSTOP)\n"
               "os.wait(); print('went on')\n")
    done = sample(varve, folder, "-o", "g.txt", "--", sys.executable, "-c", program)
    assert (done.returncode, done.stdout) == (0, "caught\nwent on\n"), done.stderr


def test_what_cannot_be_sampled(varve, folder):
    """No program; a program that is not there; one that somebody else looks at already."""
    done = sample(varve, folder)
    assert done.returncode == 125 and "needs a program" in done.stderr
    done = sample(varve, folder, "-o", "n.txt", "--", "./nobody")
    assert done.returncode == 127 and "cannot run './nobody'" in done.stderr
    done = sample(varve, folder, "-o", "n.txt", "--", varve, "sample", "-o", "m.txt", "--", "./a")
    assert done.returncode == 125 and "did not run" in done.stderr and not done.stdout
    assert not (folder / "m.txt").exists()
