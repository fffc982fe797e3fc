"""The standard streams, whatever the shell has made of them."""

from __future__ import annotations

import codecs
import io
import os
import sys

#: Signs that the lab prints, for terminals that know only ASCII.
_PLAIN = {"±": "+-", "µ": "u", "\u00d7": "x", "≤": "<=", "≥": ">=", "→": "->", "…": "...", "·": "-"}
_HANDLER = "deroute.plain"


def open_all() -> None:
    """Give a closed stream to the null device, and let none fail for want of a character.

    A file that is opened later would otherwise take the place of the closed stream, and be written
    into.
    """
    closed = [number for number in (0, 1, 2) if not _is_open(number)]
    for number in closed:
        nowhere = os.open(os.devnull, os.O_RDWR)
        if nowhere != number:
            os.dup2(nowhere, number)
            os.close(nowhere)
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        print("note: standard output is closed; what would stand there is lost", file=sys.stderr)
    codecs.register_error(_HANDLER, _plain)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_HANDLER)


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def _plain(error: UnicodeError) -> tuple[str, int]:
    """What stands for characters that a stream cannot show."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    found = error.object[error.start : error.end]
    return "".join(_PLAIN.get(sign, "?") for sign in found), error.end
