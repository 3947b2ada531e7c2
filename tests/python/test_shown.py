# SPDX-License-Identifier: Apache-2.0
"""What a notebook shows: tables, reports, graphs; and that names in a trace stay text there."""
import base64
import html.parser
import json
import types

import pytest

HOSTILE = "<script>alert('1')</script><img src=x onerror=\"alert(2)\">&amp;"
ALLOWED = {"table", "tr", "th", "td", "pre", "p"}


class Seen(html.parser.HTMLParser):
    """The tags and the text of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.text = set(), [], ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.text += data


@pytest.fixture(name="trace")
def fixture_trace(tmp_path):
    """Operators with such a name, as another profiler writes them."""
    events = [{"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": 10 * at,
               "dur": 8, "args": {"Input Dims": HOSTILE, "note": HOSTILE}}
              for at, name in enumerate([HOSTILE, "aten::add", HOSTILE])]
    (tmp_path / "trace.json").write_text(json.dumps({"traceEvents": events}))
    return tmp_path / "trace.json"


@pytest.fixture(autouse=True)
def fixture_program(varve, monkeypatch):
    monkeypatch.setenv("VARVE", str(varve))
    monkeypatch.setenv("VARVE_READER_LIBRARY", str(varve.parent / "libvarve-reader.so"))


def check(page):
    seen = Seen(page)
    assert seen.tags <= ALLOWED and not seen.attributes
    assert HOSTILE in seen.text
    return seen.text


def test_a_table_is_a_list_that_shows_itself(module, trace):
    rows = module.table(trace, "operators")
    assert rows == list(rows) and isinstance(rows, list) and json.loads(json.dumps(rows)) == rows
    text = check(rows._repr_html_())
    assert "aten::add" in text and "8.000us" in text
    assert module.shown.table_html([]) == "<p>no rows</p>"
    many = module.shown.Rows({"name": str(number)} for number in range(100))
    assert "60 more rows" in many._repr_html_()


def test_a_report_is_the_command_s_text(module, trace):
    report = module.report(trace, top=1, by="name")
    assert report.startswith("TRACE") and repr(report) == str(report)
    assert HOSTILE in module.report(trace, table="operators", format="csv").replace('""', '"')
    page = module.report(trace, table="operators")._repr_html_()
    assert page.startswith("<pre>") and Seen(page).tags == {"pre"}
    with module.Trace(trace) as opened:
        assert Seen(opened._repr_html_()).tags == {"pre"}
    with pytest.raises(module.Error, match="nonsense"):
        module.report(trace, nonsense=1)


def test_averages_show_themselves(module):
    row = {"name": HOSTILE, "calls": 2, "self_ns": 16000, "total_ns": 16000, "shapes": HOSTILE}
    check(module.Averages([module.Average(row)], by_shape=True)._repr_html_())


def test_a_graph_is_an_image_in_which_nothing_runs(module, trace):
    pytest.importorskip("networkx", reason="needs NetworkX: make check-clients")
    graph = module.graph(trace)
    page = graph._repr_html_()
    seen = Seen(page)
    assert seen.tags == {"img"} and seen.text == ""
    (source, style), = [(dict(seen.attributes)["src"], dict(seen.attributes)["style"])]
    head, _, data = source.partition(",")
    assert head == "data:image/svg+xml;base64" and style == "max-width: 100%"
    assert b"<svg" in base64.b64decode(data) and b"<script" not in base64.b64decode(data)
    trace.unlink()
    check(graph._repr_html_())  # the nodes, where the trace is gone


def test_the_cell_magic_records_the_cell_alone(run):
    """IPython's part is played by exec: tests/live/test_notebook.py has a real kernel."""
    said = run("""
    import types, varve
    magics = {}
    ipython = types.SimpleNamespace(
        run_cell=lambda cell: exec(cell, {"varve": varve}),
        register_magic_function=lambda function, kind, name: magics.update({(kind, name): function}))
    varve.load_ipython_extension(ipython)
    magic = magics["cell", "varve"]
    with varve.record_function("before"):
        pass
    report = magic("--top 3", "with varve.record_function('inside'):\\n    pass\\n")
    print("inside" in report, "before" in report, report.profile.trace is not None)
    print(magic("", "1 + 1"))
    magic("-o kept.varve", "with varve.record_function('inside'):\\n    pass\\n")
    try:
        magic("-o", "pass")
    except varve.Error as error:
        print(error)
    print(varve.table("kept.varve", "operators", filter="name=='inside'")[0]["calls"])
    """)
    lines = said.splitlines()
    assert lines[0] == "True False True"
    assert lines[1].startswith("nothing was recorded") and "--collect +python" in lines[1]
    assert lines[2].startswith("%%varve: argument -o")
    assert lines[3] == "1"


def test_a_profile_says_what_it_is(run):
    assert run("""
    import varve
    prof = varve.profile()
    print(prof, prof._repr_html_())
    with prof, varve.record_function("a"):
        print(prof)
    print(prof, "<pre>TRACE" in prof._repr_html_())
    """) == ("<varve.profile: stopped, 0 windows recorded> None\n"
             "<varve.profile: running, 1 window recorded>\n"
             "<varve.profile: stopped, 1 window recorded> True\n")


def test_an_empty_table_says_what_would_be_in_it(run):
    said = run("""
    import varve
    with varve.profile() as prof:
        sum(range(10))
    print(prof.table())
    """)
    assert "No rows: no operator of PyTorch ran here" in said and 'collect="+python"' in said


def test_ipython_s_names_need_no_ipython(module):
    assert isinstance(module.load_ipython_extension, types.FunctionType)


def test_calls_of_the_module_itself_are_not_of_the_program(run):
    said = run("""
        import varve

        def work():
            return len([1, 2])

        with varve.profile(collect="+python") as prof:
            for number in range(4):
                work()
                prof.step()
        calls = {row.key: row.count for row in prof.key_averages()}
        print([name for name in calls if "varve" in name or "getpid" in name],
              calls["program.py(4): work"])
    """)
    assert said.splitlines()[-1] == "[] 4"
