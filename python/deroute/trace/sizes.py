"""Bytes and times as a person reads them."""

from __future__ import annotations

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def bytes_text(size: float) -> str:
    """A number of bytes."""
    power = 0
    while size >= 1024 and power + 1 < len(_UNITS):
        size, power = size / 1024, power + 1
    return f"{size:,.0f} {_UNITS[power]}" if power == 0 else f"{size:,.4g} {_UNITS[power]}"


def ms(ns: float) -> str:
    """A time in ms."""
    return f"{ns / 1e6:,.3f} ms"
