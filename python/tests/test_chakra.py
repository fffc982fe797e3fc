"""Graphs of Chakra: read whatever kind of number they have, and written as GOAL."""

from __future__ import annotations

import json
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

import deroute
from conftest import ROOT
from deroute.cli import app
from deroute.errors import InputError
from deroute.trace import formats
from deroute.trace.chakra import ChakraTrace
from deroute.trace.ops import Collective, Communicator, Compute, Receive, Send
from deroute.trace.places import Place

NOTHING, LOAD, STORE, COMPUTE, SEND, RECEIVE, COLLECTIVE = range(1, 8)
#: Fields of numbers in attributes: int32, int64, uint64, sint64.
INT32, INT64, UINT64, SINT64 = 7, 9, 13, 17


def varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def field(number: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def node(number: int, kind: int, needs: list[int], *rest: bytes, us: int = 0) -> bytes:
    """A message with its length; what a node needs is packed."""
    parts = [field(1, number), field(3, kind), *rest]
    if needs:
        parts.append(field(5, b"".join(map(varint, needs))))
    if us:
        parts.append(field(7, us))
    content = b"".join(parts)
    return varint(len(content)) + content


def attribute(name: str, value: int | str, number: int = INT64) -> bytes:
    encoded: int | bytes = value.encode() if isinstance(value, str) else value
    if isinstance(value, int) and number == SINT64:
        encoded = 2 * value
    return field(
        10, field(1, name.encode()) + field(29 if isinstance(value, str) else number, encoded)
    )


HEAD = varint(2) + field(1, 0)


@pytest.fixture
def stage(tmp_path: Path) -> Path:
    """Two ranks of three: one computes, then sends; all add up, two of them more."""
    size = attribute("comm_size", 24, UINT64)
    named = attribute("pg_name", "1")
    files = [
        HEAD
        + node(5, COMPUTE, [], attribute("num_ops", 2000, SINT64))
        + node(2, SEND, [5], size, attribute("comm_dst", 1, INT32), attribute("comm_tag", 7, INT32))
        + node(9, COLLECTIVE, [2], attribute("comm_type", 0), size),
        HEAD
        + node(0, RECEIVE, [], size, attribute("comm_src", 0), attribute("comm_tag", 7))
        + node(1, COLLECTIVE, [0], attribute("comm_type", 0), size)
        + node(2, COLLECTIVE, [1], attribute("comm_type", 2), size, named),
        HEAD
        + node(0, COLLECTIVE, [1], attribute("comm_type", 0), size)
        + node(1, COMPUTE, [], us=3)
        + node(2, COLLECTIVE, [0], attribute("comm_type", 2), size, named),
    ]
    for rank, content in enumerate(files):
        (tmp_path / f"step.{rank}.et").write_bytes(content)
    (tmp_path / "groups.json").write_text('{"1": [2, 1]}')
    return tmp_path


def test_graphs_are_read(stage: Path) -> None:
    name, opened = formats.open_trace(stage)
    assert (name, opened.ranks) == ("chakra", 3)
    opened = ChakraTrace(Place(stage), stage / "groups.json", 1e9)
    assert list(opened.program(0)) == [
        Compute(2000),
        Send(1, 24, 7),
        Collective("allreduce", bytes=(24,)),
    ]
    assert list(opened.program(1)) == [
        Communicator(1, (2, 1)),
        Receive(0, 24, 7),
        Collective("allreduce", bytes=(24,)),
        Collective("allgather", 1, bytes=(24,)),
    ]
    assert list(opened.program(2))[2] == Compute(3000)


def trace(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["trace", *map(str, arguments)])


def test_graphs_become_goal(stage: Path) -> None:
    to = stage / "step.goal"
    options = ("--groups", stage / "groups.json", "--flops", "1e9")
    result = trace("convert", stage, "--to", to, *options)
    assert result.exit_code == 0, result.output
    text = to.read_text()
    assert "n5: calc 2000 cpu 0\nn2: send 24b to 1 tag 7\n" in text
    assert "n2 requires n5\n" in text
    # The last rank's all-reduce stands before the computation that it needs.
    assert "n0m1 requires n1\n" in text.partition("rank 2")[2]
    found = json.loads(trace("info", to, "--json").stdout)
    # A message, an all-reduce of three, an all-gather of two.
    assert found["messages"] == 1 + 4 + 2
    assert found["unmatched"] == []
    assert (
        "graphs become graphs" in trace("convert", stage, "--to", "x", "--into", "mpi-trace").output
    )


def ends(file: Path) -> int:
    """Nanoseconds that a job takes which replays a trace."""
    spec = {
        "units": {"cycle": "1 ns", "phit": "1 B"},
        "network": {
            "topology": {"crossbar": {"hosts": 3}},
            "nic": {"injection_queue": "64 KB"},
            "switch": {"output_queued": {"pipeline": "1000 ns"}},
        },
        "routing": {"minimal": {}},
        "workload": {
            "packet_size": "1000 B",
            "limit": "1 s",
            "jobs": [{"name": "job", "trace": {"file": str(file)}}],
        },
    }
    workload = deroute.simulate(spec).workload
    assert workload is not None
    return workload.makespan


def test_a_graph_takes_as_long_in_goal(tmp_path: Path) -> None:
    """Memory takes time, and nobody waits for a processor but what runs on it."""
    on_cpu, folder, to = attribute("is_cpu_op", 1), tmp_path / "graph", tmp_path / "graph.goal"
    reduce = (attribute("comm_type", 1), attribute("comm_size", 500), attribute("root", 2))
    nodes = [
        node(1, LOAD, [], on_cpu, us=30),
        node(2, COMPUTE, [], us=40),
        node(3, STORE, [1], on_cpu, us=20),
        node(4, NOTHING, [1]),
        node(5, COLLECTIVE, [4], *reduce),
        node(6, COMPUTE, [5], on_cpu, us=9),
    ]
    folder.mkdir()
    for rank in range(3):
        (folder / f"step.{rank}.et").write_bytes(HEAD + b"".join(nodes))
    assert trace("convert", folder, "--to", to).exit_code == 0
    text = to.read_text()
    assert "n1: calc 30000 cpu 1\nn2: calc 40000 cpu 0\nn3: calc 20000 cpu 1\n" in text
    # The root sends nothing.
    assert " send " not in text.partition("rank 2")[2]
    assert ends(folder) == ends(to) == 59_000


def test_a_rank_with_an_empty_file_does_nothing(tmp_path: Path) -> None:
    (tmp_path / "step.0.et").write_bytes(HEAD + node(1, COMPUTE, [], us=5))
    (tmp_path / "step.1.et").write_bytes(b"")
    result = trace("info", tmp_path, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["compute_ns"] == {"least": 0, "mean": 2500, "most": 5000}


def test_a_root_is_a_member(stage: Path) -> None:
    size, named = attribute("comm_size", 8), attribute("pg_name", "1")
    bcast = (attribute("comm_type", 5), size, named, attribute("root", 0))
    (stage / "step.1.et").write_bytes(HEAD + node(1, COLLECTIVE, [], *bcast))
    result = trace("info", stage, "--groups", stage / "groups.json")
    assert "node 1: root 0 is not in the group" in result.output


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (HEAD + b"\x05\x01", "step.0.et: byte 4: the file ends within a node"),
        (HEAD + node(1, COMPUTE, []) * 2, "there are two nodes 1"),
        (HEAD + node(1, SEND, [], attribute("comm_dst", 9)), "comm_dst 9 is not from 0 to 2"),
        (HEAD + node(1, COLLECTIVE, [], attribute("comm_type", 12)), "comm_type 12 is not"),
        (b"\xff" * 12, "a number of more than 10 bytes"),
    ],
)
def test_what_is_wrong_is_told_with_its_byte(content: bytes, words: str, stage: Path) -> None:
    (stage / "step.0.et").write_bytes(content)
    result = trace("info", stage)
    assert result.exit_code == 2, result.output
    assert words in result.output


def test_operations_take_a_time_that_is_known(stage: Path) -> None:
    """A trace that is written needs it, as in a job; who only looks is told."""
    to = stage / "step.goal"
    result = trace("convert", stage, "--to", to, "--groups", stage / "groups.json")
    assert result.exit_code == 2, result.output
    # Behind the head.
    assert "step.0.et: byte 3: node 5: operations take no time that is known" in result.output
    assert "--flops" in result.output
    assert not to.exists()
    (stage / "step.1.et").write_bytes(HEAD + node(1, COMPUTE, [], attribute("num_ops", 7), us=2))
    (stage / "step.2.et").write_bytes(HEAD + node(1, COMPUTE, [], attribute("num_ops", 0)))
    result = trace("info", stage)
    assert result.exit_code == 0, result.output
    # Neither what has a duration nor what has no operations.
    assert "1 computations only count operations" in result.stderr


def test_info_takes_operations_and_groups(stage: Path) -> None:
    result = trace("info", stage, "--json", "--flops", "1e9", "--groups", stage / "groups.json")
    assert result.exit_code == 0, result.output
    assert "only count operations" not in result.stderr
    found = json.loads(result.stdout)
    assert (found["communicators"], found["compute_ns"]["most"]) == (2, 3000)
    assert found["compute_ns"]["mean"] == (2000 + 3000) / 3
    assert "--flops: 0 is no number above 0" in trace("info", stage, "--flops", "0").output
    for option in ("--flops", "--groups"):
        refused = trace("info", MELT, option, "1")
        assert refused.exit_code == 2
        assert f"{option}: a trace of mpi-trace" in refused.output
        assert "chakra" in refused.output


def test_groups_are_in_a_file_of_their_own(stage: Path) -> None:
    """Without it nobody knows who takes part: that need not be everybody."""
    (stage / "step.0.et").write_bytes(HEAD)
    to = stage / "step.goal"
    for arguments in (("info", stage), ("convert", stage, "--to", to, "--flops", "1e9")):
        result = trace(*arguments)
        assert result.exit_code == 2, result.output
        assert "step.1.et: byte " in result.output
        assert "node 2: group '1': groups are in a file of their own: `--groups`" in result.output
    assert not to.exists()


def test_what_is_wrong_with_groups_and_needs_is_told(stage: Path) -> None:
    groups = stage / "groups.json"
    to = stage / "step.goal"
    for text, words in (
        ("[1", "cannot be read"),
        ("[1]", "is no table of groups"),
        ('{"1": [1, 1]}', "no list of different ranks"),
        ('{"1": [1, 3]}', "ranks that are not below 3"),
        ('{"2": [1, 2]}', "there is no group '1'"),
        ('{"1": [0, 1]}', "rank 2 is not in group '1'"),
    ):
        groups.write_text(text)
        result = trace("convert", stage, "--to", to, "--groups", groups, "--flops", "1e9")
        assert result.exit_code == 2, result.output
        assert words in result.output
    (stage / "step.1.et").unlink()
    assert "has nothing of rank 1 of 2" in trace("info", stage).output


TRACES = ROOT / "crates/deroute/tests/data/traces"
PYTORCH, MELT = TRACES / "chakra/pytorch.0.et.gz", TRACES / "mpi-trace/lammps-melt-16.tar.gz"


def test_what_an_observer_of_pytorch_leaves_out(tmp_path: Path) -> None:
    result = trace("info", PYTORCH, "--json")
    assert result.exit_code == 0, result.output
    assert "1,277 needs name nodes that are not there" in result.stderr
    found = json.loads(result.stdout)
    assert (found["ranks"], found["calls"]) == (1, 7)
    assert {kind: each["calls"] for kind, each in found["collectives"].items()} == {
        "allreduce": 5,
        "bcast": 2,
    }
    # Computations, and the calls around the collectives.
    assert found["compute_ns"]["most"] == 1000 * (292_828 + 50_941 + 1_311)
    to = tmp_path / "step.goal"
    result = trace("convert", PYTORCH, "--to", to)
    assert result.exit_code == 0, result.output
    assert "1,277 needs" in result.stderr
    assert json.loads(trace("info", to, "--json").stdout)["compute_ns"] == found["compute_ns"]


def test_a_graph_without_a_rank_in_its_name_is_told(tmp_path: Path) -> None:
    file = tmp_path / "pytorch-rank0.et.gz"
    file.write_bytes(PYTORCH.read_bytes())
    assert "has no graph PREFIX.R.et" in trace("info", file).output


@given(st.binary(max_size=80))
def test_any_bytes_are_a_graph_or_an_error(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "step.0.et").write_bytes(HEAD + content)
        opened = ChakraTrace(Place(Path(folder)))
        with suppress(InputError):
            list(opened.program(0))
