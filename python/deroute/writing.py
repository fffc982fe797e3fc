"""Files and folders that appear whole or not at all, and values of TOML in them."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from deroute.errors import InputError


@contextmanager
def whole(file: Path) -> Iterator[Path]:
    """A file to write in place of `file`, which it becomes when it is complete.

    What was there stays if anything goes wrong, such as a disk that fills up.
    """
    named(file)
    draft = draft_of(file)
    try:
        yield draft
        draft.replace(file)
    except OSError as error:
        elsewhere = error.filename is not None and str(error.filename) != str(draft)
        if error.errno is None or elsewhere:
            raise
        raise OSError(error.errno, error.strerror, str(file)) from error
    finally:
        with suppress(OSError):
            draft.unlink()


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """A folder to write files in, which are in `folder` when all of them are complete.

    If anything goes wrong nothing of them stays, nor the folder, if it was not there.
    """
    draft, new = draft_of(folder / "files"), not folder.exists()
    shutil.rmtree(draft, ignore_errors=True)
    try:
        draft.mkdir(parents=True)
        yield draft
        for file in sorted(draft.iterdir()):
            file.replace(folder / file.name)
    except OSError as error:
        if error.errno is None or not str(error.filename or draft).startswith(str(draft)):
            raise
        raise OSError(error.errno, error.strerror, str(folder)) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        if new:
            with suppress(OSError):
                folder.rmdir()


@contextmanager
def blaming(option: str, place: Path) -> Iterator[None]:
    """Turns what cannot be written at a place into an input error of the option that names it."""
    try:
        yield
    except OSError as error:
        message = f"cannot write {error.filename or place}: {error.strerror or error}"
        raise InputError.of(message, option) from error


def named(file: Path) -> None:
    """Refuse a path that names no file, such as `.`, as if it were any other folder."""
    if not file.name:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(file))


def experiment_name(file: Path) -> str:
    """An experiment is named after its file, with `-` for what no name may have."""
    return re.sub(r"[^A-Za-z0-9_.+-]", "-", file.stem).lstrip("_.+-") or "experiment"


def absent(file: Path, option: str) -> None:
    """Refuse a file that is there already."""
    with blaming(option, file):
        if file.exists():
            raise InputError.of(f"{file} is there already", option)


def empty(folder: Path, option: str) -> None:
    """Refuse a folder that has something in it, and what is no folder."""
    with blaming(option, folder):
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise InputError.of(f"{folder} is not an empty folder", option)


def draft_of(file: Path) -> Path:
    """Where it is written: stays there if the process is killed at it."""
    return file.with_name(f".{file.name}.part")


def toml_value(value: Any) -> str:
    """A value of TOML on one line."""
    match value:
        case Mapping():
            inside = ", ".join(f"{_key(key)} = {toml_value(item)}" for key, item in value.items())
            return f"{{ {inside} }}" if inside else "{}"
        case list() | tuple():
            return f"[{', '.join(map(toml_value, value))}]"
        case _:
            return json.dumps(value)


def _key(key: str) -> str:
    return json.dumps(key) if "." in key else key
