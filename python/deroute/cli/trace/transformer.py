"""`deroute trace transformer`."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from deroute.cli import app
from deroute.cli.trace.output import FORMATS, put
from deroute.errors import InputError
from deroute.trace import text
from deroute.trace.transformer import MODELS, ORDER, Layout, Model, Step, Training

_MAY_BE_ZERO = ("gated", "tied", "zero", "overlap", "sequence_parallel", "skew")
_Kind = TypeVar("_Kind", Model, Training)


def transformer(
    to: Annotated[Path, typer.Option(metavar="PATH", help="Folder, or file of a GOAL graph.")],
    model: Annotated[str, typer.Option(help=f"One of {', '.join(MODELS)}.")] = "llama-7b",
    tp: Annotated[int, typer.Option(help="Ranks that share tensors.")] = 1,
    cp: Annotated[int, typer.Option(help="Ranks that share contexts.")] = 1,
    ep: Annotated[int, typer.Option(help="Ranks that share experts, of those of --dp.")] = 1,
    dp: Annotated[int, typer.Option(help="Ranks that share data.")] = 1,
    pp: Annotated[int, typer.Option(help="Stages of the pipeline.")] = 1,
    order: Annotated[
        str, typer.Option(help="Ranks of the first way are neighbours, and so on.")
    ] = ",".join(ORDER),
    change: Annotated[
        list[str], typer.Option("--model-set", metavar="KEY=VALUE", help="Change the model.")
    ] = [],
    training: Annotated[
        list[str], typer.Option("--set", metavar="KEY=VALUE", help="Change the training.")
    ] = [],
    into: Annotated[str, typer.Option(help=f"One of {', '.join(FORMATS)}.")] = text.NAME,
) -> None:
    """Write what a training step of a transformer sends, from its model and how it is spread.

    Keys of the model: hidden, ffn, layers, heads, kv_heads, vocabulary, gated, experts, top, tied.
    Keys of the training: batch, sequence, micro_batches, element, gradient (bytes), zero (0 to 3),
    overlap, bucket (bytes), sequence_parallel, skew, flops (of a rank, as reached), steps.

    - `deroute trace transformer --model llama-70b --tp 8 --pp 4 --dp 4 --to step`
    - `deroute trace transformer --model mixtral-8x7b --ep 8 --dp 8 --set skew=0.5 --to experts`
    """
    if model not in MODELS:
        raise InputError.of(f"there is no model {model!r}", "--model", MODELS)
    chosen = _changed(MODELS[model], change, "--model-set")
    how = _changed(Training(), training, "--set")
    _check(chosen, how, tp=tp, ep=ep, cp=cp, pp=pp)
    layout = Layout.of(tp=tp, cp=cp, ep=ep, dp=dp, pp=pp, order=order.split(","))
    degrees = f"tp {tp}, cp {cp}, ep {ep}, dp {dp}, pp {pp}, order {order}"
    notes = [
        f"{model}, {chosen.parameters:,} parameters; {degrees}",
        ", ".join(f"{key} {value}" for key, value in asdict(how).items()),
    ]
    made = Step(chosen, layout, how)
    app.out().print(put(made, to, into, notes), markup=False, soft_wrap=True)


def _changed(given: _Kind, texts: list[str], option: str) -> _Kind:
    """With other values for some keys, of the type that they had."""
    known = asdict(given)
    values: dict[str, Any] = {}
    for key, text_of in app.pairs(texts, option).items():
        if key not in known:
            raise InputError.of(f"there is no `{key}`", option, known)
        values[key] = _value(text_of, known[key], f"{option} {key}")
    return replace(given, **values)


def _value(given: str, like: object, where: str) -> bool | int | float:
    """A value of the type of another one."""
    if isinstance(like, bool):
        if given not in ("true", "false"):
            raise InputError.of(f"{given!r} is not a choice", where, ["true", "false"])
        return given == "true"
    try:
        number = float(given)
    except ValueError:
        number = -1
    if not 0 <= number <= 1e18 or (isinstance(like, int) and number != int(number)):
        kind = "a whole number" if isinstance(like, int) else "a number"
        raise InputError.of(f"{given!r} is not {kind} from 0 to 1e18", where)
    return int(number) if isinstance(like, int) else number


def _check(model: Model, how: Training, *, tp: int, ep: int, cp: int, pp: int) -> None:
    """What does not go together."""
    for key, value in (*asdict(model).items(), *asdict(how).items()):
        if key not in _MAY_BE_ZERO and value < 1:
            raise InputError.of(f"{value} is less than 1", key)
    if how.zero > 3:
        raise InputError.of(f"{how.zero} is no stage of ZeRO", "zero", [0, 1, 2, 3])
    if model.top > model.experts:
        raise InputError.of(f"a token sees {model.top} of {model.experts} experts", "top")
    for degree, of, option in (
        (tp, model.heads, "--tp"),
        (ep, model.experts, "--ep"),
        (cp, how.sequence, "--cp"),
    ):
        if degree < 1 or of % degree:
            raise InputError.of(f"{degree} does not divide {of}", option)
    if pp > model.layers:
        raise InputError.of(f"{pp} stages for {model.layers} layers", "--pp")
