"""Layers of SimAI: a training step, or an error with its line."""

from __future__ import annotations

import json
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from deroute.cli import app
from deroute.errors import InputError
from deroute.trace import formats
from deroute.trace.free import FreeNetwork
from deroute.trace.ops import Collective, Communicator, Compute, Wait
from deroute.trace.statistics import summary


def trace(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["trace", *map(str, arguments)])


LAYERS = (
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: 1 vpp: 2 ga: 1"
    " all_gpus: 8 checkpoints: 0 checkpoint_initiates: 0\n2\n"
)
ATTENTION = "attention -1 500 ALLREDUCE 4096 700 ALLREDUCE 4096 300 ALLREDUCE 8000 10\n"
EXPERTS = "moe -1 100 ALLTOALL_EP 512 100 ALLTOALL_EP 512 50 REDUCESCATTER_DP_EP 800 10\n"


def test_layers_of_simai_are_a_training_step(tmp_path: Path) -> None:
    file = tmp_path / "layers.txt"
    file.write_text(LAYERS + ATTENTION + EXPERTS)
    name, opened = formats.open_trace(file)
    assert (name, opened.ranks) == ("simai", 8)
    assert list(opened.program(5)) == [
        Communicator(5, (4, 5)),
        Communicator(10, (1, 3, 5, 7)),
        Communicator(22, (5, 7)),
        Communicator(26, (1, 5)),
        Compute(500),
        Collective("allreduce", 5, bytes=(4096,)),
        Compute(100),
        Collective("alltoall", 22, bytes=(256,)),
        Compute(50),
        Collective("reduce_scatter_block", 26, bytes=(400,), request=0),
        Compute(100),
        Collective("alltoall", 22, bytes=(256,)),
        Compute(300),
        Collective("allreduce", 10, bytes=(8000,), request=1),
        Compute(700),
        Collective("allreduce", 5, bytes=(4096,)),
        Wait(((0, None), (1, None))),
        Compute(20),
    ]
    found = json.loads(trace("info", file, "--json").stdout)
    assert found["free_network"]["ns"] == 1770
    assert trace("convert", file, "--to", tmp_path / "layers.goal").exit_code == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (LAYERS.replace("pp: 1", "pp: 2"), ":1: a step in stages cannot be read"),
        (LAYERS.replace("all_gpus: 8", "all_gpus: 6"), ":1: all_gpus: 6 ranks are not shared"),
        (LAYERS + ATTENTION, ":2: 2 layers, here are 1"),
        (LAYERS + ATTENTION + "x -1 5\n", ":4: a layer has 12 parts, here are 3"),
        (LAYERS + ATTENTION.replace("500", "5us"), ":3: '5us' is not a whole number"),
        (LAYERS + ATTENTION.replace("ALLREDUCE", "ALLRED"), ":3: 'ALLRED' is not one of"),
    ],
)
def test_what_is_wrong_with_layers_is_told(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "layers.txt").write_text(text)
    result = trace("info", tmp_path / "layers.txt")
    assert result.exit_code == 2, result.output
    assert words in result.output


_PHASE = st.tuples(
    st.sampled_from(("0", "7", "-1", "1" * 18)),
    st.sampled_from(("NONE", "ALLREDUCE", "ALLGATHER", "REDUCESCATTER", "ALLTOALL")).flatmap(
        lambda kind: st.sampled_from((kind, f"{kind}_EP", f"{kind}_DP_EP"))
    ),
    st.sampled_from(("0", "1", "64", "1" * 18)),
).map(" ".join)


@settings(max_examples=60)
@given(layers=st.lists(st.tuples(_PHASE, _PHASE, _PHASE), max_size=4))
def test_any_layers_are_a_trace_or_an_error(layers: list[tuple[str, str, str]]) -> None:
    head = LAYERS.replace("\n2\n", f"\n{len(layers)}\n")
    rows = [f"layer -1 {' '.join(phases)} 10\n" for phases in layers]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "layers").write_text(head + "".join(rows))
        with suppress(InputError):
            _, opened = formats.open_trace(Path(folder))
            summary(opened)
            FreeNetwork(opened).run()
