"""Messages of Protocol Buffers, as far as graphs of Chakra need them."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_LONGEST_VARINT = 10


class WireError(ValueError):
    """Bytes that are no message, and at which place."""

    def __init__(self, message: str, place: int) -> None:
        self.place = place
        super().__init__(message)


class Field(NamedTuple):
    """A field of a message."""

    number: int
    kind: int
    #: An integer, or bytes.
    value: int | bytes


def varint(data: bytes, at: int) -> tuple[int, int]:
    """A number of variable length, and where the next thing stands."""
    value = 0
    for index in range(_LONGEST_VARINT):
        if at + index >= len(data):
            raise WireError("the file ends within a number", at)
        byte = data[at + index]
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return value, at + index + 1
    raise WireError("a number of more than 10 bytes", at)


def fields(data: bytes) -> Iterator[Field]:
    """The fields of a message, in their order."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == VARINT:
            value, at = varint(data, at)
            yield Field(number, kind, value)
            continue
        size = {FIXED64: 8, FIXED32: 4}.get(kind)
        if kind == BYTES:
            size, at = varint(data, at)
        if size is None:
            raise WireError(f"a field of kind {kind}", at)
        if at + size > len(data):
            raise WireError("a field is longer than what it is in", at)
        yield Field(number, kind, data[at : at + size])
        at += size


def numbers(field: Field) -> list[int]:
    """A repeated number, packed or not."""
    if isinstance(field.value, int):
        return [field.value]
    found, at = [], 0
    while at < len(field.value):
        value, at = varint(field.value, at)
        found.append(value)
    return found


def signed(value: int) -> int:
    """A number of two's complement."""
    return value - (1 << 64) if value >> 63 else value


def zigzag(value: int) -> int:
    """A number whose sign is in its lowest bit."""
    return (value >> 1) ^ -(value & 1)


def real(data: bytes) -> float:
    """A number with decimals, of four or eight bytes."""
    return float(struct.unpack("<f" if len(data) == 4 else "<d", data)[0])
