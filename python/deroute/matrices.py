"""Traffic matrices from files: pairs of hosts with weights, or square matrices of weights.

Numbers stand between commas, or between spaces; `#` begins a comment. Weights may have decimals:
all of a file are multiplied by the same number, so that they become whole without rounding.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from deroute.errors import DocumentPath

#: Decimals and digits that a weight may have; sums of whole weights stay below 2^64.
_DIGITS = 18
_MOST = 2**63
#: Of a file: a matrix of 10,000 hosts with weights of five digits has 600 MB.
_MOST_BYTES = 10**9


class Lines(list[Any]):
    """A list whose entries stand on lines of a file."""

    def __init__(self, entries: Sequence[Any], file: Path, lines: Sequence[int]) -> None:
        super().__init__(entries)
        self.file = file
        self.lines = lines

    def __reduce__(self) -> tuple[Any, ...]:
        return Lines, (list(self), self.file, self.lines)


def origin(document: Any, place: DocumentPath) -> tuple[Path, int] | None:
    """The file and line that an entry of a document was read from, if it was."""
    for step in place:
        if isinstance(document, Lines) and isinstance(step, int) and step < len(document):
            return document.file, document.lines[step]
        try:
            document = document[step]
        except (KeyError, IndexError, TypeError):
            return None
    return None


def pairs(file: Path) -> dict[str, Any]:
    """Source, destination and, if it is not 1, weight in each line.

    A first line without a number is a heading. Raises `ValueError` with the line and what is wrong
    there.
    """
    found, weights, lines = [], [], []
    for line, cells in _cells(file):
        if len(cells) not in (2, 3):
            expected = "is not a source, a destination and perhaps a weight"
            raise ValueError(f"line {line}: {','.join(cells)!r} {expected}")
        found.append([_host(cell, line) for cell in cells[:2]])
        weights.append(_weight(cells[2], line) if len(cells) == 3 else Decimal(1))
        lines.append(line)
    whole = _whole(weights)
    entries = [[*pair, weight] for pair, weight in zip(found, whole, strict=True)]
    return {"list": Lines(entries, file, lines)}


def matrix(file: Path) -> dict[str, Any]:
    """The weights of all destinations, a line for each source.

    A first line without a number is a heading. Raises `ValueError` with the line and what is wrong
    there.
    """
    rows, lines = [], []
    for line, cells in _cells(file):
        rows.append([_weight(cell, line) for cell in cells])
        lines.append(line)
        if len(cells) != len(rows[0]):
            raise ValueError(f"line {line}: {len(cells)} weights, not {len(rows[0])} as above")
    if rows and len(rows) != len(rows[0]):
        raise ValueError(f"{len(rows)} lines of {len(rows[0])} weights are no square matrix")
    whole = iter(_whole([weight for row in rows for weight in row]))
    return {"rows": Lines([[next(whole) for _ in row] for row in rows], file, lines)}


def flows(file: Path) -> dict[str, Any]:
    """Source, destination, size and perhaps a start and a class in each line; units as in specs.

    A first line without a number is a heading. Raises `ValueError` with the line and what is wrong
    there.
    """
    found, lines = [], []
    for line, cells in _cells(file):
        if not 3 <= len(cells) <= 5:
            expected = "is not a source, a destination, a size, and perhaps a start and a class"
            raise ValueError(f"line {line}: {','.join(cells)!r} {expected}")
        source, destination = (_host(cell, line) for cell in cells[:2])
        entry: dict[str, Any] = {"source": source, "destination": destination}
        entry |= {
            name: int(cell) if cell.isascii() and cell.isdigit() else cell
            for name, cell in zip(("size", "start"), cells[2:4], strict=False)
        }
        if len(cells) == 5:
            entry["class"] = _host(cells[4], line, "of a class")
        found.append(entry)
        lines.append(line)
    if not found:
        raise ValueError("there is no flow in it")
    return {"list": Lines(found, file, lines)}


def sizes(file: Path) -> dict[str, Any]:
    """A size, in bytes unless it has a unit, and the share of what is not larger in each line.

    A first line without a number is a heading. Raises `ValueError` with the line and what is wrong
    there.
    """
    found, lines = [], []
    for line, cells in _cells(file):
        share = _number(cells[-1])
        if len(cells) != 2 or share is None:
            raise ValueError(f"line {line}: {','.join(cells)!r} is not a size and a share")
        size = cells[0]
        found.append([size if _number(size) is None else f"{size} B", float(share)])
        lines.append(line)
    if not found:
        raise ValueError("there is no size in it")
    return {"list": Lines(found, file, lines)}


def content(file: Path) -> str:
    """The text of a file. Raises `ValueError` if it is larger than any list or matrix would be."""
    size = file.stat().st_size
    if size > _MOST_BYTES:
        raise ValueError(f"has {size:,} bytes, more than {_MOST_BYTES:,}")
    return file.read_text(encoding="utf-8-sig")


def _cells(file: Path) -> Iterator[tuple[int, list[str]]]:
    """The cells of each line that has some, and its number; without a heading."""
    first = True
    for number, line in enumerate(content(file).splitlines(), 1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        cells = [cell.strip() for cell in text.split(",")] if "," in text else text.split()
        if not first or any(_number(cell) is not None for cell in cells):
            yield number, cells
        first = False


def _number(cell: str) -> Decimal | None:
    try:
        number = Decimal(cell)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _host(cell: str, line: int, what: str = "of a host") -> int:
    if not (cell.isascii() and cell.isdigit()):
        raise ValueError(f"line {line}: {cell!r} is not the number {what}")
    return int(cell)


def _weight(cell: str, line: int) -> Decimal:
    weight = _number(cell)
    if weight is None or weight < 0:
        raise ValueError(f"line {line}: {cell!r} is not a weight: a number, 0 or more")
    exponent = weight.as_tuple().exponent
    assert isinstance(exponent, int)
    if weight and (exponent < -_DIGITS or weight.adjusted() >= _DIGITS):
        digits = f"{_DIGITS} digits before and {_DIGITS} behind the point"
        raise ValueError(f"line {line}: {cell!r} has more than {digits}")
    return weight if weight else Decimal(0)


def _whole(weights: Sequence[Decimal]) -> list[int]:
    """The smallest whole numbers in the same proportion."""
    ratios = [weight.as_integer_ratio() for weight in weights]
    denominator = math.lcm(*(below for _, below in ratios))
    whole = [above * (denominator // below) for above, below in ratios]
    divisor = math.gcd(*whole) or 1
    whole = [weight // divisor for weight in whole]
    if max(whole, default=0) >= _MOST:
        raise ValueError("the weights differ too much: as whole numbers they exceed 2^63")
    return whole
