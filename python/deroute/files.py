"""Files that specs refer to: their content takes their place, so that results know what was run."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from deroute import errors, matrices, presets
from deroute.errors import DocumentPath, InputError, parse_path
from deroute.spec import read_toml
from deroute.tables import files as table_files


def read_document(file: Path) -> tuple[dict[str, Any], str]:
    """The document in a TOML file, with the files that it refers to read, and its text."""
    document, text = read_toml(file)
    document = presets.extended(document, file, text)
    read_references(document, file, text)
    return document, text


def read_references(document: dict[str, Any], file: Path, text: str | None) -> None:
    """Put what is in the files that a document refers to, from beside its own, in their places."""
    for table, key, place in _references(document, ()):
        reader = _READERS[str(parse_path(key)[-1])]
        name = table[key].pop("file")
        try:
            found = reader(file.parent / name)
            table[key] = {**found, **table[key]} if isinstance(found, dict) else found
        except (OSError, ValueError) as error:
            message = f"{name}: {getattr(error, 'strerror', None) or error}"
            problem = errors.in_file(message, (*place, key), file=file, text=text)
            raise InputError([problem]) from error


def _references(
    value: Any, place: DocumentPath
) -> Iterator[tuple[dict[str, Any], str, DocumentPath]]:
    """Tables, keys in them and their places, where `{ file = ... }` stands for what is in it."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _references(item, (*place, index))
    if not isinstance(value, dict):
        return
    for key, item in list(value.items()):
        yield from _references(item, (*place, key))
        last = parse_path(key)[-1:] if errors.is_path(key) else ()
        if last and last[0] in _READERS and _is_reference(last[0], item):
            yield value, key, place


def _is_reference(key: object, value: Any) -> bool:
    """Whether a table stands for a file; of some there may be more in it."""
    if not isinstance(value, dict) or not isinstance(value.get("file"), str):
        return False
    if key == "trace":
        return "digest" not in value
    if key == "python":
        return "source" not in value
    if key == "flows":
        return True
    return list(value) == ["file"] or (key == "table" and not {"rules", "packed"} & set(value))


def _rows(file: Path) -> Iterator[tuple[int, list[str]]]:
    """The words of each line that has some, and its number; `#` begins a comment."""
    for number, line in enumerate(matrices.content(file).splitlines(), 1):
        words = line.partition("#")[0].split()
        if words:
            yield number, words


def _whole(word: str, line: int) -> int:
    if not word.isascii() or not word.isdigit():
        raise ValueError(f"line {line}: {word!r} is not a whole number")
    return int(word)


def _placement(file: Path) -> dict[str, Any]:
    """Hosts, in the order of the ranks."""
    return {"hosts": [_whole(word, line) for line, words in _rows(file) for word in words]}


def _factors(file: Path) -> list[float]:
    """A factor for each rank, in the order of the ranks."""
    return [_factor(word, line) for line, words in _rows(file) for word in words]


def _factor(word: str, line: int) -> float:
    try:
        value = float(word)
    except ValueError:
        raise ValueError(f"line {line}: {word!r} is not a number") from None
    if not 0 <= value <= _MOST_FACTOR:
        raise ValueError(f"line {line}: {word!r} is no factor: 0 to {_MOST_FACTOR:g}")
    return value


def _rings(file: Path) -> dict[str, Any]:
    """The members of a ring in each line, each of them once."""
    rings: list[list[int]] = []
    for line, words in _rows(file):
        ring = [_whole(word, line) for word in words]
        for place, member in enumerate(ring):
            if member >= len(ring):
                message = f"{member} is no member of a ring of {len(ring)}"
                raise ValueError(f"line {line}: {message}: 0 to {len(ring) - 1}")
            if member in ring[:place]:
                raise ValueError(f"line {line}: member {member} is in the ring twice")
        rings.append(ring)
    return {"members": rings}


def _matrix(file: Path) -> dict[str, Any]:
    """Sender, receiver and size in each line; a size may have a unit, after a space or not."""
    messages: list[list[int | str]] = []
    for line, words in _rows(file):
        if len(words) not in (3, 4):
            raise ValueError(f"line {line}: {' '.join(words)!r} is not a sender, receiver and size")
        sender, receiver = (_whole(word, line) for word in words[:2])
        size = " ".join(words[2:])
        messages.append([sender, receiver, int(size) if size.isdigit() else size])
    return {"messages": messages}


def _python(file: Path) -> dict[str, Any]:
    """A routing: its text, and what messages call it."""
    return {"name": file.name, "source": matrices.content(file)}


def _trace(file: Path) -> dict[str, Any]:
    """Where a trace is, and a digest of it: the engine reads it."""
    digest = hashlib.sha256()
    for part in sorted(file.iterdir()) if file.is_dir() else [file]:
        if part.is_file():
            digest.update(part.name.encode() if file.is_dir() else b"")
            with part.open("rb") as content:
                while chunk := content.read(1 << 20):
                    digest.update(chunk)
    return {"file": str(file.resolve()), "digest": digest.hexdigest()}


#: Largest factor of a computation.
_MOST_FACTOR = 1e9

#: Readers by the key under which a file is named.
_READERS: dict[str, Callable[[Path], dict[str, Any] | list[float]]] = {
    "placement": _placement,
    "compute_of_rank": _factors,
    "order": _rings,
    "exchange": _matrix,
    "pairs": matrices.pairs,
    "matrix": matrices.matrix,
    "table": table_files.read,
    "trace": _trace,
    "python": _python,
    "flows": matrices.flows,
    "sizes": matrices.sizes,
}
