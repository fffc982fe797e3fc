"""Dimemas and compiled GOAL: read, converted, and refused with the place of what is wrong."""

from __future__ import annotations

import json
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from conftest import ROOT
from deroute.cli import app
from deroute.errors import InputError
from deroute.trace import formats
from deroute.trace.free import FreeNetwork
from deroute.trace.ops import Collective, Communicator, Compute, Op, Receive, Send, Wait
from deroute.trace.statistics import summary

TRACES = ROOT / "crates/deroute/tests/data/traces"


def trace(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["trace", *map(str, arguments)])


def info(path: Path) -> dict[str, object]:
    result = trace("info", path, "--json")
    assert result.exit_code == 0, result.output
    found: dict[str, object] = json.loads(result.stdout)
    return found


@pytest.mark.parametrize("name", ["one", "allreduce-ring-8"])
def test_a_compiled_graph_is_that_of_its_text(name: str, tmp_path: Path) -> None:
    compiled, text = TRACES / f"goal/{name}.bin", TRACES / f"goal/{name}.goal"
    found = info(compiled)
    assert found["format"] == "goal-binary"
    assert found | {"format": "goal"} == info(text)
    to = tmp_path / "again.goal"
    assert trace("convert", compiled, "--to", to).exit_code == 0
    assert info(to) == info(text)
    # As many nodes need another one.
    assert to.read_text().count(" requires ") == text.read_text().count(" requires ")
    refused = trace("convert", compiled, "--to", tmp_path / "x", "--into", "mpi-trace")
    assert "graphs become graphs" in refused.output


RECORDS = """#DIMEMAS:"x":1,00000000000000000143:3(1,1,1),2
d:1:1:3:0:1:2
d:1:7:2:2:0
1:0:0:0.000002500
2:0:0:2:-1:64:5:7:3
3:2:0:0:-1:64:5:7:1
10:2:0:1:7:1:0:40:0:0
3:2:0:0:-1:64:5:7:2
10:0:0:1:7:0:0:0:40:0
2:1:0:1:-1:8:0:99:0
3:1:0:-1:-1:8:-1:99:0
20:1:0:5:5
10:0:0:11:1:0:0:8:8:0
s:0:57
"""


def test_records_are_calls(tmp_path: Path) -> None:
    file = tmp_path / "three.dim"
    file.write_text(RECORDS)
    name, opened = formats.open_trace(file)
    assert (name, opened.ranks) == ("dimemas", 3)
    group: Op = Communicator(8, (2, 0))
    # Rank 2 is the root: its record says so.
    bcast: Op = Collective("bcast", 8, 2, (40,))
    assert [list(opened.program(rank)) for rank in range(3)] == [
        [
            Compute(2500),
            group,
            Send(2, 64, 5, 8, 1, "s"),
            bcast,
            Collective("allreduce", bytes=(8,)),
        ],
        [Send(1, 8), Receive(-1, 8, -1)],
        [group, Receive(0, 64, 5, 8, 1), bcast, Wait(((1, None),))],
    ]


def test_an_all_to_all_says_one_block_or_all(tmp_path: Path) -> None:
    """Extrae has one block as sent; as received one in old versions, all in new ones."""
    sizes = ((8, 30, 30), (8, 30, 90), (9, 90, 90))
    calls = [
        f"10:{task}:0:{kind}:1:0:0:{sent}:{got}:0" for task in range(3) for kind, sent, got in sizes
    ]
    file = tmp_path / "three.dim"
    file.write_text("\n".join([*RECORDS.splitlines()[:2], *calls]) + "\n")
    _, opened = formats.open_trace(file)
    one: Op = Collective("alltoall", bytes=(30,))
    assert list(opened.program(2)) == [one, one, Collective("alltoallv", bytes=(30,) * 3)]


def test_epoch_becomes_other_formats(tmp_path: Path) -> None:
    file = TRACES / "dim/epoch-4.dim.gz"
    found = info(file)
    assert (found["format"], found["ranks"], found["unmatched"]) == ("dimemas", 4, [])
    assert trace("convert", file, "--into", "mpi-trace", "--to", tmp_path / "epoch").exit_code == 0
    assert info(tmp_path / "epoch") == found | {"format": "mpi-trace"}
    assert trace("convert", file, "--to", tmp_path / "epoch.goal").exit_code == 0


HEADER = '#DIMEMAS:"x":1,0:2(1,1),0\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("#DIMEMAS:x\n", ":1: is not #DIMEMAS"),
        ('#DIMEMAS:"x":1,0:1000000000(1),0\n', ":1: 1000000000 ranks; there may be"),
        (HEADER + "77:0\n", ":2: '77' is no kind of record"),
        (HEADER + "1:9:0:0.1\n", ":2: there is no rank 9: there are 2"),
        (HEADER + "1:0:0:NaN\n", ":2: nan ns is no time"),
        (HEADER + "1:0:0\n", ":2: '' is no time"),
        (HEADER + "2:0:0:1\n", ":2: field 6 is missing"),
        (HEADER + "3:0:0:1:-1:8:0:1:2\n", ":2: waits for a receive that was not begun"),
        (HEADER + "10:0:0:1:1:0:0:1:1\n", ":2: there is no communicator 1 so far"),
        (HEADER + "d:1:1:2:0\n", ":2: 1 members of 2"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "bad.dim"
    file.write_text(text)
    result = trace("info", file)
    assert result.exit_code == 2, result.output
    assert words in result.output


@pytest.mark.parametrize(
    ("at", "content", "words"),
    [
        (8, b"\xff\xff\xff\xff", "byte 8: 4294967295 ranks; there may be"),
        (20, b"", "byte 20: the file ends here"),
        (14, b"\xff" * 8, "the file ends here"),
    ],
)
def test_what_is_wrong_is_told_with_its_byte(
    at: int, content: bytes, words: str, tmp_path: Path
) -> None:
    good = (TRACES / "goal/one.bin").read_bytes()
    file = tmp_path / "bad.bin"
    file.write_bytes(good[:at] + content + (good[at + len(content) :] if content else b""))
    result = trace("info", file)
    assert result.exit_code == 2, result.output
    assert words in result.output


def test_what_only_a_job_replays_is_told() -> None:
    for file, name in (("prv/epoch-4.prv.gz", "Paraver"), ("dumpi", "DUMPI")):
        output = trace("info", TRACES / file).output
        assert f"is a trace of {name}: a job replays it" in output


@settings(max_examples=150)
@given(data=st.data(), name=st.sampled_from(["dim/one.dim", "goal/allreduce-ring-8.bin"]))
def test_any_bytes_are_a_trace_or_an_error(data: st.DataObject, name: str) -> None:
    content = bytearray((TRACES / name).read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(8, len(content) - 1))
        content[place] = data.draw(st.integers(0, 255))
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "trace").write_bytes(content[: data.draw(st.integers(8, len(content)))])
        with suppress(InputError):
            found, opened = formats.open_trace(Path(folder))
            summary(opened)
            if formats.CATALOGUE[found].in_order:
                FreeNetwork(opened).run()
