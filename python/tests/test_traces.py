"""Traces read, described, converted, scaled; and what is wrong with them."""

from __future__ import annotations

import json
import tarfile
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from typer.testing import CliRunner, Result

from deroute.cli import app
from deroute.errors import InputError
from deroute.trace import formats, picture, rounds, writing
from deroute.trace.free import FreeNetwork
from deroute.trace.ops import (
    COLLECTIVES,
    Came,
    Collective,
    Communicator,
    Compute,
    Exchange,
    Free,
    Lists,
    Op,
    Receive,
    Send,
    Wait,
)
from deroute.trace.statistics import summary

#: A pipeline of three ranks that ends with everybody's sum; rank 1 takes whatever comes.
PIPELINE: list[list[Op]] = [
    [Compute(500), Send(1, 1000, 7), Collective("allreduce", bytes=(8,))],
    [
        Receive(-1, 4096, -1, request=3),
        Compute(100),
        Wait(((3, Came(0, 7, 1000)),)),
        Communicator(9, (2, 1)),
        Compute(250),
        Send(2, 0, 1, comm=9, request=4),
        Wait(((4, None),), "waitany"),
        Collective("allreduce", bytes=(8,)),
    ],
    [
        Communicator(9, (2, 1)),
        Receive(1, 64, 1, comm=9, came=Came(1, 1, 0)),
        Free(9),
        Compute(20),
        Collective("allreduce", bytes=(8,), request=1),
        Wait(((1, None),)),
    ],
]

SUM: Op = Collective("allreduce", 9, bytes=(8,))


def trace(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["trace", *map(str, arguments)])


@pytest.fixture
def pipeline(tmp_path: Path) -> Path:
    folder = tmp_path / "pipeline"
    writing.write(Lists(PIPELINE), folder)
    return folder


def programs(path: Path) -> list[list[Op]]:
    _, opened = formats.open_trace(path)
    return [list(opened.program(rank)) for rank in range(opened.ranks)]


def test_a_trace_is_read_as_it_was_written(pipeline: Path, tmp_path: Path) -> None:
    assert programs(pipeline) == PIPELINE
    archive = tmp_path / "pipeline.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(pipeline, "inner")
    assert programs(archive) == PIPELINE
    lines = (pipeline / "rank1.txt").read_text().splitlines()
    assert lines[2] == "0 0 irecv -1 4096 -1 0 3"
    assert lines[3] == "100 0 wait 3<0,7,1000"
    assert lines[4:6] == ["comm 9 2,1", "250 0 isend 2 0 1 9 4"]


def test_info_counts_and_follows_the_critical_path(pipeline: Path, tmp_path: Path) -> None:
    result = trace(
        "info",
        pipeline,
        "--json",
        "--matrix",
        tmp_path / "matrix.svg",
        "--timeline",
        tmp_path / "time.svg",
    )
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert (found["format"], found["ranks"], found["communicators"]) == ("mpi-trace", 3, 2)
    assert (found["messages"], found["bytes"]) == (2, 1000)
    assert found["sizes"] == [[0, 1], [1000, 1]]
    assert found["collectives"] == {"allreduce": {"calls": 3, "bytes": 24}}
    assert found["unmatched"] == []
    # 500 on rank 0, 250 on rank 1, 20 on rank 2.
    assert found["free_network"]["ns"] == 770
    assert found["free_network"]["ns_of_ranks"] == [[0, 500], [1, 250], [2, 20]]
    assert "$" not in (tmp_path / "matrix.svg").read_text()
    assert "critical path" in (tmp_path / "time.svg").read_text()
    assert "is no picture" in trace("info", pipeline, "--timeline", tmp_path / "time.txt").output
    words = trace("info", pipeline).stdout
    assert "2 with 1,000 B" in words
    assert "0.001 ms" in words


def test_ranks_of_pictures_are_whole_numbers(
    pipeline: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Figure] = []
    monkeypatch.setattr(picture, "save", lambda figure, stem, _: drawn.append(figure) or [stem])
    files = ("--matrix", tmp_path / "matrix.png", "--timeline", tmp_path / "time.png")
    assert trace("info", pipeline, *files).exit_code == 0
    (matrix, *_), (timeline, *_) = (figure.axes for figure in drawn)
    ticks = [*matrix.get_xticks(), *matrix.get_yticks(), *timeline.get_yticks()]
    assert all(tick == int(tick) for tick in ticks)


def test_what_is_not_matched_is_named() -> None:
    found = summary(Lists([[Send(1, 8, 3), Send(1, 8, 3)], [Receive(0, 8, 3), Receive(0, 8, 4)]]))
    assert found.unmatched == {(0, 1, 3, 0): 1, (0, 1, 4, 0): -1}


@pytest.mark.parametrize(
    ("listed", "words"),
    [
        ([[Receive(1, 8)], [Receive(0, 8)]], ["rank 0 waits in recv", "message 1 of rank 1"]),
        (
            [[Collective("barrier")], []],
            ["rank 0 waits in barrier", "the other members of communicator 0"],
        ),
        (
            [[Collective("barrier")], [Collective("bcast", root=0, bytes=(8,))]],
            ["bcast from rank 0 where rank 0 has barrier"],
        ),
        ([[Receive(-1, 8)], [Send(0, 8)]], ["takes whatever comes"]),
    ],
)
def test_programs_that_cannot_go_on_are_told(listed: list[list[Op]], words: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        FreeNetwork(Lists(listed)).run()
    assert all(word in str(caught.value) for word in words)


def test_a_wait_ends_with_the_message_and_no_earlier() -> None:
    send = [Compute(90), Send(1, 8)]
    overlap: list[Op] = [Receive(0, 8, request=0), Compute(100), Wait(((0, None),))]
    wait: list[Op] = [Receive(0, 8), Compute(100)]
    assert FreeNetwork(Lists([send, overlap])).run().ends_ns == [90, 100]
    assert FreeNetwork(Lists([send, wait])).run().ends_ns == [90, 190]
    exchange: list[Op] = [Exchange(Send(0, 8), Receive(0, 8)), Compute(100)]
    assert FreeNetwork(Lists([[*send, Receive(1, 8)], exchange])).run().ends_ns == [90, 190]


def test_a_receive_of_whatever_comes_has_its_turn_when_it_begins() -> None:
    came, late = Came(1, 5, 8), Compute(900)
    wanted: list[Op] = [Receive(-1, 8, 5, request=0), Receive(1, 8, 5, request=1)]
    waits: list[Op] = [Wait(((0, came),)), late, Wait(((1, came),))]
    sends: list[Op] = [Send(0, 8, 5), late, Send(0, 8, 5)]
    assert FreeNetwork(Lists([wanted + waits, sends])).run().ends_ns == [900, 900]


@pytest.mark.parametrize("kind", ["scan", "exscan"])
def test_members_of_a_scan_wait_for_those_before_them(kind: str) -> None:
    group: Op = Communicator(7, (2, 0, 1))
    scan: Op = Collective(kind, 7, bytes=(8,))
    for busy, ends in (((50, 70, 20), [50, 70, 20]), ((50, 10, 20), [50, 50, 20])):
        programs: list[list[Op]] = [[group, Compute(ns), scan] for ns in busy]
        assert FreeNetwork(Lists(programs)).run().ends_ns == ends


#: A number for disjoint communicators, and for two after each other that share a rank.
SAME_NUMBER: list[list[Op]] = [
    [Communicator(9, (0, 1)), SUM, Free(9), Communicator(9, (0, 3)), Compute(8), SUM],
    [Communicator(9, (0, 1)), SUM],
    [Communicator(9, (2,)), SUM, Compute(30)],
    [Communicator(9, (0, 3)), SUM],
]


def test_communicators_with_one_number_are_told_apart_by_their_members(tmp_path: Path) -> None:
    assert FreeNetwork(Lists(SAME_NUMBER)).run().ends_ns == [8, 0, 30, 8]
    assert summary(Lists(SAME_NUMBER)).communicators == 4
    writing.write(Lists(SAME_NUMBER), tmp_path / "same")
    assert trace("convert", tmp_path / "same", "--to", tmp_path / "same.goal").exit_code == 0
    found = json.loads(trace("info", tmp_path / "same.goal", "--json").stdout)
    assert (found["messages"], found["unmatched"]) == (4, [])


def test_a_timeline_has_all_that_is_computed() -> None:
    spans = []
    free = FreeNetwork(Lists(PIPELINE), lambda *span: spans.append(span))
    ns = free.run().ns
    assert sorted(spans) == [(0, 0, 500), (1, 0, 100), (1, 500, 750), (2, 750, 770)]
    course = picture.Course(3, ns)
    for span in spans:
        course.busy(*span)
    assert course.shares.sum(axis=1) * course.width == pytest.approx([500, 350, 20])
    assert course.shares.max() <= 1.001


def test_scale_multiplies_and_rounds_up(pipeline: Path, tmp_path: Path) -> None:
    result = trace("scale", pipeline, "--to", tmp_path / "s", "--compute", "2", "--bytes", "1/3")
    assert result.exit_code == 0, result.output
    first, second, third = programs(tmp_path / "s")
    assert first == [Compute(1000), Send(1, 334, 7), Collective("allreduce", bytes=(3,))]
    assert second[2] == Wait(((3, Came(0, 7, 334)),))
    assert third[1] == Receive(1, 22, 1, comm=9, came=Came(1, 1, 0))
    assert trace("scale", pipeline, "--to", tmp_path / "s").exit_code == 2
    refused = trace("scale", pipeline, "--to", tmp_path / "t", "--bytes", "-1")
    assert "'-1' is not a factor" in refused.output


def test_goal_has_collectives_as_rounds_of_messages(pipeline: Path, tmp_path: Path) -> None:
    file = tmp_path / "pipeline.goal"
    assert trace("convert", pipeline, "--to", file).exit_code == 0
    text = file.read_text()
    assert text.startswith("num_ranks 3\n\nrank 0 {\nl1: calc 500\nl2: send 1000b to 1 tag 7\n")
    assert "l2 requires l1\n" in text
    # Rounds go on while a rank computes.
    assert "calc 0 cpu 2\n" in text
    # Three ranks: the third is folded into the first, the others exchange, the third is told.
    found = json.loads(trace("info", file, "--json").stdout)
    assert found["messages"] == 2 + 4
    assert found["unmatched"] == []
    assert found["free_network"] is None


def test_blocks_of_a_graph_have_any_order(tmp_path: Path) -> None:
    file = tmp_path / "mixed.goal"
    blocks = [f"rank {rank} {{\na: calc {rank}\n}}\n" for rank in (2, 0, 3, 1)]
    file.write_text("num_ranks 5\n" + "".join(blocks))
    _, opened = formats.open_trace(file)
    for _ in range(2):
        found = [list(opened.program(rank)) for rank in range(5)]
        assert found == [[Compute(0)], [Compute(1)], [Compute(2)], [Compute(3)], []]


@pytest.mark.parametrize("kind", COLLECTIVES)
@pytest.mark.parametrize("members", [1, 2, 3, 7, 8])
@pytest.mark.parametrize("size", [24, 40000])
def test_rounds_of_collectives_fit_together(kind: str, members: int, size: int) -> None:
    """Every message is sent and received in the order of the rounds, and none waits for ever."""
    listed = kind in ("allgatherv", "alltoallv", "reduce_scatter")
    sizes = [tuple(size + i for i in range(members)) if listed else (size,)] * members
    root = members // 2 if kind in ("bcast", "reduce", "gather", "scatter") else 0
    programs: list[list[Op]] = []
    for me in range(members):
        ops: list[Op] = []
        for one in rounds.rounds(kind, me, members, root, sizes):
            ops += [Send(peer, size, request=None) for peer, size in one.sends]
            ops += [Receive(peer, size) for peer, size in one.receives]
        programs.append(ops)
    run = Lists(programs)
    FreeNetwork(run).run()
    assert summary(run).unmatched == {}
    sent = [[op.bytes for op in ops if isinstance(op, Send)] for ops in programs]
    wanted = [[op.bytes for op in ops if isinstance(op, Receive)] for ops in programs]
    assert sum(map(sum, sent)) == sum(map(sum, wanted))
    if kind == "allreduce" and size > rounds.RING_FROM and members > 1:
        assert {len(own) for own in sent} == {2 * (members - 1)}
        assert sum(map(sum, sent)) == 2 * (members - 1) * size


HEAD = "mpi-trace 1\nrank 0 of 1\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mpi-trace 2\n", "is no trace"),
        ("mpi-trace 1\nrank 1 of 1\n", "rank0.txt:2: is not `rank R of N`"),
        ("mpi-trace 1\nrank 0 of 3\n", "has nothing of rank 1 of 3"),
        (HEAD, "ends without `finalize`"),
        (HEAD + "1 2\n", "rank0.txt:3: '1 2' is not a time"),
        (HEAD + "x 2 send 0 0 0 0\n", "rank0.txt:3: 'x' is not a number"),
        (HEAD + "1 2 sned 0 0 0 0\n", "there is no call `sned`"),
        (HEAD + "1 2 send 0 0 0\n", "the call has 4 parts, here are 3"),
        (HEAD + "1 2 send 1 0 0 0\n", "there is no rank 1 among 1"),
        (HEAD + "1 2 send 0 -1 0 0\n", "'-1' is not a number of at least 0"),
        (HEAD + "1 2 send 0 1 0 5\n", "there is no communicator 5"),
        (HEAD + "1 2 send 0 99999999999999999999 0 0\n", "is not a number"),
        (HEAD + "1 2 wait 3\n", "request 3 was not begun"),
        (HEAD + "1 2 irecv 0 1 1 0 3\n1 2 irecv 0 1 1 0 3\n", "request 3 has not ended"),
        (HEAD + "1 2 recv 0 1 1 0 <0,1\n", "is not <SOURCE,TAG,BYTES"),
        (HEAD + "comm 4 0,0\n", "once each"),
        (HEAD + "1 2 alltoallv 0 1,2\n", "2 sizes for 1 members"),
        (HEAD + "0 0 finalize\n0 0 barrier 0\n", "rank0.txt:4: stands after `finalize`"),
    ],
)
def test_what_is_wrong_in_a_trace_is_told_with_its_line(
    text: str, words: str, tmp_path: Path
) -> None:
    (tmp_path / "rank0.txt").write_text(text)
    result = trace("info", tmp_path)
    assert result.exit_code == 2, result.output
    assert words in result.output


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mpi-trace 1\nrank 0 of 1000000000\n", ":2: 1000000000 ranks; there may be"),
        ("num_ranks 1000000000\n", ":1: 1000000000 ranks; there may be"),
        (
            "X model_parallel_NPU_group: 1 all_gpus: 1000000000\n0\n",
            ":1: all_gpus: 1000000000 is not from 1 to 1,000,000",
        ),
    ],
)
def test_too_many_ranks_are_told(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "trace").write_text(text)
    result = trace("info", tmp_path / "trace")
    assert result.exit_code == 2, result.output
    assert words in result.output


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("num_ranks x\n", "does not begin with `num_ranks N`"),
        ("num_ranks 2\nrank 2 {\n}\n", ":2: 'rank 2 {' begins no block"),
        ("num_ranks 2\nrank 1 {\n}\nrank 1 {\n}\n", ":4: there is a block of rank 1 already"),
        ("num_ranks 2\nrank 1 {\n}\nrank 0 {\n}\nx\n", ":6: 'x' begins no block"),
        ("num_ranks 2\nrank 0 {\n", "ends within rank 0"),
        ("num_ranks 2\nrank 0 {\na: send 5b to 2\n}\n", ":3: there is no rank 2 among 2"),
        ("num_ranks 2\nrank 0 {\nsend 5b to -1\n}\n", ":3: there is no rank -1"),
        ("num_ranks 2\nrank 0 {\ncalc 5\na requires b\n}\n", ":4: there is no label `a` above"),
        ("num_ranks 2\nrank 0 {\na: calc 5\na: calc 5\n}\n", ":4: there is a label `a` already"),
        ("num_ranks 2\nrank 0 { /* a\n*/ calk 5\n}\n", ":3: 'calk 5' is no statement"),
    ],
)
def test_what_is_wrong_in_a_graph_is_told_with_its_line(
    text: str, words: str, tmp_path: Path
) -> None:
    file = tmp_path / "bad.goal"
    file.write_text(text)
    result = trace("info", file)
    assert result.exit_code == 2, result.output
    assert words in result.output


def test_what_is_no_trace_is_told(tmp_path: Path) -> None:
    for name, content in (("a.tar.gz", b"no archive"), ("a.txt", b"\xff\xfe\x00"), ("a.gz", b"x")):
        (tmp_path / name).write_bytes(content)
        result = trace("info", tmp_path / name)
        assert result.exit_code == 2, result.output
        assert name in result.output
    assert "No such file" in trace("info", tmp_path / "nowhere").output
    assert "there is no format 'x'" in trace("info", tmp_path, "--format", "x").output


_WORDS = (
    "0 1 -1 -2 7 99999999999999999999 send irecv recv wait waitany allreduce ialltoallv comm"
    " finalize freecomm sendrecv <0,0,8 0<0,0,8 0,1 barrier bcast num_ranks rank { } calc l1: l1"
    " requires 5b to from tag cpu // /* */ compute init waitall alltoallv 0,0 NONE ALLREDUCE"
    " ALLGATHER ALLTOALL_EP REDUCESCATTER_DP_EP"
)
TEXTS = st.lists(
    st.lists(st.sampled_from(_WORDS.split()), max_size=8).map(" ".join), max_size=12
).map("\n".join)


@pytest.mark.parametrize(
    "head",
    [
        "mpi-trace 1\nrank 0 of 1\n",
        "num_ranks 2\nrank 0 {\n",
        "0 init\n",
        "X model_parallel_NPU_group: 1 all_gpus: 1\n",
        "X model_parallel_NPU_group: 2 ep: 2 pp: 1 all_gpus: 8\n1\n",
    ],
)
@settings(max_examples=60)
@given(text=TEXTS)
def test_any_text_is_a_trace_or_an_error(head: str, text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "trace").write_text(head + text)
        with suppress(InputError):
            _, opened = formats.open_trace(Path(folder))
            summary(opened)
            FreeNetwork(opened).run()
