# SPDX-License-Identifier: Apache-2.0
"""The files that the lints read, and the functions in them."""
import ast
import collections
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("VARVE_BUILD", "build")
CODE_FOLDERS = ("src", "include", "compat", "mlir", "examples", "tests", "bench", "tools", "python")

Function = collections.namedtuple("Function", "name first_line lines parameters")


def tracked():
    """Files that belong to the project: those of git, and new ones that it does not ignore."""
    listing = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT,
                             capture_output=True, check=False)
    if listing.returncode == 0:
        names = listing.stdout.decode().split("\0")
    else:  # a source archive
        names = [str(path.relative_to(ROOT)) for path in ROOT.rglob("*")
                 if not str(path.relative_to(ROOT)).startswith(("build", ".git/"))]
    return sorted(ROOT / name for name in names if name and (ROOT / name).is_file())


def text_of(path):
    """The text of a file, or None if it is not text."""
    data = path.read_bytes()
    return None if b"\0" in data else data.decode("utf-8", "replace")


def code(*suffixes):
    """The files of the code folders with one of these suffixes."""
    for path in tracked():
        relative = path.relative_to(ROOT)
        if relative.parts[0] in CODE_FOLDERS and path.suffix in suffixes:
            yield path


# ---- functions
# --------------------------------------------------------------------------------------

_NOT_CODE = re.compile(r"""
      /\* .*? \*/                             # comments
    | // [^\n]*
    | " (?: \\. | [^"\\\n] )* "               # strings, characters
    | ' (?: \\. | [^'\\\n] )* '
    | ^ [ \t]* \# (?: \\\n | [^\n] )*         # preprocessor lines, continued ones too
    """, re.DOTALL | re.MULTILINE | re.VERBOSE)
_ATTRIBUTE = re.compile(r"__attribute__\s*\(\(.*?\)\)", re.DOTALL)
_HEAD = re.compile(r"(\w+)\s*\(")


def _blanked(text):
    """The text with everything that is not code made blank, each character and line in its
    place."""
    return _NOT_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def _parameters(head):
    """How many parameters stand between the first parentheses of a function's head."""
    depth, commas, inside = 0, 0, ""
    for sign in head[head.index("("):]:
        depth += (sign == "(") - (sign == ")")
        if depth == 0:
            break
        commas += sign == "," and depth == 1
        inside += sign
    return 0 if inside[1:].strip() in ("", "void") else commas + 1


def c_functions(text):
    """The functions that a C text defines. Lines count from the head's first to the closing
    brace."""
    blank = _blanked(text)
    blank = re.sub(r'extern\s+\{', lambda found: " " * len(found[0]), blank)  # extern "C" {
    depth, head_at, opened = 0, 0, None
    for place, sign in enumerate(blank):
        if sign == "{":
            if depth == 0:
                head = _ATTRIBUTE.sub("", blank[head_at:place])
                name = _HEAD.search(head)
                opened = name and "=" not in head and (name[1], _parameters(head))
            depth += 1
        elif sign == "}":
            depth = max(0, depth - 1)  # the end of extern "C" has no begin left
            if depth == 0 and opened:
                first = head_at + len(blank[head_at:]) - len(blank[head_at:].lstrip())
                line = blank.count("\n", 0, first) + 1
                last = blank.count("\n", 0, place) + 1
                yield Function(opened[0], line, last - line + 1, opened[1])
            if depth == 0:
                head_at, opened = place + 1, None
        elif sign == ";" and depth == 0:
            head_at = place + 1


def python_functions(text):
    """The functions that a Python text defines, decorators left out. Only parameters that a call
    may give without a name count: the others name themselves there, as a test's are filled in by
    their names."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            names = [argument.arg for argument in node.args.posonlyargs + node.args.args]
            count = 0 if node.name.startswith("test_") else len(names) - (names[:1] in (["self"],
                                                                                        ["cls"]))
            yield Function(node.name, node.lineno, node.end_lineno - node.lineno + 1, count)


def functions(path, text):
    return python_functions(text) if path.suffix == ".py" else c_functions(text)
