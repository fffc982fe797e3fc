"""Formats of traces that the lab reads itself: one line each in the catalogue."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from deroute.errors import InputError
from deroute.trace import (
    chakra,
    dimemas,
    goal,
    goal_binary,
    otf2_trace,
    simai,
    text,
    time_independent,
)
from deroute.trace.ops import Trace
from deroute.trace.places import Place, first_line, refuse


@dataclass(frozen=True)
class Format:
    """A format."""

    open: Callable[[Place], Trace]
    #: What the first line of a file looks like.
    head: re.Pattern[str]
    #: Operations stand in the order in which a rank does them.
    in_order: bool = True
    #: A trace is one file.
    alone: bool = False
    #: What the names of the files look like, if that tells.
    files: re.Pattern[str] | None = None

    def fits(self, file: Path, head: str) -> bool:
        """Whether a file with this first line is of the format."""
        if self.files is not None:
            return self.files.fullmatch(file.name) is not None
        return self.head.fullmatch(head) is not None


#: What a job replays and the lab does not read, by how a file of it begins or is named.
REPLAYED: Mapping[str, tuple[re.Pattern[str], re.Pattern[str]]] = {
    "Paraver": (re.compile(r"#Paraver.*"), re.compile(r".*\.prv(\.gz)?")),
    "DUMPI": (re.compile(r"hostname=.*"), re.compile(r".*-\d+\.bin|dumpi-.*\.meta")),
}

CATALOGUE: Mapping[str, Format] = {
    text.NAME: Format(text.TextTrace, re.compile(r"mpi-trace 1\s*")),
    goal.NAME: Format(
        goal.GoalTrace, re.compile(r"\s*(num_ranks\b|//|/\*).*"), in_order=False, alone=True
    ),
    goal_binary.NAME: Format(
        goal_binary.GoalBinaryTrace, goal_binary.HEAD, in_order=False, alone=True
    ),
    dimemas.NAME: Format(dimemas.DimemasTrace, dimemas.HEAD, alone=True),
    chakra.NAME: Format(chakra.ChakraTrace, re.compile(".*"), in_order=False, files=chakra.ENDS),
    otf2_trace.NAME: Format(otf2_trace.Otf2Trace, re.compile(".*"), files=otf2_trace.FILES),
    simai.NAME: Format(simai.SimaiTrace, simai.HEAD, alone=True),
    time_independent.NAME: Format(
        time_independent.TimeIndependentTrace, re.compile(r"\d+ (init|compute|comm_size)\b.*")
    ),
}


def open_trace(path: Path, name: str | None = None) -> tuple[str, Trace]:
    """The format of a trace, and the trace. Raises `InputError` if it is none that is known."""
    if name is not None and name not in CATALOGUE:
        raise InputError.of(f"there is no format {name!r}", "--format", CATALOGUE)
    # What belongs to an OTF2 file stands beside it.
    beside = path.is_file() and otf2_trace.FILES.fullmatch(path.name) is not None
    place = Place(path.parent if beside else path)
    files = place.files()
    if name is None:
        heads = [(file, first_line(file)[:200]) for file in files[:100]]
        fits = (
            known
            for known, form in CATALOGUE.items()
            if any(form.fits(file, head) for file, head in heads)
            and (len(files) == 1 or not form.alone)
        )
        name = next(fits, None)
    if name is None:
        for known, (begins, named) in REPLAYED.items():
            if any(begins.fullmatch(head) or named.fullmatch(file.name) for file, head in heads):
                refuse(f"is a trace of {known}: a job replays it, but it is not read here", path)
        refuse(f"is no trace in a format that is read here: {', '.join(CATALOGUE)}", path)
    if CATALOGUE[name].alone and len(files) != 1:
        refuse(f"has {len(files)} files; a trace of {name} is one", path)
    return name, CATALOGUE[name].open(place)
