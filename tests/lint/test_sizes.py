# SPDX-License-Identifier: Apache-2.0
"""Caps: 600 lines a file, 70 lines and 6 parameters a function (CONTRIBUTING.md)."""
import pathlib

import pytest
import sources

FILE_LINES = 600
FUNCTION_LINES = 70
PARAMETERS = 6


def too_long(path, text):
    """What in the text exceeds a cap, in words."""
    lines = text.count("\n") + (not text.endswith("\n"))
    if lines > FILE_LINES:
        yield f"{path}: {lines} lines, more than {FILE_LINES}"
    for function in sources.functions(pathlib.Path(path), text):
        where = f"{path}:{function.first_line}: {function.name}"
        if function.lines > FUNCTION_LINES:
            yield f"{where} has {function.lines} lines, more than {FUNCTION_LINES}"
        if function.parameters > PARAMETERS:
            yield f"{where} takes {function.parameters} parameters, more than {PARAMETERS}"


def test_every_file_keeps_the_caps():
    paths = list(sources.code(".c", ".h", ".py", ".cc", ".cpp"))
    assert len(paths) > 20
    found = [words for path in paths
             for words in too_long(str(path.relative_to(sources.ROOT)), sources.text_of(path))]
    assert not found, "\n".join(found)


C_SAMPLE = r'''/* A comment { with ( braces. */
#define OPENS {         \
    {
static const char *const words[] = { "f(", "}" };
struct pair { int (*call)(int, int); };
#ifdef __cplusplus
extern "C" {
#endif
int declared(int a);
static inline struct pair *short_one(void)
{
    return '{' == 0 ? 0 : 0; // }
}
__attribute__((format(printf, 1, 2)))
int long_one(int a, int (*b)(int, int), int c[2],
             int d, int e, int f, int g)
{
%s}
#ifdef __cplusplus
}
#endif
int last(int a) { return a; }
'''


def test_c_functions_are_found_where_they_are():
    found = list(sources.c_functions(C_SAMPLE % ("    a++;\n" * 67)))
    assert [tuple(function) for function in found] == [
        ("short_one", 10, 4, 0), ("long_one", 14, 72, 7), ("last", 89, 1, 1)]


PYTHON_SAMPLE = """x = 1
@x
def f(a, b=1, /, c=2, *, d=3):
    def g():
        pass
    return g

class C:
    def h(self, a): return a
"""


def test_python_functions_are_found_where_they_are():
    found = sorted(tuple(function) for function in sources.python_functions(PYTHON_SAMPLE))
    assert found == [("f", 3, 4, 3), ("g", 4, 2, 0), ("h", 9, 1, 1)]


@pytest.mark.parametrize("body_lines, complaints",
                         [(67, []), (68, ["a.c:1: f has 71 lines, more than 70"])])
def test_a_long_function_is_told(body_lines, complaints):
    text = "int f(void)\n{\n" + "    g();\n" * body_lines + "}\n"
    assert list(too_long("a.c", text)) == complaints


def test_a_seventh_parameter_is_told():
    six, seven = ("int a, int b, int c, int d, int e, int f",
                  "int a, int b, int c, int d, int e, int f, int g")
    assert list(too_long("a.c", f"int f({six})\n{{\n}}\n")) == []
    assert list(too_long(
        "a.c", f"int f({seven})\n{{\n}}\n")) == ["a.c:1: f takes 7 parameters, more than 6"]


def test_a_long_file_is_told():
    assert list(too_long("a.h", "\n" * 600)) == []
    assert list(too_long("a.h", "\n" * 601)) == ["a.h: 601 lines, more than 600"]
