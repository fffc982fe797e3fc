"""Folders, archives and compressed files of traces, read line by line."""

from __future__ import annotations

import gzip
import tarfile
import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from deroute.errors import InputError, Problem

ARCHIVES = (".tar", ".tar.gz", ".tgz")
#: What is read of a file at a time; it is closed in between, as there may be many.
_PIECE = 1 << 18
#: Members of communicators of 10^6 ranks stand on one line.
_LONGEST_LINE = 1 << 24


#: Ranks that a trace may have.
MOST_RANKS = 10**6


def refuse(message: str, file: Path | None, line: int | None = None) -> NoReturn:
    """Raise an error that says where."""
    raise InputError([Problem(message, file=file, line=line)])


def ranks(number: str, file: Path, line: int) -> int:
    """How many ranks there are. Raises `InputError` if these are more than a trace may have."""
    count = int(number)
    if not 0 < count <= MOST_RANKS:
        refuse(f"{count} ranks; there may be 1 to {MOST_RANKS:,}", file, line)
    return count


class Place:
    """The files of a folder or archive, or one file alone."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.exists():
            raise InputError([Problem("No such file or directory", file=path)])
        self._folder = path
        if path.is_file() and path.name.endswith(ARCHIVES):
            self._folder = self._unpack()

    def _unpack(self) -> Path:
        """The files of the archive in a temporary folder, which goes when this object does."""
        folder = tempfile.TemporaryDirectory(prefix="deroute-")
        weakref.finalize(self, folder.cleanup)
        try:
            with tarfile.open(self.path) as archive:
                archive.extractall(folder.name, filter="data")
        except (tarfile.TarError, EOFError, OSError) as error:
            refuse(f"cannot be unpacked: {error}", self.path)
        return Path(folder.name)

    def files(self) -> list[Path]:
        """All files, in the order of their names."""
        if self._folder.is_file():
            return [self._folder]
        return sorted(file for file in self._folder.rglob("*") if file.is_file())


def lines(file: Path) -> Iterator[str]:
    """The lines of a file without their ends. Compressed files stay open, others do not."""
    if file.suffix == ".gz":
        yield from _compressed(file)
        return
    rest, place = b"", 0
    while True:
        with file.open("rb") as stream:
            stream.seek(place)
            piece = stream.read(_PIECE)
        place += len(piece)
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            yield line.decode("ascii", "replace")
        if len(rest) > _LONGEST_LINE:
            refuse("has a line of more than 16 MiB", file)
        if not piece:
            break
    if rest:
        yield rest.decode("ascii", "replace")


def _compressed(file: Path) -> Iterator[str]:
    try:
        with gzip.open(file, "rt", encoding="ascii", errors="replace") as stream:
            while line := stream.readline(_LONGEST_LINE):
                yield line.rstrip("\n")
    except (EOFError, OSError) as error:
        refuse(f"cannot be unpacked: {error}", file)


def first_line(file: Path) -> str:
    """The beginning of a file."""
    return next(lines(file), "")


def data(file: Path) -> bytes:
    """All that is in a file, unpacked."""
    try:
        if file.suffix == ".gz":
            with gzip.open(file) as stream:
                return stream.read()
        return file.read_bytes()
    except (EOFError, OSError) as error:
        refuse(f"cannot be read: {error}", file)
