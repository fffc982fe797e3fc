"""A routing of one's own, in Python.

A file has a function `route(view, header)`, and what it needs beside; `routing.python` names it in
a spec. numba compiles it, and the engine calls the machine code. `docs/routing-in-python.md` is the
guide; `View` and `Header` say what may be asked.

    from deroute.routing import MINIMAL, Header, View

    LADDER = "valiant"    # VCs of paths through an intermediate router

    def route(view: View, header: Header) -> int:
        if header.position == 0:
            header.divert(view.intermediate())
        return view.hop(header)
"""

from __future__ import annotations

import json
import sys
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from deroute.routing.words import GL, LG, LGL, MINIMAL, A, B, G, Header, View
from deroute.spec import spec_error

if TYPE_CHECKING:
    from deroute.routing.compiler import Loaded

__all__ = ["GL", "LG", "LGL", "MINIMAL", "A", "B", "G", "Header", "View"]

#: What a text names that the lab has not read.
_PATH = "routing.python"
#: The exceptions that compiled code has raised and nobody has asked for.
_raised: list[str] = []
#: Files that have been compiled, by their names.
_files: set[str] = set()


def load(source: str | None, file: str | None, name: str, parameters: str) -> Loaded:
    """The functions of a file, compiled; `parameters` are values for its names, as JSON.

    Raises `SpecError` with what Python or numba do not understand, and on which line.
    """
    if source is None:
        if file is not None:
            message = f'"{file}" is read by `deroute run` and from spec files only'
            raise spec_error(f"{_PATH}.file", message, ("source",))
        raise spec_error(_PATH, "names no routing", ("file", "source"))
    if find_spec("numba") is None:
        message = "needs numba, which is not installed: pip install 'deroute[python-routing]'"
        raise spec_error(_PATH, message)
    _listen()
    _files.add(name)
    return _compiled(source, name, parameters)


@lru_cache(maxsize=64)
def _compiled(source: str, name: str, parameters: str) -> Loaded:
    from deroute.routing import compiler  # noqa: PLC0415

    return compiler.compiled(source, name, json.loads(parameters))


def raised() -> str | None:
    """What the exception was that compiled code raised last, and where; forgets it."""
    last = _raised[-1] if _raised else None
    _raised.clear()
    return last


_others = sys.unraisablehook


def _listen() -> None:
    """An exception in compiled code has no caller: keep what it says for the error of the run."""
    if sys.unraisablehook is not _heard:
        global _others  # noqa: PLW0603
        _others = sys.unraisablehook
        sys.unraisablehook = _heard


def _heard(event: sys.UnraisableHookArgs) -> None:
    if not str(event.object).startswith("<numba."):
        _others(event)
        return
    # numba knows the line of a `raise`; of other exceptions it has the caller of the engine.
    trace = event.exc_traceback
    file = None if trace is None else trace.tb_frame.f_code.co_filename
    place = f"{file}:{trace.tb_lineno}: " if trace is not None and file in _files else ""
    what = "" if event.exc_value is None else f": {event.exc_value}"
    _raised.append(f"{place}{event.exc_type.__name__}{what}")
