# SPDX-License-Identifier: Apache-2.0
"""src/LAYERS: which room of src/ may use which, by #include and by call. No other edge, no unknown
room, no room with more than 32 files, no circle of rooms and none of files."""
import collections
import pathlib
import re
import subprocess

import pytest
import sources

LINE = re.compile(r"^([a-z/]+):((?: +[a-z/]+(?:/\*)?)*)$")
# include/varve is everybody's
INCLUDE = re.compile(r'^\s*#\s*include\s*"(?!varve/\w+\.h)([a-z/]+)/[^/">]+"', re.MULTILINE)
FILES_MAX = 32
PREFIX_FILES_MAX = 3


def read_layers(text):
    """{room: set of the rooms that it may use}"""
    rows = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert all(LINE.match(row) for row in rows), [row for row in rows if not LINE.match(row)]
    words = {row.partition(":")[0]: row.partition(":")[2].split() for row in rows}
    assert len(words) == len(rows)
    layers = {}
    for room, names in words.items():
        used = {name.removesuffix("/*") for name in names}
        used |= {other for other in words for name in names if name.endswith("/*")
                 and other.startswith(name[:-1])}
        layers[room] = used - {room}
    nobody = {used for uses in layers.values() for used in uses} - layers.keys()
    floors = {name[:-2] for names in words.values() for name in names if name.endswith("/*")}
    assert nobody <= floors, nobody
    return {room: uses - nobody for room, uses in layers.items()}


def circles(edges):
    """Sets of nodes that all lead to each other, of two or more: Tarjan's strongly connected
    components."""
    number, low, stack, on_stack, found = {}, {}, [], set(), []

    def visit(node):
        work = [(node, iter(sorted(edges.get(node, ()))))]
        number[node] = low[node] = len(number)
        stack.append(node)
        on_stack.add(node)
        while work:
            here, ways = work[-1]
            for way in ways:
                if way not in number:
                    number[way] = low[way] = len(number)
                    stack.append(way)
                    on_stack.add(way)
                    work.append((way, iter(sorted(edges.get(way, ())))))
                    break
                if way in on_stack:
                    low[here] = min(low[here], number[way])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[here])
                if low[here] == number[here]:
                    members = set()
                    while here not in members:
                        members.add(stack.pop())
                    on_stack.difference_update(members)
                    if len(members) > 1:
                        found.append(members)

    for node in sorted(edges):
        if node not in number:
            visit(node)
    return found


def layers_here():
    return read_layers((sources.ROOT / "src" / "LAYERS").read_text())


def files_of_src():
    """{room: names of its C files and headers}"""
    rooms = collections.defaultdict(list)
    for path in sources.code(".c", ".h"):
        relative = path.relative_to(sources.ROOT)
        if relative.parts[0] == "src":
            rooms[str(relative.parent.relative_to("src"))].append(relative.name)
    return rooms


def calls_of(rooms):
    """{file: {file that defines what it needs}}, as the linker sees {archive or object: room}."""
    defined, needed = {}, collections.defaultdict(set)
    for path, room in rooms.items():
        listing = subprocess.run(["nm", "-A", path], capture_output=True, text=True,
                                 check=True).stdout
        for line in listing.splitlines():
            words = line.split()
            file = f"{room}/{pathlib.Path(words[0].split(':')[-2]).name.removesuffix('.c.o')}"
            if words[-2] == "U":
                needed[file].add(words[-1])
            elif words[-2] in "TDBRVW":
                defined[words[-1]] = file
    if not defined:
        pytest.skip("needs the built archives and libraries: make tests")
    return {file: {defined[name] for name in used if name in defined} - {file}
            for file, used in needed.items()}


@pytest.fixture(scope="module")
def calls():
    archives = {sources.BUILD / "archives" / f"libvv_{room.replace('/', '_')}.a": room
                for room in layers_here()}
    return calls_of({path: room for path, room in archives.items() if path.exists()})


def room_of(file):
    return str(pathlib.PurePath(file).parent)


def test_every_room_is_named_and_has_its_size():
    layers, rooms = layers_here(), files_of_src()
    assert rooms.keys() - layers.keys() == set() and layers.keys() - rooms.keys() == set()
    crowded = {room: len(files) for room, files in rooms.items() if len(files) > FILES_MAX}
    assert crowded == {}


def test_no_prefix_stands_for_a_room():
    """Four sources whose names begin with one word want a folder of that name. Verbs have one each
    in cli/."""
    found = {}
    for room, files in files_of_src().items():
        first = collections.Counter(pathlib.Path(name).stem.split("_")[0] for name in files
                                    if name.endswith(".c"))
        found |= {f"{room}/{word}_*": count for word, count in first.items()
                  if count > PREFIX_FILES_MAX}
    del found["cli/cmd_*"]
    assert found == {}


def test_layers_form_no_circle():
    assert circles(layers_here()) == []
    edges = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}, "e": {"f"}, "f": {"e"}}
    assert sorted(map(sorted, circles(edges))) == [["a", "b", "c"], ["e", "f"]]


def forbidden(layers, room, text):
    """The rooms that a file in `room` includes and may not."""
    return sorted({used for used in INCLUDE.findall(text) if used != room
                   and used not in layers[room]})


def test_only_allowed_rooms_are_included():
    layers, found, edges = layers_here(), [], 0
    for room, files in files_of_src().items():
        for name in files:
            text = (sources.ROOT / "src" / room / name).read_text()
            edges += len(INCLUDE.findall(text))
            found += [f"{room}/{name} includes {used}/" for used in forbidden(layers, room, text)]
    assert not found, "\n".join(found)
    assert edges > 500


def test_only_allowed_rooms_are_called(calls):
    layers = layers_here()
    found = [f"{file} needs {used}" for file, uses in calls.items() for used in uses
             if room_of(used) != room_of(file) and room_of(used) not in layers[room_of(file)]]
    assert not found, "\n".join(sorted(found))
    assert sum(map(len, calls.values())) > 1000


def test_no_edge_is_allowed_in_vain(calls):
    """Where a line names a room, somebody includes or calls it; of "room/*", one of its rooms."""
    used = collections.defaultdict(set)
    for room, files in files_of_src().items():
        for name in files:
            used[room].update(INCLUDE.findall((sources.ROOT / "src" / room / name).read_text()))
    for file, uses in calls.items():
        used[room_of(file)].update(map(room_of, uses))
    vain = []
    for line in (sources.ROOT / "src" / "LAYERS").read_text().splitlines():
        room, _, words = line.partition(":")
        for word in words.split() if not line.startswith("#") else ():
            name = word.removesuffix("/*")
            if not any(other == name or word != name and other.startswith(name + "/")
                       for other in used[room]):
                vain.append(f"{room}: {word}")
    assert vain == []


def test_no_circle_of_files(calls):
    assert [sorted(circle) for circle in circles(calls)] == []


@pytest.mark.parametrize("library", ["profapi", "msprofiler"])
def test_no_circle_of_files_in_a_library_of_compat(library):
    objects = (sources.BUILD / "CMakeFiles" / f"{library}.dir" / "compat").rglob("*.o")
    edges = calls_of({path: path.parent.name for path in objects})
    assert [sorted(circle) for circle in circles(edges)] == []
    assert sum(map(len, edges.values())) > 5


def test_a_forbidden_edge_is_told():
    layers = read_layers("base:\nbase/text: base\nmodel: base/*\ncli: model base\n")
    assert layers == {"base": set(), "base/text": {"base"}, "model": {"base", "base/text"},
                      "cli": {"model", "base"}}
    text = ('#include <sys/stat.h>\n#include "base/error.h"\n  # include "cli/a.h"\n#include '
            '"base/text/json.h"\n')
    assert forbidden(layers, "model", text) == ["cli"]
    assert forbidden(layers, "cli", text) == ["base/text"]
    assert forbidden(layers, "base", '#include "model/table.h"\n') == ["model"]


def test_the_page_has_a_line_for_each_folder_once():
    text = (sources.ROOT / "doc" / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"^((?:src/)?[a-z]+/)  ", text, re.MULTILINE)
    assert sorted(named) == sorted(set(named))
    folders = {f"src/{path.name}/" for path in (sources.ROOT / "src").iterdir() if path.is_dir()}
    assert folders <= set(named)
