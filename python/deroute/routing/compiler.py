"""Routings in Python as machine code: what numba is told of `view` and `header`.

Both are the frame of `crates/deroute-py/src/foreign.rs`: words that are loaded, then a pointer to
functions, each of which takes the frame and two numbers.
"""

from __future__ import annotations

import ast
import linecache
import re
import types as python_types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from llvmlite import ir
from numba import cfunc, njit, types
from numba.core import errors
from numba.core.datamodel import models
from numba.extending import (
    intrinsic,
    overload_attribute,
    overload_method,
    register_model,
)

from deroute._engine import ROUTING_FUNCTIONS
from deroute.routing.words import LGL
from deroute.spec import spec_error

#: The words of a frame, in order; hooks are told `first` and `second`.
WORDS = (
    *("router", "input", "vc", "now", "size"),
    *("destination", "position", "phase", "hops", "intermediate"),
    *("first", "second", "answered"),
)
_OF_HEADER = WORDS[5:10]
_OPTIONS: dict[str, Any] = {"error_model": "python", "boundscheck": True}
#: Hooks, and what they are given: v a view, h a header, 1 and 2 the words they are told.
HOOKS = {
    "route": "vh",
    "entered": "vh",
    "blocked": "vh",
    "left": "vh",
    "queues_changed": "v",
    "message": "v12",
}
LADDERS = ("minimal", "valiant", "progressive")
#: Hops of a ladder that only counts them.
_MOST_HOPS = 16


@dataclass(frozen=True)
class Loaded:
    """A file of Python, compiled: what the engine needs to know of it."""

    addresses: list[tuple[str, int]]
    ladder: str | None
    hops: int
    at_source: bool
    reconsiders: bool
    words: int
    #: What owns the machine code.
    owners: tuple[Any, ...] = field(repr=False)


class ViewType(types.Opaque):
    """Of `view`."""


class HeaderType(types.Opaque):
    """Of `header`."""


register_model(ViewType)(models.OpaqueModel)
register_model(HeaderType)(models.OpaqueModel)
VIEW, HEADER = ViewType("view"), HeaderType("header")
_WORD = ir.IntType(64)
_BYTES = ir.IntType(8).as_pointer()


def _as(kind: types.Type) -> Callable[..., Any]:
    """A frame as a view, or as a header."""

    @intrinsic
    def cast(typing: Any, frame: Any) -> Any:
        return kind(frame), lambda context, builder, signature, given: given[0]

    return cast


def _place(builder: Any, frame: Any, word: int, kind: Any) -> Any:
    offset = builder.gep(frame, [ir.Constant(_WORD, 8 * word)])
    return builder.bitcast(offset, kind.as_pointer())


def _loader(word: int) -> Callable[..., Any]:
    """Loads a word."""

    @intrinsic
    def load(typing: Any, frame: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            return builder.load(_place(builder, given[0], word, _WORD))

        return types.int64(frame), generate

    return load


@intrinsic
def _answer(typing: Any, frame: Any, value: Any) -> Any:
    """Says that there is an answer."""
    if not isinstance(value, types.Integer):
        raise errors.TypingError(f"it returns {value}, and not a port or a hop")

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        answered = WORDS.index("answered")
        builder.store(ir.Constant(_WORD, 1), _place(builder, given[0], answered, _WORD))
        return given[1]

    return types.int64(frame, types.int64), generate


def _caller(number: int, name: str) -> Callable[..., Any]:
    """Calls a function of the frame."""

    @intrinsic
    def call(typing: Any, frame: Any, first: Any, second: Any) -> Any:
        if name == "hop" and not isinstance(first, HeaderType):
            raise errors.TypingError(f"`hop` takes the header, and not {first}")
        for value in (first, second)[name == "hop" :]:
            if not isinstance(value, types.Integer | types.Boolean):
                raise errors.TypingError(f"`{name}` takes whole numbers, and not {value}")

        def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            function = ir.FunctionType(_WORD, [_BYTES, _WORD, _WORD]).as_pointer()
            table = builder.load(_place(builder, given[0], len(WORDS), function.as_pointer()))
            target = builder.load(builder.gep(table, [ir.Constant(_WORD, number)]))
            numbers = [ir.Constant(_WORD, 0) if name == "hop" else given[1], given[2]]
            return builder.call(target, [builder.bitcast(given[0], _BYTES), *numbers])

        told = first if name == "hop" else types.int64
        return types.int64(frame, told, types.int64), generate

    return call


_CALL = {name: _caller(number, name) for number, name in enumerate(ROUTING_FUNCTIONS)}


#: Methods of `view` by the numbers that they take.
_METHODS = {
    0: ("ports",),
    1: (
        *("hop_to", "hop_by", "queue", "port_queue", "below", "group", "neighbour", "link_class"),
        *("exit_router", "exit_port", "state"),
    ),
    2: ("vc_queue", "distance", "keep", "send"),
}


def _getter(load: Any) -> Callable[..., Any]:
    return lambda frame: lambda frame: load(frame)  # noqa: PLW0108


def _method(call: Any, numbers: int) -> Callable[..., Any]:
    forms: tuple[Callable[..., Any], ...] = (
        lambda view: lambda view: call(view, 0, 0),
        lambda view, a: lambda view, a: call(view, a, 0),
        lambda view, a, b: lambda view, a, b: call(view, a, b),  # noqa: PLW0108
    )
    return forms[numbers]


def _teach() -> None:
    """Tells numba of all attributes and methods."""
    for number, name in enumerate(WORDS[:10]):
        kind = HeaderType if name in _OF_HEADER else ViewType
        overload_attribute(kind, name)(_getter(_loader(number)))
    for numbers, names in _METHODS.items():
        for name in names:
            overload_method(ViewType, name)(_method(_CALL[name], numbers))
    # As expressions: numba wants both signatures alike, annotations included.
    hop, draw, divert, minimally = (
        _CALL[name] for name in ("hop", "intermediate", "divert", "go_minimally")
    )
    overload_method(ViewType, "hop")(lambda view, header: lambda view, header: hop(view, header, 0))
    overload_method(ViewType, "intermediate")(
        lambda view, policy=LGL, own_group=True: (
            lambda view, policy=LGL, own_group=True: draw(view, policy, own_group)
        )
    )
    overload_method(HeaderType, "divert")(
        lambda header, router, policy=LGL: (
            lambda header, router, policy=LGL: divert(header, router, policy)
        )
    )
    overload_method(HeaderType, "go_minimally")(
        lambda header: lambda header: minimally(header, 0, 0)
    )


_teach()
_view, _header = _as(VIEW), _as(HEADER)
#: `_answer` as it is called: with the frame and a value.
_answers: Any = _answer
_first, _second = _loader(WORDS.index("first")), _loader(WORDS.index("second"))


@njit
def _nothing(answer: Any) -> int:
    return 0


def _entry(hook: str, function: Any) -> Any:
    """A C callback for a hook."""
    match HOOKS[hook], hook:
        case "vh", "route":

            def deroute_hook(frame: Any) -> Any:
                return _answers(frame, function(_view(frame), _header(frame)))
        case "vh", _:

            def deroute_hook(frame: Any) -> Any:
                return _answers(frame, _nothing(function(_view(frame), _header(frame))))
        case "v", _:

            def deroute_hook(frame: Any) -> Any:
                return _answers(frame, _nothing(function(_view(frame))))
        case _:

            def deroute_hook(frame: Any) -> Any:
                told = function(_view(frame), _first(frame), _second(frame))
                return _answers(frame, _nothing(told))

    return cfunc(types.int64(types.voidptr), **_OPTIONS)(deroute_hook)


def compiled(source: str, name: str, parameters: Mapping[str, Any]) -> Loaded:
    """The functions of a file, with values in place of those that it gives to its names.

    Raises `SpecError` with what is wrong, and on which line.
    """
    tree = _parsed(source, name, parameters)
    _check_randomness(tree, name)
    names = _executed(tree, name)
    functions = {
        key: value
        for key, value in names.items()
        if isinstance(value, python_types.FunctionType) and value.__code__.co_filename == name
    }
    if "route" not in functions:
        raise _wrong(name, None, "has no function `route(view, header)`")
    for key, function in functions.items():
        names[key] = njit(**_OPTIONS)(function)
    owners, addresses = [], []
    for hook, given in HOOKS.items():
        if hook not in functions:
            continue
        takes = functions[hook].__code__.co_argcount
        if takes != len(given):
            line = functions[hook].__code__.co_firstlineno
            raise _wrong(name, line, f"`{hook}` takes {takes} values and is given {len(given)}")
        try:
            callback = _entry(hook, names[hook])
        except (errors.NumbaError, NotImplementedError) as error:
            raise _not_understood(name, functions[hook], error) from None
        owners.append(callback)
        addresses.append((hook, callback.address))
    return _described(name, names, addresses, tuple(owners))


def _parsed(source: str, name: str, parameters: Mapping[str, Any]) -> ast.Module:
    """The file, with other values for some of its names."""
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    try:
        tree = ast.parse(source, name)
    except (SyntaxError, ValueError) as error:
        line = error.lineno if isinstance(error, SyntaxError) else None
        raise _wrong(name, line, f"is not Python: {getattr(error, 'msg', error)}") from None
    values: dict[str, ast.Assign | ast.AnnAssign] = {}
    for step in tree.body:
        match step:
            case ast.Assign(targets=[ast.Name(id=key)]) | ast.AnnAssign(target=ast.Name(id=key)):
                values[key] = step
    for key, value in parameters.items():
        if key not in values:
            choices = tuple(sorted(key for key in values if key not in _SETTINGS))
            message = f"{name} gives no value to `{key}`"
            raise spec_error(f"routing.python.parameters.{key}", message, choices)
        place = values[key]
        place.value = ast.copy_location(ast.Constant(value), place.value or place)
    return tree


#: Modules whose numbers are not those of a router, and differ from run to run.
_RANDOM = ("random", "numpy.random", "secrets", "time")


def _check_randomness(tree: ast.Module, name: str) -> None:
    """Refuses functions that draw numbers which no seed of a run decides."""
    known = dict[str, str]()
    for step in ast.walk(tree):
        if isinstance(step, ast.Import):
            known |= {each.asname or each.name: each.name for each in step.names}
        elif isinstance(step, ast.ImportFrom):
            names = ((each.asname or each.name, each.name) for each in step.names)
            known |= {key: f"{step.module}.{origin}" for key, origin in names}
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        for step in ast.walk(function):
            if isinstance(step, ast.Name | ast.Attribute):
                first, _, rest = ast.unparse(step).partition(".")
                origin = f"{known.get(first, '')}.{rest}."
                if origin.startswith(tuple(f"{module}." for module in _RANDOM)):
                    message = f"`{ast.unparse(step)}` is not the same in every run"
                    raise _wrong(name, step.lineno, message, ("view.below(n)",))


def _executed(tree: ast.Module, name: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "deroute_user_routing", "__file__": name}
    try:
        exec(compile(tree, name, "exec", dont_inherit=True), names)
    except Exception as error:
        trace, line = error.__traceback__, None
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == name:
                line = trace.tb_lineno
            trace = trace.tb_next
        raise _wrong(name, line, f"{type(error).__name__}: {error}") from None
    return names


#: What a file says of itself, beside its functions.
_SETTINGS = ("LADDER", "AT_SOURCE", "RECONSIDERS", "STATE")


def _described(
    name: str, names: Mapping[str, Any], addresses: list[tuple[str, int]], owners: tuple[Any, ...]
) -> Loaded:
    ladder, words = names.get("LADDER", "valiant"), names.get("STATE", 0)
    counted = isinstance(ladder, int) and 1 <= ladder <= _MOST_HOPS
    if not counted and ladder not in LADDERS:
        choices = (*LADDERS, f"a number of hops up to {_MOST_HOPS}")
        raise _wrong(name, None, f"LADDER = {ladder!r} is no ladder of VCs", choices)
    if not isinstance(words, int) or not 0 <= words < 1 << 16:
        raise _wrong(name, None, f"STATE = {words!r} is no number of words", ("0 to 65535",))
    reconsiders, at_source = (bool(names.get(key)) for key in ("RECONSIDERS", "AT_SOURCE"))
    if any(hook == "blocked" for hook, _ in addresses) and not reconsiders:
        raise _wrong(name, None, "`blocked` needs RECONSIDERS = True: heads that are routed again")
    if at_source and counted:
        raise _wrong(name, None, "AT_SOURCE needs a ladder on which packets follow a path", LADDERS)
    return Loaded(
        addresses=addresses,
        ladder=None if counted else ladder,
        hops=ladder if counted else 0,
        at_source=at_source,
        reconsiders=reconsiders,
        words=words,
        owners=owners,
    )


_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_LINE = re.compile(r'File "([^"]*)", line (\d+)|(?:^|\s)(\S+) \((\d+)\)$', re.MULTILINE)
#: Lines of numba that say how it works and not what is wrong.
_ASIDE = (
    *("Failed in ", "During: ", "- ", "There are ", "This error ", "Overload ", "No match", "* "),
    *("File ", "def ", "<source", "^", "Rejected ", "Enter ", "Invalid use of ", "raised from "),
)


def _not_understood(name: str, function: Any, error: Exception) -> Exception:
    """What numba says, on the line of the file where it says so."""
    text = _COLOUR.sub("", str(error))
    places = [(a or b, int(m or n)) for a, m, b, n in _LINE.findall(text)]
    lines = [line for file, line in places if file == name]
    own = ("it returns", "`", "Unknown attribute", "Untyped global name", "Cannot unify")
    told = [line.strip().rstrip(":") for line in text.splitlines() if line.strip()]
    told = [line.removeprefix("TypingError: ") for line in told]
    said = [line for line in told if line.startswith(own)]
    plain = [line for line in told if not line.startswith(_ASIDE)]
    message = (said[-1:] or plain[:1] or [str(error)])[0]
    line = lines[-1] if lines else function.__code__.co_firstlineno
    return _wrong(name, line, f"numba does not understand: {message}")


def _wrong(name: str, line: int | None, message: str, choices: tuple[str, ...] = ()) -> Exception:
    place = name if line is None else f"{name}:{line}"
    return spec_error("routing.python", f"{place}: {message}", choices)
