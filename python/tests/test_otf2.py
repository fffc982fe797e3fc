"""Traces in OTF2, written here with the same library."""

from __future__ import annotations

import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from deroute.cli import app
from deroute.errors import InputError
from deroute.trace import formats, otf2_trace
from deroute.trace.free import FreeNetwork
from deroute.trace.ops import Came, Collective, Compute, Exchange, Receive, Send, Wait
from deroute.trace.statistics import summary

otf2 = pytest.importorskip("otf2", reason="not tested: OTF2, for want of the package otf2")


@pytest.fixture
def anchor(tmp_path: Path) -> Path:
    """Two ranks: one sends and receives at once, waits, and both add up."""
    with otf2.writer.open(str(tmp_path / "run"), timer_resolution=10**9) as trace:
        make = trace.definitions
        node = make.system_tree_node("node")
        groups = [make.location_group(f"rank {i}", system_tree_parent=node) for i in range(2)]
        locations = [make.location(f"thread {i}", group=groups[i]) for i in range(2)]
        writers = [trace.event_writer_from_location(location) for location in locations]
        names = ("MPI_Isend", "MPI_Irecv", "MPI_Waitall", "MPI_Allreduce", "MPI_Sendrecv", "work")
        regions = {name: make.region(name) for name in names}
        mpi = {"paradigm": otf2.Paradigm.MPI, "members": locations}
        make.group("", group_type=otf2.GroupType.COMM_LOCATIONS, **mpi)
        world = make.group("", group_type=otf2.GroupType.COMM_GROUP, **mpi)
        comm = make.comm("MPI_COMM_WORLD", group=world)
        for rank, writer in enumerate(writers):
            _write(writer, 1 - rank, regions, comm)
    (found,) = tmp_path.rglob("*.otf2")
    return found


def _write(writer: Any, other: int, regions: dict[str, Any], comm: Any) -> None:
    writer.enter(0, regions["work"])
    writer.leave(1000, regions["work"])
    writer.enter(1000, regions["MPI_Irecv"])
    writer.mpi_irecv_request(1010, request_id=4)
    writer.leave(1020, regions["MPI_Irecv"])
    writer.enter(1050, regions["MPI_Isend"])
    writer.mpi_isend(1060, other, comm, 7, 512, request_id=5)
    writer.leave(1070, regions["MPI_Isend"])
    writer.enter(1570, regions["MPI_Waitall"])
    writer.mpi_isend_complete(1600, request_id=5)
    writer.mpi_irecv(1700, other, comm, 7, 512, request_id=4)
    writer.leave(1800, regions["MPI_Waitall"])
    writer.enter(1800, regions["MPI_Sendrecv"])
    writer.mpi_send(1810, other, comm, 8, 16)
    writer.mpi_recv(1820, other, comm, 8, 16)
    writer.leave(1830, regions["MPI_Sendrecv"])
    writer.enter(2030, regions["MPI_Allreduce"])
    writer.mpi_collective_begin(2040)
    writer.mpi_collective_end(2090, otf2.CollectiveOp.ALLREDUCE, comm, 0, 24, 24)
    writer.leave(2100, regions["MPI_Allreduce"])


def test_events_are_calls(anchor: Path) -> None:
    for path in (anchor, anchor.parent):
        name, opened = formats.open_trace(path)
        assert (name, opened.ranks) == ("otf2", 2)
    came = Came(1, 7, 512)
    assert list(opened.program(0)) == [
        Compute(1000),
        Receive(1, 512, 7, request=1),
        Compute(30),
        Send(1, 512, 7, request=2),
        Compute(500),
        Wait(((2, None), (1, came))),
        Compute(0),
        Exchange(Send(1, 16, 8), Receive(1, 16, 8, came=Came(1, 8, 16))),
        Compute(200),
        Collective("allreduce", bytes=(24,)),
    ]
    assert FreeNetwork(opened).run().ns == 1730


def test_what_is_broken_is_told_with_its_location_and_event(anchor: Path) -> None:
    (file,) = anchor.parent.rglob("1.evt")
    file.write_bytes(file.read_bytes()[:120] + b"\xff" * 20)
    _, opened = formats.open_trace(anchor)
    assert len(list(opened.program(0))) == 10
    with pytest.raises(InputError, match=r"location 1, event \d+: cannot be read: INVALID_DATA"):
        list(opened.program(1))


def test_a_collective_that_does_not_exist_is_told(anchor: Path) -> None:
    (file,) = anchor.parent.rglob("0.evt")
    content = file.read_bytes()
    # The kind, the communicator, the root, 24 bytes twice.
    known = bytes([otf2.CollectiveOp.ALLREDUCE.value, 0, 0])
    assert content.count(known + bytes([1, 24, 1, 24])) == 1
    file.write_bytes(
        content.replace(known + bytes([1, 24, 1, 24]), b"\xff" + known[1:] + bytes([1, 24, 1, 24]))
    )
    _, opened = formats.open_trace(anchor)
    with pytest.raises(InputError, match="location 0: MPI_Allreduce makes no sense"):
        list(opened.program(0))


def _damaged(anchor: Path, copy: str, suffixes: tuple[str, ...], data: st.DataObject) -> Path:
    """A copy of a trace, one file of which has up to three other bytes, and may be cut off."""
    folder = Path(copy) / "run"
    shutil.copytree(anchor.parent, folder)
    files = sorted(file for file in folder.rglob("*") if file.suffix in suffixes)
    file = data.draw(st.sampled_from(files))
    content = bytearray(file.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] = data.draw(st.integers(0, 255))
    file.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    return folder


def _read(folder: Path) -> None:
    with suppress(InputError):
        _, opened = formats.open_trace(folder)
        summary(opened)
        FreeNetwork(opened).run()


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_bytes_are_a_trace_or_an_error(anchor: Path, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as copy:
        _read(_damaged(anchor, copy, (".evt", ".def"), data))


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_bytes_are_an_anchor_or_an_error(anchor: Path, data: st.DataObject) -> None:
    with (
        pytest.MonkeyPatch.context() as patch,
        tempfile.TemporaryDirectory() as copy,
    ):
        patch.setattr(otf2_trace, "_PATIENCE_S", 2)
        _read(_damaged(anchor, copy, (".otf2",), data))


def _refusal(anchor: Path) -> str:
    result = CliRunner().invoke(app, ["trace", "info", str(anchor)])
    assert result.exit_code == 2, result.output
    assert f"{anchor.name}: cannot be read" in result.output
    return result.output


def test_a_damaged_anchor_is_told(anchor: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = anchor.read_bytes()
    for place in (4, 28):
        anchor.write_bytes(content[:place] + b"\x00" + content[place + 1 :])
        assert "INVALID" in _refusal(anchor)
    anchor.write_bytes(content)
    # What the library does with some of them.
    monkeypatch.setattr(otf2_trace, "_OPEN", "import os; os.abort()")
    assert "breaks down (signal 6)" in _refusal(anchor)
    monkeypatch.setattr(otf2_trace, "_OPEN", "import time; time.sleep(60)")
    monkeypatch.setattr(otf2_trace, "_PATIENCE_S", 0.5)
    assert "does not come to its end in 0.5 seconds" in _refusal(anchor)


def test_what_is_no_trace_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "run.otf2"
    file.write_bytes(b"nothing")
    result = CliRunner().invoke(app, ["trace", "info", str(file)])
    assert result.exit_code == 2
    assert "run.otf2: cannot be read" in result.output
    monkeypatch.setitem(sys.modules, "otf2", None)
    result = CliRunner().invoke(app, ["trace", "info", str(file)])
    assert "deroute[otf2]" in result.output
