"""MAC addresses that say where a host is (thesis 4.3.1, figures 4-2 and 4-5).

The first octet is 0x02: unicast, locally administered. The fields of the address fill the lowest
of the other 40 bits, the most significant first, each as wide as its values need.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deroute.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The octet with which every address begins, in place: locally administered, unicast.
PREFIX = 0x02 << 40
#: Mask of that octet: every rule matches it, so that burnt-in addresses and broadcasts fit none.
PREFIX_MASK = 0xFF << 40
#: Bits that the fields may fill.
BITS = 40
#: Bits of a MAC address.
MAC_BITS = 48

#: Ways to address hosts, from the one with the most rules to that with the fewest.
ADDRESSINGS = ("flat", "per-switch", "per-group", "compact")

_MAC = re.compile(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}")


def mac(address: int) -> str:
    """`02:00:00:00:01:05`."""
    return ":".join(f"{octet:02x}" for octet in address.to_bytes(6, "big"))


def parse_mac(text: str) -> int:
    """The number of an address that is written as `mac` does."""
    if not _MAC.fullmatch(text):
        raise InputError.of(f"{text!r} is not a MAC address such as 02:00:00:00:01:05")
    return int(text.replace(":", ""), 16)


@dataclass(frozen=True, slots=True)
class Pattern:
    """What an address has to be where the mask has ones."""

    value: int
    mask: int

    def matches(self, address: int) -> bool:
        """Whether an address fits."""
        return address & self.mask == self.value

    def overlaps(self, other: Pattern) -> bool:
        """Whether some address fits both."""
        common = self.mask & other.mask
        return self.value & common == other.value & common

    @property
    def exact(self) -> bool:
        """Whether a single address fits."""
        return self.mask == (1 << MAC_BITS) - 1

    def __str__(self) -> str:
        return mac(self.value) if self.exact else f"{mac(self.value)}/{mac(self.mask)}"


#: Fits every address of this lab.
ANY_HOST = Pattern(PREFIX, PREFIX_MASK)


@dataclass(frozen=True, slots=True)
class Field:
    """One part of an address, for numbers below `size`."""

    name: str
    size: int
    #: Bits to its right.
    shift: int

    @property
    def bits(self) -> int:
        """Its width; none for a single value."""
        return (self.size - 1).bit_length()

    @property
    def mask(self) -> int:
        """Its bits in the address."""
        return ((1 << self.bits) - 1) << self.shift


@dataclass(frozen=True, slots=True)
class Layout:
    """The fields of an address, the most significant first."""

    fields: tuple[Field, ...]

    @classmethod
    def of(cls, sizes: Mapping[str, int]) -> Layout:
        """Fields of these sizes, as narrow as possible."""
        bits = [(size - 1).bit_length() for size in sizes.values()]
        if sum(bits) > BITS:
            needs = ", ".join(f"{name} {width}" for name, width in zip(sizes, bits, strict=True))
            raise InputError.of(f"{sum(bits)} bits ({needs}) are more than {BITS} of an address")
        shifts = [sum(bits[place + 1 :]) for place in range(len(bits))]
        parts = zip(sizes.items(), shifts, strict=True)
        return cls(tuple(Field(name, size, shift) for (name, size), shift in parts))

    @property
    def bits(self) -> int:
        """Width of all fields together."""
        return sum(field.bits for field in self.fields)

    def encode(self, values: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
        """Addresses of these values, one array per field."""
        parts = zip(values, self.fields, strict=True)
        total = np.full(np.shape(values[0]), PREFIX, dtype=np.int64)
        for value, field in parts:
            total |= value << field.shift
        return total

    def decode(self, address: int) -> tuple[int, ...]:
        """Values of the fields; an error if it is no address of this layout."""
        rest = (1 << self.bits) - 1
        values = tuple((address & field.mask) >> field.shift for field in self.fields)
        if address & ~rest != PREFIX or any(
            value >= field.size for value, field in zip(values, self.fields, strict=True)
        ):
            raise InputError.of(f"{mac(address)} is the address of no host", "address")
        return values

    def mask(self, names: Sequence[str]) -> int:
        """Mask of some fields, and of the first octet."""
        chosen = [field.mask for field in self.fields if field.name in names]
        return PREFIX_MASK | sum(chosen)

    def upper(self, count: int) -> int:
        """Mask of the first fields and of everything above them: that of a block."""
        below = sum(field.bits for field in self.fields[count:])
        return ((1 << MAC_BITS) - 1) & ~((1 << below) - 1)


def sizes_of(addressing: str, digits: Mapping[str, int], hosts: int) -> dict[str, int]:
    """Fields of an addressing for switches with these digits, the last one inside their group."""
    *above, last = digits.values()
    match addressing:
        case "flat":
            return {"host": math.prod(digits.values()) * hosts}
        case "per-switch":
            return {"switch": math.prod(digits.values()), "host": hosts}
        case "per-group":
            return {"group": math.prod(above), "switch": last, "host": hosts}
        case "compact":
            return {**digits, "host": hosts}
    raise InputError.of(f"unknown addressing {addressing!r}", "--addressing", ADDRESSINGS)
