"""Training steps of transformers: sizes and times that can be counted by hand."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from deroute.cli import app
from deroute.trace import formats
from deroute.trace.free import FreeNetwork
from deroute.trace.ops import Collective, Communicator, Compute, Op, Send
from deroute.trace.statistics import summary
from deroute.trace.transformer import MODELS, ORDER, Layout, Step, Training

SMALL = replace(MODELS["llama-7b"], hidden=64, ffn=128, layers=4, heads=8, kv_heads=4, vocabulary=1)
EXPERTS = replace(SMALL, experts=8, top=2)
FEW = Training(sequence=64, micro_batches=4, flops=1e9, bucket=4096)


def layout(**degrees: int) -> Layout:
    given: dict[str, Any] = {"tp": 1, "cp": 1, "ep": 1, "dp": 1, "pp": 1, "order": ORDER}
    return Layout.of(**{**given, **degrees})


def collectives(step: Step, rank: int = 0) -> Counter[tuple[str, int, tuple[int, ...]]]:
    """Kind, members and bytes of the collectives of a rank."""
    sizes = {0: step.ranks}
    found: Counter[tuple[str, int, tuple[int, ...]]] = Counter()
    for op in step.program(rank):
        if isinstance(op, Communicator):
            sizes[op.comm] = len(op.members)
        if isinstance(op, Collective):
            found[op.kind, sizes[op.comm], op.bytes] += 1
    return found


def test_parameters_are_those_published() -> None:
    billions = {name: model.parameters / 1e9 for name, model in MODELS.items()}
    assert billions == pytest.approx(
        {"gpt3-175b": 174.6, "llama-7b": 6.74, "llama-70b": 69.0, "mixtral-8x7b": 46.7}, rel=1e-3
    )


def test_tensors_are_added_up_four_times_a_layer() -> None:
    how = Training(batch=1, sequence=4096, micro_batches=1)
    step = Step(MODELS["llama-7b"], layout(tp=2), how)
    assert collectives(step) == {
        ("allreduce", 2, (33_554_432,)): 4 * 32,
        ("allreduce", 2, (8,)): 1,
    }
    spread = Step(step.model, step.layout, replace(how, sequence_parallel=True))
    assert collectives(spread) == {
        ("reduce_scatter_block", 2, (16_777_216,)): 4 * 32,
        ("allgather", 2, (16_777_216,)): 4 * 32,
        ("allreduce", 2, (8,)): 1,
    }


@pytest.mark.parametrize("zero", [0, 1, 2, 3])
def test_every_gradient_travels_once(zero: int) -> None:
    model = replace(SMALL, vocabulary=1000)
    step = Step(model, layout(dp=4, tp=2), replace(FEW, zero=zero, micro_batches=1, gradient=4))
    own = model.parameters // 2
    counts = collectives(step)
    reduced = "allreduce" if zero == 0 else "reduce_scatter_block"
    times = 1 if zero == 0 else 4
    travelled = sum(
        size[0] * times * count
        for (kind, members, size), count in counts.items()
        if (kind, members) == (reduced, 4)
    )
    assert travelled == pytest.approx(4 * own, rel=1e-3)
    gathered = sum(
        size[0] * 4 * count
        for (kind, members, size), count in counts.items()
        if (kind, members) == ("allgather", 4)
    )
    layers = 2 * (own - 1000 * 64)
    assert gathered == pytest.approx({0: 0, 1: 2 * own, 2: 2 * own, 3: 2 * layers}[zero], rel=1e-3)


@pytest.mark.parametrize(("stages", "batches"), [(1, 3), (2, 4), (4, 8), (4, 2)])
def test_a_pipeline_takes_as_long_as_its_bubbles_say(stages: int, batches: int) -> None:
    """One forward, one backward: (m + p - 1) times both."""
    how = replace(FEW, micro_batches=batches)
    step = Step(SMALL, layout(pp=stages), how)
    forward = round(SMALL.forward_flops(64, 64)) * 4 // stages
    run = FreeNetwork(step).run()
    assert run.ns == pytest.approx((batches + stages - 1) * 3 * forward, rel=2e-3)
    sizes = {op.bytes for rank in range(stages) for op in step.program(rank) if _is_send(op)}
    assert sizes == (set() if stages == 1 else {64 * 64 * 2})


def _is_send(op: Op) -> bool:
    return isinstance(op, Send)


def test_experts_get_what_the_law_of_their_popularity_says() -> None:
    step = Step(EXPERTS, layout(ep=4, dp=4), replace(FEW, skew=1.0, micro_batches=1))
    rows = [[op.bytes for op in step.program(rank) if _is(op, "alltoallv")] for rank in range(4)]
    # To the experts and back, forward and backward.
    assert {len(own) for own in rows} == {4 * 4}
    total = 64 * 2 * 64 * 2
    assert sum(rows[0][0]) == pytest.approx(total, abs=4)
    # 1 + 1/2 of 1 + 1/2 + ... + 1/8, and so on.
    assert rows[0][0][0] / total == pytest.approx(1.5 / 2.7179, rel=1e-3)
    assert [own[0] for own in rows] == [rows[0][0]] * 4
    for rank in range(4):
        assert rows[rank][1] == (rows[0][0][rank],) * 4
    work = [sum(op.ns for op in step.program(rank) if isinstance(op, Compute)) for rank in (0, 3)]
    assert work[0] > work[1]


def _is(op: Op, kind: str) -> bool:
    return isinstance(op, Collective) and op.kind == kind


@pytest.mark.parametrize(
    "degrees",
    [
        {"tp": 2, "cp": 2, "ep": 2, "dp": 4, "pp": 2},
        {"tp": 4, "pp": 4},
        {"cp": 4, "dp": 2},
        {"ep": 8, "dp": 8},
    ],
)
@pytest.mark.parametrize("zero", [0, 1, 3])
def test_every_layout_comes_to_its_end(degrees: dict[str, int], zero: int) -> None:
    for order in (ORDER, ("pp", "dp", "tp", "ep", "cp")):
        places = Layout.of(**{"tp": 1, "cp": 1, "ep": 1, "dp": 1, "pp": 1, **degrees}, order=order)
        step = Step(EXPERTS, places, replace(FEW, zero=zero, micro_batches=2))
        assert summary(step).unmatched == {}
        FreeNetwork(step).run()
        assert [places.rank(places.place(rank)) for rank in range(step.ranks)] == list(
            range(step.ranks)
        )


def test_overlap_hides_gradients_behind_what_is_computed() -> None:
    late = Step(SMALL, layout(dp=2), replace(FEW, overlap=False))
    early = replace(late, training=FEW)
    assert all(op.request is None for op in late.program(0) if isinstance(op, Collective))
    begun = [op for op in early.program(0) if isinstance(op, Collective) and op.request]
    assert len(begun) > 1


def call(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["trace", "transformer", *map(str, arguments)])


def test_the_command_writes_a_step(tmp_path: Path) -> None:
    to = tmp_path / "step"
    result = call("--tp", 2, "--dp", 2, "--model-set", "layers=2", "--to", to)
    assert result.exit_code == 0, result.output
    _, opened = formats.open_trace(to)
    assert opened.ranks == 4
    assert summary(opened).collectives["allreduce"][0] > 0
    head = (to / "rank0.txt").read_text().splitlines()[2]
    assert head.startswith("# llama-7b, 666,894,336 parameters; tp 2, cp 1, ep 1, dp 2, pp 1")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--model", "llama-8b"], "did you mean: llama-7b"),
        (["--tp", 3], "--tp: 3 does not divide 32"),
        (["--dp", 0], "--dp: 0 is less than 1"),
        (["--ep", 2, "--dp", 2], "--ep: 2 does not divide 1"),
        (["--model", "mixtral-8x7b", "--ep", 8, "--dp", 4], "which does not divide the 4"),
        (["--pp", 64], "64 stages for 32 layers"),
        (["--order", "tp,pp"], "does not have each"),
        (["--set", "zero=4"], "4 is no stage of ZeRO"),
        (["--set", "bach=4"], "did you mean: batch"),
        (["--set", "batch=1.5"], "'1.5' is not a whole number"),
        (["--set", "overlap=maybe"], "'maybe' is not a choice"),
        (["--model-set", "hidden=0"], "0 is less than 1"),
        (["--model-set", "top=2"], "a token sees 2 of 1 experts"),
    ],
)
def test_what_does_not_go_together_is_told(
    arguments: list[object], words: str, tmp_path: Path
) -> None:
    result = call("--to", tmp_path / "no", *arguments)
    assert result.exit_code == 2, result.output
    assert words in result.output
