"""The `[[figure]]` tables of an experiment file, checked against its axes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from deroute.figures.study import Study

Label = str | int | float
Axes = Mapping[str, Sequence[Label]]

#: The axis that figures average over.
AVERAGED = "seed"

# Keys that every figure has, beside those of its kind.
_COMMON = ("name", "kind", "title", "where", "panel", "series")


class FigureError(ValueError):
    """A figure table asks for something that is not there: where, what, and the choices."""

    def __init__(self, path: str, message: str, choices: Iterable[object] = ()) -> None:
        self.path = path
        self.message = message
        self.choices = [str(choice) for choice in choices]
        hint = f"; choose from: {', '.join(self.choices)}" if self.choices else ""
        super().__init__(f"{path}: {message}{hint}")


@dataclass(frozen=True, slots=True)
class Option:
    """A key that only some kinds of figure have."""

    #: Types that the value may have.
    types: tuple[type, ...]
    #: Value when the key is absent.
    default: object = None
    #: Allowed values; anything of the type when empty.
    choices: tuple[str, ...] = ()
    #: There is no default: the key has to be there.
    required: bool = False


@dataclass(frozen=True, slots=True)
class FigureKind:
    """One kind of figure: its name in the file, what it shows, its keys, how it is drawn."""

    name: str
    summary: str
    draw: Callable[[Study, FigureTable], Figure]
    #: Default of `x`; None if the kind has no such key (its abscissa is fixed).
    x: str | None = None
    #: Values of `x` that are no axis.
    x_extra: tuple[str, ...] = ()
    #: Every series is drawn at the values of `x` that it has, few or many, evenly spread or not.
    uneven: bool = False
    options: Mapping[str, Option] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FigureTable:
    """One checked `[[figure]]` table."""

    name: str
    kind: str
    x: str | None
    series: str | None
    panel: str | None
    #: Labels that are drawn, per axis; an axis that is absent is drawn whole.
    where: Mapping[str, tuple[Label, ...]]
    title: str | None
    options: Mapping[str, object]

    def labels(self, axes: Axes, axis: str | None) -> list[Label | None]:
        """Labels of an axis that this figure draws, in the order of the file."""
        if axis is None:
            return [None]
        return [label for label in axes[axis] if label in self.where.get(axis, axes[axis])]


def read_tables(
    tables: Sequence[Mapping[str, object]], axes: Axes, kinds: Mapping[str, FigureKind]
) -> list[FigureTable]:
    """Check every table; names are unique because they name files."""
    read: list[FigureTable] = []
    for index, table in enumerate(tables):
        figure = _read_table(f"figure[{index}]", table, axes, kinds)
        if figure.name in {other.name for other in read}:
            raise FigureError(f"figure[{index}].name", f"{figure.name!r} is used twice")
        read.append(figure)
    return read


def _read_table(
    path: str, table: Mapping[str, object], axes: Axes, kinds: Mapping[str, FigureKind]
) -> FigureTable:
    name = _text(f"{path}.name", table.get("name"))
    path = f"figure {name!r}"
    if "/" in name or name.startswith("."):
        raise FigureError(f"{path}.name", "it names a file: no '/' and no leading '.'")
    kind_name = _text(f"{path}.kind", table.get("kind"), kinds)
    if kind_name not in kinds:
        raise FigureError(f"{path}.kind", f"unknown kind {kind_name!r}", kinds)
    kind = kinds[kind_name]
    allowed = [*_COMMON, *(["x"] if kind.x is not None else []), *kind.options]
    for key in table:
        if key not in allowed:
            raise FigureError(f"{path}.{key}", f"a {kind_name} figure has no such key", allowed)
    if "x" not in table and kind.x is not None and kind.x not in (*axes, *kind.x_extra):
        message = f"is {kind.x!r} when absent, which is not an axis here"
        raise FigureError(f"{path}.x", message, (*axes, *kind.x_extra))
    x = _axis(path, "x", table.get("x", kind.x), axes, kind.x_extra)
    series = _axis(path, "series", table.get("series"), axes)
    panel = _axis(path, "panel", table.get("panel"), axes)
    if series is not None and table.get("split") is not None:
        message = "what a figure is split by is its series"
        raise FigureError(f"{path}.series", message, ["panel", "nothing"])
    where = _where(path, table.get("where", {}), axes)
    _every_axis_has_a_place(path, {"x": x, "series": series, "panel": panel}, where, axes)
    title = table.get("title")
    return FigureTable(
        name=name,
        kind=kind_name,
        x=x,
        series=series,
        panel=panel,
        where=where,
        title=None if title is None else _text(f"{path}.title", title),
        options={key: _option(path, key, kind.options[key], table) for key in kind.options},
    )


def _text(path: str, value: object, choices: Iterable[object] = ()) -> str:
    if not isinstance(value, str) or not value:
        what = "is missing" if value is None else f"{value!r} is not a text"
        raise FigureError(path, what, choices)
    return value


def _axis(
    path: str, key: str, value: object, axes: Axes, extra: tuple[str, ...] = ()
) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or value not in (*axes, *extra):
        raise FigureError(f"{path}.{key}", f"{value!r} is not an axis", (*axes, *extra))
    return value


def _where(path: str, value: object, axes: Axes) -> dict[str, tuple[Label, ...]]:
    if not isinstance(value, Mapping):
        raise FigureError(f"{path}.where", "must be a table of axis = label")
    chosen: dict[str, tuple[Label, ...]] = {}
    for axis, wanted in value.items():
        if axis not in axes:
            raise FigureError(f"{path}.where.{axis}", f"{axis!r} is not an axis", axes)
        labels = tuple(wanted) if isinstance(wanted, list) else (wanted,)
        if not labels:
            raise FigureError(f"{path}.where.{axis}", "is empty: nothing is drawn", axes[axis])
        for label in labels:
            if label not in axes[axis]:
                raise FigureError(f"{path}.where.{axis}", f"no label {label!r}", axes[axis])
        chosen[axis] = labels
    return chosen


def _every_axis_has_a_place(
    path: str,
    used: Mapping[str, str | None],
    where: Mapping[str, tuple[Label, ...]],
    axes: Axes,
) -> None:
    named: dict[str, str] = {}
    for key, axis in used.items():
        if axis in named:
            raise FigureError(f"{path}.{key}", f"the axis {axis!r} is `{named[axis]}` already")
        if axis is not None:
            named[axis] = key
    for axis, labels in axes.items():
        if axis not in (*named, AVERAGED) and len(where.get(axis, labels)) > 1:
            raise FigureError(
                f"{path}.where.{axis}",
                f"the axis {axis!r} is not drawn (x, series, panel): fix it to one label",
                labels,
            )


def _option(path: str, key: str, option: Option, table: Mapping[str, object]) -> object:
    if key not in table:
        if option.required:
            raise FigureError(f"{path}.{key}", "is missing", option.choices)
        return option.default
    value = table[key]
    if not isinstance(value, option.types) or isinstance(value, bool):
        names = " or ".join(each.__name__ for each in option.types)
        raise FigureError(f"{path}.{key}", f"{value!r} is not a {names}", option.choices)
    if option.choices and isinstance(value, str) and value not in option.choices:
        raise FigureError(f"{path}.{key}", f"unknown value {value!r}", option.choices)
    return value
