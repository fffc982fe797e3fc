"""Saving what can be read of a damaged result store."""

from __future__ import annotations

import json
import sqlite3
import tomllib
from collections.abc import Iterator
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
#: What reading a damaged record may raise.
_DAMAGE = (sqlite3.DatabaseError, ValidationError, ValueError, KeyError, TypeError, BadZipFile)
Row = tuple[str, str, str, str, bytes, float, str]


@dataclass(frozen=True, slots=True)
class Dropped:
    """A record that is lost: the key of its point, if that could be read, and why."""

    key: str
    reason: str


@dataclass(frozen=True, slots=True)
class Repaired:
    """What became of a store."""

    kept: int
    dropped: list[Dropped]
    #: Where the damaged store is now; None if it was whole.
    backup: Path | None


def repair(directory: Path) -> Repaired:
    """Make a store anew from the records that are whole; the damaged one is kept beside it."""
    file = directory / store.FILE
    if not file.exists():
        raise InputError([Problem("there are no results here", file=file)])
    with lock.exclusive(directory), store.explained(file):
        uri = f"{file.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as damaged:
            dropped: list[Dropped] = []
            rows = list(_whole_rows(damaged, dropped))
            if not dropped and _is_whole(damaged):
                return Repaired(len(rows), [], None)
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
    return Repaired(len(rows), dropped, backup)


def _whole_rows(damaged: sqlite3.Connection, dropped: list[Dropped]) -> Iterator[Row]:
    for number in _numbers(damaged, dropped):
        try:
            key = damaged.execute("SELECT key FROM points WHERE rowid = ?", (number,)).fetchone()
            query = f"SELECT {_COLUMNS} FROM points WHERE rowid = ?"
            row: Row = damaged.execute(query, (number,)).fetchone()
        except _DAMAGE as error:
            dropped.append(Dropped("?", str(error)))
            continue
        try:
            _check(row)
        except _DAMAGE as error:
            dropped.append(Dropped(str(key[0]), str(error).partition("\n")[0]))
        else:
            yield row


def _numbers(damaged: sqlite3.Connection, dropped: list[Dropped]) -> list[int]:
    """Numbers of the rows: from the first one on, and from the last one back, to the damage."""
    found: dict[int, None] = {}
    for direction in ("ASC", "DESC"):
        query = f"SELECT rowid FROM points ORDER BY rowid {direction}"
        try:
            for (number,) in damaged.execute(query):
                found[number] = None
        except sqlite3.DatabaseError as error:
            if direction == "ASC":
                dropped.append(Dropped("?", f"records that cannot be found: {error}"))
        else:
            break
    return sorted(found)


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
