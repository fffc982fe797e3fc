"""One run at a time in a result directory."""

from __future__ import annotations

import contextlib
import errno
import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deroute.errors import InputError, Problem

#: Beside the store while a run is under way. One that a killed run has left does no harm.
FILE = "run.lock"

_TAKEN = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK)


@contextmanager
def exclusive(directory: Path) -> Iterator[None]:
    """Hold the directory; an `InputError` if another run holds it."""
    file = directory / FILE
    descriptor = _acquire(file)
    if descriptor is None:
        raise InputError([Problem(f"another run is using {directory}")])
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            file.unlink()
        os.close(descriptor)


def is_held(directory: Path) -> bool:
    """Whether a run holds the directory."""
    try:
        descriptor = os.open(directory / FILE, os.O_RDWR)
    except OSError:
        return False
    try:
        return not _lock(descriptor)
    finally:
        os.close(descriptor)


def _acquire(file: Path) -> int | None:
    """Its locked descriptor, or None if it is taken."""
    while True:
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            if not _lock(descriptor):
                os.close(descriptor)
                return None
            # The run before may have removed the file since it was opened here.
            if file.exists() and os.path.samestat(os.fstat(descriptor), file.stat()):
                return descriptor
        except FileNotFoundError:
            pass
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    try:
        if sys.platform == "win32":
            msvcrt = importlib.import_module("msvcrt")
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            fcntl = importlib.import_module("fcntl")
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _TAKEN:
            return False
        # A file system without locks: SQLite's own then have to do.
    return True
