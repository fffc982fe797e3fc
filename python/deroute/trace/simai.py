"""Layers of a training step, as SimAI and AICB write them: one line each.

`NAME DEP FORWARD_NS COMM BYTES INPUT_NS COMM BYTES WEIGHT_NS COMM BYTES UPDATE_NS` after a line
that says how the step is spread, and one with the number of layers. Bytes are those of the whole
buffer.

All layers are computed forward, each followed by its collective; then backward from the last to
the first: gradients of the weights, whose collective goes on while others are computed, and those
of the inputs; at the end everything is waited for and the weights updated. Tensors are shared by
neighbours, experts by ranks that have data of their own. A step in stages is refused: the lines do
not say which layer is on which.

Source: Wang and others, SimAI (NSDI 2025), and its workload files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from deroute.trace.ops import (
    WORLD,
    Collective,
    Communicator,
    Compute,
    Listed,
    Op,
    Program,
    Wait,
)
from deroute.trace.places import MOST_RANKS, Place, lines, refuse

NAME = "simai"
HEAD = re.compile(r"[A-Z_]+\s+model_parallel_NPU_group:.*")
_PAIR = re.compile(r"(\w+):\s*(\d{1,18})")
_KINDS = {
    "ALLREDUCE": "allreduce",
    "ALLGATHER": "allgather",
    "REDUCESCATTER": "reduce_scatter_block",
    "ALLTOALL": "alltoall",
}
_PARTS = 12


@dataclass(frozen=True)
class _Phase:
    """A computation and the collective after it: kind, group and bytes."""

    ns: int
    kind: str | None
    group: str
    bytes: int


@dataclass(frozen=True)
class _Layer:
    forward: _Phase
    input: _Phase
    weight: _Phase
    update_ns: int


class SimaiTrace:
    """A file of layers, the same for all ranks."""

    def __init__(self, place: Place) -> None:
        (self._file,) = place.files()
        rows = enumerate(lines(self._file), 1)
        _, head = next(rows, (1, ""))
        given = {key: int(value) for key, value in _PAIR.findall(head)}
        self._tensor = given.get("model_parallel_NPU_group", 0)
        self._experts = given.get("ep", 1)
        self._ranks = given.get("all_gpus", 0)
        if given.get("pp", 1) != 1:
            refuse(
                "a step in stages cannot be read: nothing says who has which layer", *self._at(1)
            )
        if not 0 < self._ranks <= MOST_RANKS:
            refuse(f"all_gpus: {self._ranks} is not from 1 to {MOST_RANKS:,}", *self._at(1))
        spread = self._tensor * self._experts
        if not spread or self._ranks % spread:
            what = f"{self._ranks} ranks are not shared by {self._tensor} and {self._experts}"
            refuse(f"all_gpus: {what}", *self._at(1))
        _, count = next(rows, (2, ""))
        if not count.strip().isdigit():
            refuse(f"{count!r} is no number of layers", *self._at(2))
        self._layers = [self._layer(line, text) for line, text in rows if text.strip()]
        if len(self._layers) != int(count):
            refuse(f"{count.strip()} layers, here are {len(self._layers)}", *self._at(2))

    def _at(self, line: int) -> tuple[Path, int]:
        return self._file, line

    @property
    def ranks(self) -> int:
        """How many there are."""
        return self._ranks

    def _layer(self, line: int, text: str) -> _Layer:
        words = text.split()
        if len(words) != _PARTS:
            refuse(f"a layer has {_PARTS} parts, here are {len(words)}", *self._at(line))
        forward, inputs = (self._phase(line, words[at : at + 3]) for at in (2, 5))
        weights = self._phase(line, words[8:11], weight=True)
        return _Layer(forward, inputs, weights, self._number(line, words[11]))

    def _number(self, line: int, word: str) -> int:
        if not (word.isascii() and word.isdigit()) or len(word) > 18:
            refuse(f"{word!r} is not a whole number", *self._at(line))
        return int(word)

    def _phase(self, line: int, words: list[str], *, weight: bool = False) -> _Phase:
        ns, name, size = self._number(line, words[0]), words[1], self._number(line, words[2])
        if name == "NONE":
            return _Phase(ns, None, "", 0)
        base, _, suffix = name.partition("_")
        known = {"": "data" if weight else "tensor", "EP": "experts", "DP_EP": "expert data"}
        if base not in _KINDS or suffix not in known:
            choices = ", ".join([*_KINDS, "NONE"])
            message = f"{name!r} is not one of {choices}, perhaps with _EP or _DP_EP"
            refuse(message, *self._at(line))
        return _Phase(ns, _KINDS[base], known[suffix], size)

    def members(self, group: str, rank: int) -> tuple[int, ...]:
        """Who is in the rank's group."""
        tensor, experts = self._tensor, self._experts
        inner, data = rank % tensor, rank // tensor
        match group:
            case "tensor":
                return tuple(data * tensor + other for other in range(tensor))
            case "data":
                return tuple(range(inner, self._ranks, tensor))
            case "experts":
                first = data - data % experts
                return tuple((first + other) * tensor + inner for other in range(experts))
            case _:
                return tuple(range(rank % (tensor * experts), self._ranks, tensor * experts))

    def program(self, rank: int) -> Program:
        """What a rank does."""
        return Listed(self._program(rank))

    def _program(self, rank: int) -> Iterator[Op]:
        comms: dict[str, tuple[int, int]] = {}
        for number, group in enumerate(("tensor", "data", "experts", "expert data")):
            members = self.members(group, rank)
            comm = 1 + number * self._ranks + members[0]
            if len(members) == self._ranks:
                comm = WORLD
            elif len(members) > 1:
                yield Communicator(comm, members)
            comms[group] = comm, len(members)
        for layer in self._layers:
            yield from self._do(layer.forward, comms)
        started: list[int] = []
        for layer in reversed(self._layers):
            for op in self._do(layer.weight, comms):
                if isinstance(op, Collective):
                    started.append(len(started))
                    yield op._replace(request=started[-1])
                else:
                    yield op
            yield from self._do(layer.input, comms)
        if started:
            yield Wait(tuple((request, None) for request in started))
        yield Compute(sum(layer.update_ns for layer in self._layers))

    @staticmethod
    def _do(phase: _Phase, comms: dict[str, tuple[int, int]]) -> Iterator[Op]:
        if phase.ns:
            yield Compute(phase.ns)
        if phase.kind is None:
            return
        comm, members = comms[phase.group]
        if members > 1:
            size = phase.bytes if phase.kind == "allreduce" else -(-phase.bytes // members)
            yield Collective(phase.kind, comm, bytes=(size,))
