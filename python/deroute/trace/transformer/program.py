"""What each rank does in a training step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from deroute.trace.nas.pattern import share
from deroute.trace.ops import (
    Collective,
    Communicator,
    Compute,
    Listed,
    Op,
    Program,
    Receive,
    Send,
    Wait,
)
from deroute.trace.transformer.layout import GROUPS, Layout
from deroute.trace.transformer.model import Model

#: Tags of messages between stages: activations and gradients; of keys and values.
_FORWARD, _BACKWARD, _KEYS = 1, 2, 3


@dataclass(frozen=True)
class Training:
    """How a step is done."""

    #: Sequences of a micro-batch, tokens of each, and micro-batches of a step on each rank.
    batch: int = 1
    sequence: int = 4096
    micro_batches: int = 8
    #: Bytes of a number, and of a gradient.
    element: int = 2
    gradient: int = 2
    #: What is spread over the ranks that share data: 1 optimiser, 2 gradients, 3 parameters.
    zero: int = 0
    #: Gradients travel while others are computed, in buckets of so many bytes.
    overlap: bool = True
    bucket: int = 25 * 2**20
    #: Between tensor-parallel parts, tokens are spread.
    sequence_parallel: bool = False
    #: Exponent of Zipf's law for the experts' popularity; 0: all the same.
    skew: float = 0.0
    #: Flops of a rank in a second, as reached.
    flops: float = 400e12
    steps: int = 1


@dataclass(frozen=True)
class Step:
    """A trace: a model on a layout, trained so."""

    model: Model
    layout: Layout
    training: Training

    @property
    def ranks(self) -> int:
        """How many there are."""
        return self.layout.ranks

    def program(self, rank: int) -> Program:
        """What a rank does."""
        return Listed(_Rank(self, rank).program())


@dataclass
class _Bucket:
    """Gradients that wait until there are enough of them."""

    group: str
    bytes: int = 0


@dataclass
class _Rank:
    """A rank of a step."""

    step: Step
    rank: int
    requests: int = 0
    #: Requests that are waited for at the end.
    open: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        model, how, layout = self.step.model, self.step.training, self.step.layout
        self.degrees, self.place = layout.degrees, layout.place(self.rank)
        self.size = {group: len(layout.members(group, self.rank)) for group in GROUPS}
        self.comm = {group: layout.number(group, self.rank) for group in GROUPS}
        stage, stages = self.place["pp"], self.degrees["pp"]
        self.layers = share(model.layers, stages, stage)
        self.first, self.last = stage == 0, stage == stages - 1
        tp, cp = self.degrees["tp"], self.degrees["cp"]
        self.tokens = how.batch * how.sequence // cp
        self.activation = self.tokens * model.hidden * how.element
        spread = tp if how.sequence_parallel else 1
        self.boundary = self.activation // spread
        self.forward_ns = self._ns(model.forward_flops(self.tokens, how.sequence) / tp)
        self.logits_ns = self._ns(model.logits_flops(self.tokens) / tp) if self.last else 0
        self.dense = model.attention // tp
        if model.experts == 1:
            self.dense += model.expert // tp
        local = model.experts // self.degrees["ep"]
        self.expert = model.expert * local // tp if model.experts > 1 else 0
        self.buckets = {group: _Bucket(group) for group in ("data", "expert data")}

    def _ns(self, flops: float) -> int:
        return round(1e9 * flops / self.step.training.flops)

    def _request(self) -> int:
        self.requests += 1
        return self.requests

    def _neighbour(self, way: str, by: int) -> int:
        at = (self.place[way] + by) % self.degrees[way]
        return self.step.layout.rank({**self.place, way: at})

    def program(self) -> Iterator[Op]:
        """All steps."""
        for group in GROUPS:
            if self.size[group] > 1:
                members = self.step.layout.members(group, self.rank)
                yield Communicator(self.comm[group], members)
        for _ in range(self.step.training.steps):
            yield from self._step()

    def _step(self) -> Iterator[Op]:
        """One forward, one backward: as many forwards first as there are stages to come."""
        count = self.step.training.micro_batches
        ahead = min(count, self.degrees["pp"] - 1 - self.place["pp"])
        for _ in range(ahead):
            yield from self._forward()
        for number in range(count):
            if number + ahead < count:
                yield from self._forward()
            yield from self._backward(last=number == count - 1)
        yield from self._finish()

    def _collective(self, kind: str, group: str, size: int, *, later: bool = False) -> Iterator[Op]:
        """A collective of a group, if there is more than one in it; waited for later or now."""
        if self.size[group] == 1:
            return
        request = self._request() if later else None
        if request is not None:
            self.open.append(request)
        yield Collective(kind, self.comm[group], bytes=(size,), request=request)

    # A micro-batch.

    def _forward(self) -> Iterator[Op]:
        if not self.first:
            yield Receive(self._neighbour("pp", -1), self.boundary, _FORWARD)
        for _ in range(self.layers):
            yield from self._parameters()
            yield from self._attention(self.forward_ns, passes=1)
            yield from self._tensor()
            yield from self._network(self.forward_ns)
            yield from self._tensor()
        if self.logits_ns:
            yield Compute(self.logits_ns)
        if not self.last:
            yield self._send(self._neighbour("pp", 1), _FORWARD)

    def _backward(self, *, last: bool) -> Iterator[Op]:
        how = self.step.training
        if not self.last:
            yield Receive(self._neighbour("pp", 1), self.boundary, _BACKWARD)
        if self.logits_ns:
            yield Compute(2 * self.logits_ns)
        if last and self.last:
            yield from self._gradients("data", self._embedding())
        for _ in range(self.layers):
            yield from self._parameters()
            yield from self._network(2 * self.forward_ns)
            yield from self._tensor()
            yield from self._attention(2 * self.forward_ns, passes=2)
            yield from self._tensor()
            if last or how.zero == 3:
                yield from self._gradients("data", self.dense)
                yield from self._gradients("expert data", self.expert)
        if last and self.first and not (self.last and self.step.model.tied):
            yield from self._gradients("data", self._embedding())
        if not self.first:
            yield self._send(self._neighbour("pp", -1), _BACKWARD)

    def _embedding(self) -> int:
        return self.step.model.embedding // self.degrees["tp"]

    def _send(self, to: int, tag: int) -> Op:
        request = self._request()
        self.open.append(request)
        return Send(to, self.boundary, tag, request=request)

    def _tensor(self) -> Iterator[Op]:
        """Parts are added up: by an all-reduce, or spread by token and gathered again."""
        size = self.size["tensor"]
        if not self.step.training.sequence_parallel:
            yield from self._collective("allreduce", "tensor", self.activation)
            return
        part = -(-self.activation // size)
        yield from self._collective("reduce_scatter_block", "tensor", part)
        yield from self._collective("allgather", "tensor", part)

    def _share(self) -> float:
        """The part of a layer's work that is attention."""
        model, how = self.step.model, self.step.training
        network = 2.0 * model.top * model.expert * self.tokens
        return 1 - network / model.forward_flops(self.tokens, how.sequence)

    def _attention(self, ns: int, *, passes: int) -> Iterator[Op]:
        """Attention; keys and values go round those that share the context as it is computed."""
        model, how = self.step.model, self.step.training
        work, steps = round(ns * self._share()), self.degrees["cp"]
        heads = self.degrees["tp"] * model.heads
        keys = passes * 2 * self.tokens * model.hidden * model.kv_heads * how.element // heads
        for step in range(steps):
            wait = []
            if step + 1 < steps:
                wait = [self._request(), self._request()]
                yield Receive(self._neighbour("cp", -1), keys, _KEYS, request=wait[0])
                yield Send(self._neighbour("cp", 1), keys, _KEYS, request=wait[1])
            yield Compute(share(work, steps, step))
            if wait:
                yield Wait(tuple((request, None) for request in wait))

    def _network(self, ns: int) -> Iterator[Op]:
        """The feed-forward network, or experts with the tokens on their way to them and back."""
        work = ns - round(ns * self._share())
        if self.step.model.experts == 1 or self.size["experts"] == 1:
            yield Compute(work)
            return
        sent, received = self._tokens()
        comm = self.comm["experts"]
        yield Collective("alltoallv", comm, bytes=sent)
        # Those with the popular experts have more to do.
        mean = sum(sent) / len(sent)
        yield Compute(round(work * received[0] / mean) if mean else work)
        yield Collective("alltoallv", comm, bytes=received)

    def _tokens(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Bytes of tokens for each rank with experts; and of those that come back from here."""
        model, how, ranks = self.step.model, self.step.training, self.size["experts"]
        total = self.tokens * model.top * model.hidden * how.element // self.degrees["tp"]
        weights = [1 / (number + 1) ** how.skew for number in range(model.experts)]
        local = model.experts // ranks
        popular = [sum(weights[at * local : (at + 1) * local]) for at in range(ranks)]
        shares = tuple(round(total * weight / sum(weights)) for weight in popular)
        return shares, (shares[self.place["ep"]],) * ranks

    # What those that share data tell each other.

    def _parameters(self) -> Iterator[Op]:
        """ZeRO-3 gathers the parameters of a layer before it is computed."""
        if self.step.training.zero < 3:
            return
        for group, count in (("data", self.dense), ("expert data", self.expert)):
            if count:
                part = -(-count * self.step.training.element // self.size[group])
                yield from self._collective("allgather", group, part)

    def _gradients(self, group: str, count: int) -> Iterator[Op]:
        """Gradients are there; they leave when their bucket is full."""
        how, bucket = self.step.training, self.buckets[group]
        bucket.bytes += count * how.gradient
        if bucket.bytes >= how.bucket:
            yield from self._flush(bucket)

    def _flush(self, bucket: _Bucket) -> Iterator[Op]:
        how, size = self.step.training, bucket.bytes
        bucket.bytes = 0
        if not size:
            return
        if how.zero == 0:
            yield from self._collective("allreduce", bucket.group, size, later=how.overlap)
        else:
            part = -(-size // self.size[bucket.group])
            yield from self._collective(
                "reduce_scatter_block", bucket.group, part, later=how.overlap
            )

    def _finish(self) -> Iterator[Op]:
        """The rest of the gradients, the norm, and with ZeRO-1 and 2 the new parameters."""
        for bucket in self.buckets.values():
            yield from self._flush(bucket)
        if self.open:
            yield Wait(tuple((request, None) for request in self.open))
            self.open.clear()
        if self.step.ranks > 1:
            yield Collective("allreduce", bytes=(8,))
        how = self.step.training
        if how.zero in (1, 2):
            ends = self.first + (self.last and not (self.first and self.step.model.tied))
            dense = self.layers * self.dense + ends * self._embedding()
            for group, count in (("data", dense), ("expert data", self.layers * self.expert)):
                if count:
                    part = -(-count * how.element // self.size[group])
                    yield from self._collective("allgather", group, part)
