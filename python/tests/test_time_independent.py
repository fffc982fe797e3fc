"""Time-independent traces of SimGrid: sizes, operations, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from deroute.cli import app
from deroute.trace.ops import Collective, Compute, Op, Send
from deroute.trace.places import Place
from deroute.trace.time_independent import TimeIndependentTrace


def trace(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["trace", *map(str, arguments)])


def read(folder: Path, *actions: str, init: str = "init", ranks: int = 3) -> list[list[Op]]:
    """What the ranks do, at 10^9 flops a second, if all have the same lines."""
    for rank in range(ranks):
        lines = (f"{rank} {action}\n" for action in (init, *actions, "finalize"))
        (folder / f"r{rank}.txt").write_text("".join(lines))
    opened = TimeIndependentTrace(Place(folder), 1e9)
    return [list(opened.program(rank)) for rank in range(ranks)]


@pytest.mark.parametrize(("init", "size"), [("init", 1), ("init 1", 8)])
def test_init_says_what_has_no_type(init: str, size: int, tmp_path: Path) -> None:
    """As SMPI has it: bytes, or doubles."""
    (ops, *_) = read(tmp_path, "send 1 0 1000", "send 1 0 1000 3", init=init)
    assert ops == [Send(1, 1000 * size), Send(1, 2000)]


def test_types_have_the_bytes_that_they_have_in_smpi(tmp_path: Path) -> None:
    (ops, *_) = read(tmp_path, *(f"send 1 0 1 {kind}" for kind in (0, 6, 26, 27, 28, 42, 44, 49)))
    assert [op.bytes for op in ops if isinstance(op, Send)] == [8, 1, 16, 32, 8, 8, 32, 16]


@pytest.mark.parametrize(
    ("action", "done"),
    [
        ("reduce 10 500 2 1", [Collective("reduce", root=2, bytes=(40,)), Compute(500)]),
        ("allReduce 10 500 1", [Collective("allreduce", bytes=(40,)), Compute(500)]),
        ("scan 10 500 1", [Collective("scan", bytes=(40,)), Compute(500)]),
        ("exscan 10 0 1", [Collective("exscan", bytes=(40,))]),
        (
            "reduceScatter 1 2 3 7e2 1",
            [Collective("reduce_scatter", bytes=(4, 8, 12)), Compute(700)],
        ),
        ("gatherV 2 1 2 3 1 1 6", [Collective("gatherv", root=1, bytes=(8,))]),
        ("gatherv 2 1 2 3", [Collective("gatherv", root=0, bytes=(2,))]),
        ("scatterV 1 2 3 8 1 1 6", [Collective("scatterv", root=1, bytes=(8,))]),
    ],
)
def test_collectives_are_read(action: str, done: Sequence[Op], tmp_path: Path) -> None:
    assert read(tmp_path, action) == [list(done)] * 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0 init\n0 send 1 0 5\n", ":2: there is no rank 1"),
        ("0 init\n1 send 0 0 5\n", "is not an action of rank 0"),
        ("0 init\n0 wait 0 0 5\n", "no request of this source"),
        ("0 init\n0 bcast 1 0 99\n", ":2: there is no type 99: there are 0 to 49"),
        ("0 init\n0 bcast 1 -1\n", "there is no rank -1 among 1"),
        ("0 init\n0 bcast -1\n", "-1 is no number of elements"),
        ("0 init\n0 allreduce 1\n", "`allreduce` lacks something"),
        ("0 init\n0 gatherv 1\n", "0 sizes for 1 ranks"),
        ("0 init\n0 compute many\n", "'many' is not a number"),
        ("0 init\n0 send\n", "`send` lacks something"),
        ("0 init\n0 dance\n", "there is no action `dance`"),
    ],
)
def test_what_is_wrong_in_a_time_independent_trace_is_told(
    text: str, words: str, tmp_path: Path
) -> None:
    (tmp_path / "r0.txt").write_text(text)
    result = trace("info", tmp_path)
    assert result.exit_code == 2, result.output
    assert words in result.output


def test_a_conversion_that_fails_leaves_nothing(tmp_path: Path) -> None:
    source, to, there = tmp_path / "source", tmp_path / "new" / "to", tmp_path / "there"
    source.mkdir()
    there.mkdir()
    read(source, "compute 5")
    bad = source / "r2.txt"
    bad.write_text("2 init\n2 dance\n")
    for folder in (to, there):
        result = trace("convert", source, "--into", "mpi-trace", "--to", folder)
        assert "there is no action `dance`" in result.output
    assert not to.exists()
    assert list(there.iterdir()) == []
    bad.write_text("2 init\n2 finalize\n")
    for folder in (to, there):
        assert trace("convert", source, "--into", "mpi-trace", "--to", folder).exit_code == 0
        assert sorted(file.name for file in folder.iterdir()) == [
            f"rank{rank}.txt" for rank in range(3)
        ]
