"""What an outcome is in a notebook: a table, a figure, a value that compares and travels."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Value:
    """What makes an outcome compare, pickle and render; it has its arrays in a mapping `_raw`."""

    if TYPE_CHECKING:
        _heads: dict[str, dict[str, Any] | None]
        _path_kinds: list[str]

        @property
        def _raw(self) -> Mapping[str, Any]: ...

    def __eq__(self, other: object) -> bool:
        """Same scalars and same arrays, to the last bit; nan equals nan."""
        if type(self) is not type(other):
            return NotImplemented
        assert isinstance(other, Value)
        mine, theirs = self._raw, other._raw
        return (
            _fields(self) == _fields(other)
            and (self._heads, self._path_kinds) == (other._heads, other._path_kinds)
            and mine.keys() == theirs.keys()
            and all(_same(mine[name], theirs[name]) for name in mine)
        )

    #: As that of every value that holds arrays.
    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[Any, Any]:
        """With the arrays, wherever they were; without what is made from them."""
        state: dict[Any, Any] = super().__getstate__()  # type: ignore[assignment]
        private = state["__pydantic_private__"] | {"_load": partial(dict, self._raw)}
        return state | {"__dict__": _fields(self), "__pydantic_private__": private}

    def figure(self: Any) -> Figure:
        """Latencies at the percentiles, and the load that each router injected."""
        drawn: Figure = _rendering().figure(self)
        return drawn

    def _repr_html_(self: Any) -> str:
        page: str = _rendering().html(self)
        return page


def _rendering() -> Any:
    """What draws, which knows what an outcome is, and is loaded when it is needed."""
    return import_module("deroute.rendering")


def _fields(outcome: Any) -> dict[str, Any]:
    return {name: getattr(outcome, name) for name in type(outcome).model_fields}


def _same(one: Any, other: Any) -> bool:
    floats = np.issubdtype(one.dtype, np.floating)
    return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=bool(floats))
