"""The result store: one SQLite file per result directory.

A finished point is durable as soon as `put` returns. Points are kept under the hash of their spec
and the version of the engine, so nothing is ever computed twice or overwritten by another version.
"""

from __future__ import annotations

import io
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from typing import Any
from zipfile import BadZipFile, ZipFile

import numpy as np
from numpy.typing import NDArray

from deroute import lock
from deroute.errors import InputError, Problem
from deroute.machine import memory

FILE = "results.sqlite"

#: Marks the file as a Deroute store ("DRTE").
_APPLICATION_ID = 0x44525445
_VERSION = 1
#: Seconds to wait for another process that has the store locked: to open it, and to keep a result.
_PATIENCE, _LONG_PATIENCE = 3.0, 30.0
_LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
#: Bytes of arrays for each byte that they are packed in: deflate does no better.
_MOST_PACKED = 1032
_SHORT_READ = sqlite3.SQLITE_IOERR_SHORT_READ
_NOT_DAMAGE = (
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
)
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
    #: Day and time (UTC) at which it was kept.
    finished_at: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Record:
    """A finished point as a store keeps it: the columns of the table."""

    key: str
    engine: str
    spec: str
    outcome: str
    arrays: bytes
    seconds: float
    finished_at: str


class Store:
    """An open result store."""

    def __init__(self, connection: sqlite3.Connection, file: Path) -> None:
        self._connection = connection
        self.file = file

    @classmethod
    @contextmanager
    def open(cls, directory: Path, *, create: bool = False) -> Iterator[Store]:
        """Open the store of a result directory, to read it.

        With `create` it is opened for a run: made if there is none, written, and held against
        other runs until it is closed. Reading needs no right to write, and no free space.
        """
        file = directory / FILE
        if create:
            with explained(file):
                directory.mkdir(parents=True, exist_ok=True)
            with ExitStack() as held:
                with explained(file):
                    held.enter_context(lock.exclusive(directory))
                yield from cls._writing(file)
            return
        if not file.exists():
            message = "there are no results here; `deroute run FILE` makes them"
            raise InputError([Problem(message, file=file)])
        with explained(file):
            connection = _reader(file)
        try:
            yield cls(connection, file)
        finally:
            connection.close()

    @classmethod
    def _writing(cls, file: Path) -> Iterator[Store]:
        with explained(file):
            connection = sqlite3.connect(file, timeout=_PATIENCE, isolation_level=None)
        try:
            store = cls(connection, file)
            with explained(file):
                store._prepare()
                connection.execute(f"PRAGMA busy_timeout = {1000 * _LONG_PATIENCE:.0f}")
            yield store
            # One plain file then holds everything, which can be read anywhere; not while others
            # are reading it.
            with suppress(sqlite3.OperationalError):
                connection.execute("PRAGMA busy_timeout = 0")
                connection.execute("PRAGMA journal_mode = DELETE")
        finally:
            connection.close()

    def _prepare(self) -> None:
        run = self._connection.execute
        if not _is_empty(self._connection):
            check(self._connection)
        run("PRAGMA journal_mode = WAL")
        run("PRAGMA synchronous = FULL")
        with self._transaction():
            if _is_empty(self._connection):
                make_tables(self._connection)

    def set_experiment(self, document: Mapping[str, Any]) -> None:
        """Remember which experiment the results belong to, as it was last run."""
        with self._transaction() as run:
            run("DELETE FROM experiment")
            run("INSERT INTO experiment VALUES (?)", (json.dumps(document),))

    def experiment(self) -> dict[str, Any]:
        """The experiment as it was last run."""
        with explained(self.file):
            row = self._connection.execute("SELECT document FROM experiment").fetchone()
            if row is None:
                raise sqlite3.DatabaseError("it names no experiment")
            document: dict[str, Any] = json.loads(row[0])
            return document

    def name(self) -> str | None:
        """Name of the experiment as it was last run; None if no run has come that far."""
        with explained(self.file):
            row = self._connection.execute("SELECT document FROM experiment").fetchone()
            return None if row is None else str(json.loads(row[0])["name"])

    def finished(self, engine: str) -> dict[str, float]:
        """Keys of the points that this version of the engine has finished: wall time of each, s."""
        with explained(self.file):
            query = "SELECT key, seconds FROM points WHERE engine = ?"
            return dict(self._connection.execute(query, (engine,)))

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
        query = "SELECT key, engine, spec, outcome, seconds, finished_at FROM points ORDER BY rowid"
        with explained(self.file):
            return [Stored(*row) for row in self._connection.execute(query)]

    def records(self) -> Iterator[Record]:
        """Every finished point with its arrays as they are kept, the oldest first."""
        yield from self._records("ORDER BY rowid")

    def records_of(self, keys: Iterable[str], engine: str) -> Iterator[Record]:
        """Those of these keys that this version of the engine has finished."""
        for key in keys:
            yield from self._records("WHERE key = ? AND engine = ?", key, engine)

    def _records(self, which: str, *values: str) -> Iterator[Record]:
        query = f"SELECT {', '.join(Record.__slots__)} FROM points {which}"
        with explained(self.file):
            for row in self._connection.execute(query, values):
                yield Record(*row)

    def add(self, record: Record) -> None:
        """Keep a point that another store has; durable on return. One that is there stays."""
        columns = Record.__slots__
        marks = ", ".join("?" * len(columns))
        values = [getattr(record, column) for column in columns]
        with self._transaction() as run:
            run(f"INSERT OR IGNORE INTO points ({', '.join(columns)}) VALUES ({marks})", values)

    @contextmanager
    def _transaction(self) -> Iterator[Any]:
        with explained(self.file):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection.execute
                self._connection.execute("COMMIT")
            except BaseException:
                # SQLite has rolled back already after some errors, such as a full disk.
                if self._connection.in_transaction:
                    with suppress(sqlite3.Error):
                        self._connection.execute("ROLLBACK")
                raise


def _is_empty(connection: sqlite3.Connection) -> bool:
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return not tables


def make_tables(connection: sqlite3.Connection) -> None:
    """Make an empty store of an empty database."""
    for statement in _TABLES.split(";"):
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {_VERSION}")


def check(connection: sqlite3.Connection) -> None:
    """That it is a store, of this version, and whole."""
    (identity,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if identity != _APPLICATION_ID:
        raise sqlite3.DatabaseError("it is a database, but not a result store")
    if version != _VERSION:
        raise sqlite3.DatabaseError(f"its layout is version {version}, not {_VERSION}")
    (state,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if state != "ok":
        raise sqlite3.DatabaseError(str(state))


def _reader(file: Path) -> sqlite3.Connection:
    """A connection that writes nothing.

    SQLite needs files of its own beside a store that a run has open, or left when it was killed;
    where it cannot make them, the store is read as if nobody ever wrote to it.
    """
    try:
        return _read_only(file, "mode=ro")
    except sqlite3.OperationalError as error:
        if _code(error) in _LOCKED:  # It may be written to at this very moment.
            raise
        try:
            return _read_only(file, "mode=ro&immutable=1")
        except sqlite3.OperationalError:
            raise error from None


def _read_only(file: Path, options: str) -> sqlite3.Connection:
    uri = f"{file.absolute().as_uri()}?{options}"
    connection = sqlite3.connect(uri, uri=True, timeout=_PATIENCE, isolation_level=None)
    try:
        if not _is_empty(connection):
            check(connection)
            return connection
    except BaseException:
        connection.close()
        raise
    connection.close()
    # A run has only just begun.
    empty = sqlite3.connect(":memory:", isolation_level=None)
    make_tables(empty)
    return empty


def read_arrays(file: Path, key: str, engine: str) -> dict[str, NDArray[Any]]:
    """Arrays of one finished point."""
    query = "SELECT arrays FROM points WHERE key = ? AND engine = ?"
    with Store.open(file.parent) as store, explained(file):
        row = store._connection.execute(query, (key, engine)).fetchone()
        if row is None:
            raise sqlite3.DatabaseError(f"the point {key} has gone")
        return unpacked(row[0])


def unpacked(packed: bytes) -> dict[str, NDArray[Any]]:
    """The arrays of a record. Raises `ValueError` or `BadZipFile` if it is no such thing."""
    with ZipFile(io.BytesIO(packed)) as archive:
        size = sum(member.file_size for member in archive.infolist())
    if size > min(_MOST_PACKED * len(packed), memory()):
        raise ValueError(f"its arrays would unpack from {len(packed):,} to {size:,} bytes")
    try:
        with np.load(io.BytesIO(packed), allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except MemoryError as error:
        raise ValueError(f"its arrays do not fit into memory: {error}") from error


def _fields(point: Stored) -> tuple[str, str, str, str]:
    return point.key, point.engine, point.spec, point.outcome


@contextmanager
def explained(file: Path) -> Iterator[None]:
    """Turns what SQLite and the file system complain about into an input error."""
    try:
        yield
    except (sqlite3.DatabaseError, OSError, ValueError, BadZipFile) as error:
        message = f"cannot be used as a result store: {error}"
        if _code(error) in _LOCKED:
            message += ". Another process holds it: try again when that has ended"
        elif file.exists() and _is_damage(error):
            command = f"deroute repair {quote(str(file.parent))}"
            message += (
                f". It was left as it is: `{command}` saves what is in it, or move it away to start"
                " anew"
            )
        raise InputError([Problem(message, file=file)]) from error


def _is_damage(error: Exception) -> bool:
    """Whether the file is to blame, not the disk, the rights or another process."""
    if isinstance(error, OSError):
        return False
    code = getattr(error, "sqlite_errorcode", None)
    return code is None or code == _SHORT_READ or code & 0xFF not in _NOT_DAMAGE


def _code(error: Exception) -> int | None:
    """What SQLite calls the error, without its details."""
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF
