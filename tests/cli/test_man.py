# SPDX-License-Identifier: Apache-2.0
"""Manual pages: mandoc finds nothing wrong, and they hold what the tables hold."""
import shutil
import subprocess

import pytest

PAGES = ["varve", "record", "report", "steps", "info", "export", "help", "version", "completions"]
SECTIONS = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "FILES", "EXAMPLES",
            "SEE ALSO"]


def mandoc(text, *words):
    if shutil.which("mandoc") is None:
        pytest.skip("needs mandoc: apt install mandoc")
    return subprocess.run(["mandoc", *words], input=text, capture_output=True, text=True,
                          check=False)


@pytest.mark.parametrize("page", PAGES)
def test_mandoc_has_no_complaint(run, page):
    text = run("help", "--man", page).stdout
    assert text.startswith('.TH ')
    done = mandoc(text, "-T", "lint", "-W", "warning")
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@pytest.mark.parametrize("page", PAGES[1:])
def test_a_verbs_page_has_its_sections_options_and_examples(run, page):
    text = mandoc(run("help", "--man", page).stdout, "-T", "utf8").stdout
    plain = "".join(c for i, c in enumerate(text) if c != "\b" and text[i + 1:i + 2] != "\b")
    assert [line for line in plain.splitlines() if line in SECTIONS] == SECTIONS
    unwrapped = " ".join(plain.split())
    for line in run("help", page).stdout.splitlines():
        if line.startswith("  varve "):
            example = line.strip().split("   ")[0]
            assert " ".join(example.split()) in unwrapped
        if line.startswith("  -"):
            assert line.strip().split("  ")[0] in plain


def test_the_overview_names_every_other_page(run):
    text = run("help", "--man", "varve").stdout
    for page in PAGES[1:]:
        assert f".BR varve\\-{page} (1)" in text


def test_an_unknown_page_is_refused(run):
    assert run("help", "--man", "reprot").returncode == 2
