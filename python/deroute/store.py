"""The result store: one SQLite file per result directory.

A finished point is durable as soon as `put` returns. Points are kept under the hash of their spec
and the version of the engine, so nothing is ever computed twice or overwritten by another version.
"""

from __future__ import annotations

import io
import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deroute.errors import InputError, Problem

FILE = "results.sqlite"

#: Marks the file as a Deroute store ("DRTE").
_APPLICATION_ID = 0x44525445
_VERSION = 1
_TABLES = """
CREATE TABLE experiment (document TEXT NOT NULL);
CREATE TABLE points (
    key TEXT NOT NULL,
    engine TEXT NOT NULL,
    spec TEXT NOT NULL,
    outcome TEXT NOT NULL,
    arrays BLOB NOT NULL,
    seconds REAL NOT NULL,
    finished_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (key, engine)
);
"""


@dataclass(frozen=True, slots=True)
class Stored:
    """A finished point, without its arrays."""

    key: str
    engine: str
    spec: str
    #: The outcome's scalars as the engine's JSON.
    outcome: str
    seconds: float


class Store:
    """An open result store."""

    def __init__(self, connection: sqlite3.Connection, file: Path) -> None:
        self._connection = connection
        self.file = file

    @classmethod
    @contextmanager
    def open(cls, directory: Path, *, create: bool = False) -> Iterator[Store]:
        """Open the store of a result directory; `create` makes it if there is none."""
        file = directory / FILE
        if not file.exists() and not create:
            message = "there are no results here; `deroute run FILE` makes them"
            raise InputError([Problem(message, file=file)])
        with _explained(file):
            directory.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(file, timeout=30.0, isolation_level=None)
        try:
            store = cls(connection, file)
            with _explained(file):
                store._prepare()
            yield store
        finally:
            connection.close()

    def _prepare(self) -> None:
        run = self._connection.execute
        (identity,) = run("PRAGMA application_id").fetchone()
        (version,) = run("PRAGMA user_version").fetchone()
        (tables,) = run("SELECT count(*) FROM sqlite_master").fetchone()
        if tables and identity != _APPLICATION_ID:
            raise sqlite3.DatabaseError("it is a database, but not a result store")
        if tables and version != _VERSION:
            raise sqlite3.DatabaseError(f"its layout is version {version}, not {_VERSION}")
        (state,) = run("PRAGMA quick_check(1)").fetchone()
        if state != "ok":
            raise sqlite3.DatabaseError(str(state))
        run("PRAGMA journal_mode = WAL")
        run("PRAGMA synchronous = FULL")
        if not tables:
            marks = f"PRAGMA application_id = {_APPLICATION_ID}; PRAGMA user_version = {_VERSION};"
            self._connection.executescript(f"BEGIN IMMEDIATE; {_TABLES} {marks} COMMIT;")

    def set_experiment(self, document: Mapping[str, Any]) -> None:
        """Remember which experiment the results belong to, as it was last run."""
        with self._transaction() as run:
            run("DELETE FROM experiment")
            run("INSERT INTO experiment VALUES (?)", (json.dumps(document),))

    def experiment(self) -> dict[str, Any]:
        """The experiment as it was last run."""
        with _explained(self.file):
            row = self._connection.execute("SELECT document FROM experiment").fetchone()
            if row is None:
                raise sqlite3.DatabaseError("it names no experiment")
            document: dict[str, Any] = json.loads(row[0])
            return document

    def keys(self, engine: str) -> set[str]:
        """Keys of the points that this version of the engine has finished."""
        with _explained(self.file):
            rows = self._connection.execute("SELECT key FROM points WHERE engine = ?", (engine,))
            return {key for (key,) in rows}

    def put(self, point: Stored, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Keep a finished point; durable on return. One that is there already stays."""
        packed = io.BytesIO()
        np.savez_compressed(packed, allow_pickle=False, **arrays)
        with self._transaction() as run:
            run(
                "INSERT OR IGNORE INTO points (key, engine, spec, outcome, arrays, seconds)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (*_fields(point), packed.getvalue(), point.seconds),
            )

    def points(self) -> list[Stored]:
        """Every finished point, the oldest first."""
        query = "SELECT key, engine, spec, outcome, seconds FROM points ORDER BY rowid"
        with _explained(self.file):
            return [Stored(*row) for row in self._connection.execute(query)]

    @contextmanager
    def _transaction(self) -> Iterator[Any]:
        with _explained(self.file):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection.execute
                self._connection.execute("COMMIT")
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise


def read_arrays(file: Path, key: str, engine: str) -> dict[str, NDArray[Any]]:
    """Arrays of one finished point."""
    query = "SELECT arrays FROM points WHERE key = ? AND engine = ?"
    with Store.open(file.parent) as store, _explained(file):
        row = store._connection.execute(query, (key, engine)).fetchone()
        if row is None:
            raise sqlite3.DatabaseError(f"the point {key} has gone")
        with np.load(io.BytesIO(row[0]), allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}


def _fields(point: Stored) -> tuple[str, str, str, str]:
    return point.key, point.engine, point.spec, point.outcome


@contextmanager
def _explained(file: Path) -> Iterator[None]:
    """Turns what SQLite and the file system complain about into an input error."""
    try:
        yield
    except (sqlite3.DatabaseError, OSError, ValueError) as error:
        message = (
            f"cannot be used as a result store: {error}. It was left as it is: move it away to"
            " start anew, or try `sqlite3 FILE .recover` to save what is in it"
        )
        raise InputError([Problem(message, file=file)]) from error
