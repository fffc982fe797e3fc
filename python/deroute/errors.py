"""What is wrong with something a user wrote, and where: file, line, path, value, choices."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from deroute import _engine
from deroute._engine import SimulationError, SpecError

__all__ = ["InputError", "Problem", "SimulationError", "SpecError", "parse_path", "show_path"]

#: A place in a document: keys of tables and indices of arrays.
DocumentPath = tuple[str | int, ...]

_STEP = re.compile(r"\[(\d+)\]|([^.\[\]]+)")


_PATH = re.compile(r"[^.\[\]]+(\[\d+\]|\.[^.\[\]]+)*")


def is_path(text: str) -> bool:
    """Whether `parse_path` can read all of it."""
    return _PATH.fullmatch(text) is not None


def parse_path(text: str) -> DocumentPath:
    """`traffic.then[0].load` or `traffic.then.0.load` as steps."""
    return tuple(
        int(index) if index else int(key) if key.isdigit() else key
        for index, key in _STEP.findall(text)
    )


def show_path(path: Iterable[str | int]) -> str:
    """Steps as `axis[0].values[2].label`; keys with dots are quoted."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += ("." if text else "") + (f'"{step}"' if "." in step else step)
    return text


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake."""

    message: str
    #: Dotted path of the key, as in the file.
    path: str = ""
    choices: tuple[str, ...] = ()
    file: Path | None = None
    line: int | None = None
    #: More about where it matters, e.g. which points of a sweep.
    note: str = ""

    @property
    def place(self) -> str:
        """`file:line: path`, as far as known."""
        file = None if self.file is None else str(self.file)
        if file is not None and self.line is not None:
            file = f"{file}:{self.line}"
        return ": ".join(part for part in (file, self.path) if part)

    def hint(self) -> str | None:
        """The choice that is spelled almost like the key or value found, if there is one."""
        quoted = re.findall(r"[`'\"]([^`'\"]+)[`'\"]", self.message)
        found = quoted[-1] if quoted else self.path.rpartition(".")[2]
        close = difflib.get_close_matches(found, self.choices, n=1)
        return close[0] if close and close[0] != found else None

    def lines(self) -> list[str]:
        """The problem on a few lines."""
        lines = [f"{self.place}: {self.message}" if self.place else self.message]
        hint = self.hint()
        if hint:
            lines.append(f"  did you mean: {hint}")
        if self.choices:
            lines.append(f"  allowed: {', '.join(self.choices)}")
        if self.note:
            lines.append(f"  {self.note}")
        return lines


class InputError(Exception):
    """Something that a user wrote is wrong; nothing has been run."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(line for problem in problems for line in problem.lines()))

    @classmethod
    def of(cls, message: str, path: str = "", choices: Iterable[object] = ()) -> InputError:
        """An error with one problem that is not in a file."""
        return cls([Problem(message, path, tuple(str(choice) for choice in choices))])


def in_file(
    message: str,
    path: DocumentPath,
    *,
    file: Path | None,
    text: str | None,
    choices: Iterable[object] = (),
    note: str = "",
) -> Problem:
    """A problem at `path` of the TOML document `text`, with the line on which it stands."""
    found = None if text is None else _engine.locate(text, list(path))
    return Problem(
        message=message,
        path=show_path(path),
        choices=tuple(str(choice) for choice in choices),
        file=file,
        line=None if found is None else found[0],
        note=note,
    )
