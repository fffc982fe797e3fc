"""Saving what can be read of a damaged result store."""

from __future__ import annotations

import json
import sqlite3
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from pydantic import ValidationError

from deroute import lock, runner, store
from deroute.errors import InputError, Problem
from deroute.results import Outcome
from deroute.spec import fingerprint

_COLUMNS = "key, engine, spec, outcome, arrays, seconds, finished_at"
#: What finds records by their keys, and bytes that one takes at least.
_INDEX, _LEAST_BYTES = "sqlite_autoindex_points_1", 256
#: What reading a damaged record may raise.
_DAMAGE = (sqlite3.DatabaseError, ValidationError, ValueError, KeyError, TypeError, BadZipFile)
Row = tuple[str, str, str, str, bytes, float, str]


@dataclass(frozen=True, slots=True)
class Dropped:
    """A result that is lost: the key of its point, if that could be read, and why."""

    key: str
    reason: str


@dataclass(frozen=True, slots=True)
class Repaired:
    """What became of a store."""

    kept: int
    dropped: list[Dropped]
    #: Whether more may be lost than is known.
    open_end: bool
    #: Where the damaged store is now; None if it was whole.
    backup: Path | None


@dataclass(frozen=True, slots=True)
class _Found:
    """Records that are there, readable or not."""

    #: Keys of the points by the numbers of the records; some below the last may be missing.
    keys: Mapping[int, str]
    last: int
    #: Whether there may be more beyond the last.
    open_end: bool


def repair(directory: Path) -> Repaired:
    """Make a store anew from the records that are whole; the damaged one is kept beside it."""
    file = directory / store.FILE
    if not file.exists():
        raise InputError([Problem("there are no results here", file=file)])
    with lock.exclusive(directory), store.explained(file):
        uri = f"{file.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as damaged:
            dropped: list[Dropped] = []
            found = _find(damaged, file.stat().st_size)
            rows = list(_whole_rows(damaged, found, dropped))
            if not dropped and _is_whole(damaged):
                return Repaired(len(rows), [], open_end=False, backup=None)
            document = _experiment(damaged, directory)
        draft = file.with_name(f"{file.name}.part")
        draft.unlink(missing_ok=True)
        with closing(sqlite3.connect(draft, isolation_level=None)) as new:
            store.make_tables(new)
            new.execute("BEGIN")
            new.execute("INSERT INTO experiment VALUES (?)", (json.dumps(document),))
            marks = ", ".join("?" * len(_COLUMNS.split(",")))
            new.executemany(f"INSERT INTO points ({_COLUMNS}) VALUES ({marks})", rows)
            new.execute("COMMIT")
        backup = _free_name(file)
        # SQLite's own files belong to the store that they were written for.
        for suffix in ("-wal", "-shm", ""):
            part = file.with_name(file.name + suffix)
            if part.exists():
                part.replace(backup.with_name(backup.name + suffix))
        draft.replace(file)
    return Repaired(len(rows), dropped, found.open_end, backup)


def _whole_rows(
    damaged: sqlite3.Connection, found: _Found, dropped: list[Dropped]
) -> Iterator[Row]:
    for number in sorted({*found.keys, *range(1, found.last)}):
        key = found.keys.get(number)
        try:
            query = f"SELECT {_COLUMNS} FROM points WHERE rowid = ?"
            row: Row | None = damaged.execute(query, (number,)).fetchone()
            if row is None and key is None:  # There never was one, or no longer.
                continue
            if row is None:
                raise sqlite3.DatabaseError("the record cannot be found")
            _check(row)
        except _DAMAGE as error:
            dropped.append(Dropped(key or "?", str(error).partition("\n")[0]))
        else:
            yield row


def _find(damaged: sqlite3.Connection, size: int) -> _Found:
    """Look for records in their table and in its index: from the first one on, and from the last
    one back, to the damage.
    """
    keys: dict[int, str] = {}
    whole, ends = True, False
    for source, by in (("NOT INDEXED", "rowid"), (f"INDEXED BY {_INDEX}", "key")):
        whole = True
        for direction in ("ASC", "DESC"):
            query = f"SELECT rowid, key FROM points {source} ORDER BY {by} {direction}"
            try:
                for number, key in damaged.execute(query):
                    keys[number] = str(key)
                    ends |= (by, direction) == ("rowid", "DESC")
            except sqlite3.DatabaseError:
                whole = False
    # A number in damage may be anything.
    last = min(max(keys, default=0), size // _LEAST_BYTES)
    return _Found(keys, last, open_end=not whole and not ends)


def _check(row: Row) -> None:
    key, _, spec, outcome, arrays, *_ = row
    if fingerprint(spec) != key:
        raise ValueError("its spec is not that of its key")
    read = Outcome.read(outcome, lambda: store.unpacked(arrays))
    # Whatever the outcome says there is must be among the arrays.
    _ = (read.arrays, read.series, read.agents, read.congestion, read.jobs)


def _is_whole(damaged: sqlite3.Connection) -> bool:
    try:
        store.check(damaged)
    except sqlite3.DatabaseError:
        return False
    return True


def _experiment(damaged: sqlite3.Connection, directory: Path) -> dict[str, Any]:
    try:
        document: dict[str, Any] = json.loads(
            damaged.execute("SELECT document FROM experiment").fetchone()[0]
        )
    except _DAMAGE:
        return tomllib.loads((directory / runner.COPY).read_text(encoding="utf-8"))
    return document


def _free_name(file: Path) -> Path:
    names = (file.with_name(f"{file.name}.damaged{n or ''}") for n in range(1000))
    return next(name for name in names if not name.exists())
