"""The NAS patterns, beside traces of the benchmarks themselves and sizes that were published."""

from __future__ import annotations

import lzma
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from typer.testing import CliRunner

from deroute.cli import app
from deroute.trace import formats, nas
from deroute.trace.free import FreeNetwork
from deroute.trace.ops import Collective, Compute, Op, Receive, Send, Trace, Wait
from deroute.trace.statistics import summary

TRACES = Path(__file__).parent / "traces"


def recorded(name: str, folder: Path) -> Trace:
    """A trace of the benchmark itself."""
    lines = defaultdict(list)
    with lzma.open(TRACES / f"npb-{name}-16.txt.xz", "rt") as stream:
        for line in stream:
            lines[line.split(" ", 1)[0]].append(line)
    for rank, own in lines.items():
        (folder / f"rank{rank}.txt").write_text("".join(own))
    kind, trace = formats.open_trace(folder)
    assert (kind, trace.ranks) == ("time-independent", 16)
    return trace


def made(name: str, letter: str, ranks: int, iterations: int | None = None) -> nas.Benchmark:
    return nas.Benchmark.of(nas.CATALOGUE[name], letter, ranks, iterations, 1e9)


def plain(trace: Trace, rank: int) -> list[Op]:
    """Without the computations and the numbers of the requests."""
    found: list[Op] = []
    for op in trace.program(rank):
        match op:
            case Compute():
                pass
            case Wait():
                found.append(Wait(tuple((0, None) for _ in op.requests)))
            case Receive() if op.request is not None:
                found.append(op._replace(request=0))
            case _:
                found.append(op)
    return found


@pytest.mark.parametrize(("name", "letter"), [("cg", "A"), ("ft", "W")])
def test_every_call_is_that_of_the_benchmark(name: str, letter: str, tmp_path: Path) -> None:
    trace, own = recorded(f"{name}-{letter}", tmp_path), made(name, letter, 16)
    for rank in (0, 6, 15):
        assert plain(own, rank) == plain(trace, rank), rank


def test_sorted_integers_are_those_of_the_benchmark_but_for_the_keys(tmp_path: Path) -> None:
    trace, own = recorded("is-A", tmp_path), made("is", "A", 16)
    for rank in range(16):
        for mine, theirs in zip(plain(own, rank), plain(trace, rank), strict=True):
            if isinstance(theirs, Collective) and theirs.kind == "alltoallv":
                assert isinstance(mine, Collective)
                assert theirs._replace(bytes=()) == mine._replace(bytes=())
                # The keys are drawn.
                assert list(mine.bytes) == pytest.approx(theirs.bytes, rel=0.06)
            else:
                assert mine == theirs


@pytest.mark.parametrize(
    ("name", "letter", "ranks", "largest"),
    [
        # Table II of the paper on converged Ethernet: 750, 135 and 123 KB.
        ("cg", "D", 256, 750_000),
        ("mg", "C", 128, 135_200),
        ("bt", "C", 256, 123_360),
        # The face of a benchmark that was seen to run: 16,900 numbers.
        ("mg", "A", 16, 135_200),
    ],
)
def test_largest_messages_are_those_published(
    name: str, letter: str, ranks: int, largest: int
) -> None:
    assert max(sent(made(name, letter, ranks, 1))) == largest


def sent(trace: nas.Benchmark) -> Counter[int]:
    """Messages by their size; of CG those of rank 0, as the others have the same."""
    ranks = range(1 if trace.pattern.name == "cg" else trace.ranks)
    programs = (trace.program(rank) for rank in ranks)
    return Counter(op.bytes for ops in programs for op in ops if isinstance(op, Send))


def test_the_transform_swaps_what_the_paper_prints() -> None:
    sizes = {op.bytes for op in made("ft", "C", 128, 1).program(0) if _is(op, "alltoall")}
    assert sizes == {(131_072,)}


def _is(op: Op, kind: str) -> bool:
    return isinstance(op, Collective) and op.kind == kind


def test_means_fit_where_a_large_message_counts_as_three() -> None:
    """Request, ready and data; printed are 161 KB of CG. MG and BT do not fit: 29.6 and 6.94 KB."""

    def mean(name: str, letter: str, ranks: int) -> float:
        sizes = sent(made(name, letter, ranks, 1))
        large = sum(count for size, count in sizes.items() if size > 16384)
        return sum(size * count for size, count in sizes.items()) / (sizes.total() + 2 * large)

    assert mean("cg", "D", 256) == pytest.approx(161_000, rel=0.01)
    assert mean("mg", "C", 128) == pytest.approx(11_033, abs=1)
    assert mean("bt", "C", 256) == pytest.approx(11_428, abs=1)


@pytest.mark.parametrize(
    ("name", "ranks"),
    [
        *((name, ranks) for name in ("bt", "sp") for ranks in (1, 4, 9, 36)),
        *((name, ranks) for name in ("cg", "ft", "is", "lu", "mg") for ranks in (1, 8, 16)),
        ("ft", 64),
    ],
)
def test_every_message_is_received_and_nobody_waits_for_ever(name: str, ranks: int) -> None:
    pattern = nas.CATALOGUE[name]
    trace = made(name, "W", ranks, 1)
    assert summary(trace).unmatched == {}
    # Compute adds up to the operations that the benchmark counts, and it takes that long.
    own = sum(summary(trace).compute_ns)
    once = 1 / trace.iterations if name in ("cg", "is") else 0.0
    flops = pattern.flops(trace.size, 1) * (1 + once)
    if name == "ft":
        flops = pattern.flops(trace.size, 1) * 3 / 2
    assert own == pytest.approx(flops, rel=0.03)
    assert FreeNetwork(trace).run().ns >= own / ranks


def test_sizes_agree_on_both_sides() -> None:
    for name, ranks in (("cg", 8), ("mg", 32), ("lu", 8), ("bt", 9), ("sp", 9)):
        trace = made(name, "S", ranks, 1)
        given: dict[tuple[int, int], list[int]] = defaultdict(list)
        wanted: dict[tuple[int, int], list[int]] = defaultdict(list)
        for rank in range(ranks):
            for op in trace.program(rank):
                if isinstance(op, Receive):
                    wanted[op.peer, rank].append(op.bytes)
                elif isinstance(op, Send):
                    given[rank, op.peer].append(op.bytes)
        assert {key: sorted(sizes) for key, sizes in given.items()} == {
            key: sorted(sizes) for key, sizes in wanted.items()
        }, name


def test_the_command_writes_a_trace(tmp_path: Path) -> None:
    def call(*arguments: object) -> tuple[int, str]:
        result = CliRunner().invoke(app, ["trace", *map(str, arguments)])
        return result.exit_code, result.output

    to = tmp_path / "cg"
    code, output = call("nas", "cg", "--class", "S", "--ranks", 4, "--to", to)
    assert (code, "4 ranks, mpi-trace" in output) == (0, True)
    assert "# NAS cg class S" in (to / "rank0.txt").read_text()
    _, opened = formats.open_trace(to)
    assert plain(opened, 3) == plain(made("cg", "S", 4), 3)
    for arguments, words in (
        (("xg", "--class", "S", "--ranks", 4), "there is no benchmark 'xg'"),
        (("cg", "--class", "X", "--ranks", 4), "there is no class 'X'"),
        (("cg", "--class", "S", "--ranks", 6), "a power of two"),
        (("bt", "--class", "S", "--ranks", 8), "a square"),
        (("bt", "--class", "S", "--ranks", 0), "at least 1"),
        (("cg", "--class", "S", "--ranks", 4, "--flops", 0), "0 is not above 0"),
        (("cg", "--class", "S", "--ranks", 4, "--iterations", 0), "0 is less than 1"),
        (("cg", "--class", "S", "--ranks", 4, "--into", "x"), "there is no format 'x'"),
    ):
        code, output = call("nas", *arguments, "--to", tmp_path / "other")
        assert code == 2
        assert words in output
