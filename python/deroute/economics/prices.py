"""Prices and reaches of cables, and the floor they run on: a file that users can replace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from deroute.errors import InputError, Problem, in_file
from deroute.spec import read_toml

#: The prices of this package, with the source of every value.
DEFAULT = Path(__file__).with_name("cables.toml")

#: Metres by which sums of pitches may be off; a class of length or a reach includes its end.
ROUNDING = 1e-9

_Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
_NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Table(BaseModel):
    """A table of a file, read strictly."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Floor(Table):
    """Racks in rows. Lengths are in metres; the method is that of McDonald et al., section 3.1."""

    #: From the centre of a rack to that of its neighbour.
    rack_pitch_m: _Positive
    #: From one row to the next.
    row_pitch_m: _Positive
    hosts_per_rack: Annotated[int, Field(ge=1)]
    #: More than the distance of the racks, for both ends together.
    slack_m: _NotNegative
    #: A cable that does not leave its rack.
    inside_rack_m: _Positive


class Cable(Table):
    """A technology. A cable costs (fixed + per_metre * metres) * rate of the link in Gb/s."""

    name: Annotated[str, Field(min_length=1)]
    title: str = ""
    fixed: _NotNegative
    per_metre: _NotNegative
    #: Longest cable in metres, or one by signalling rate in GHz; None for any length.
    reach_m: _Positive | dict[str, _Positive] | None = None
    #: Where the price is from, and of what year it is.
    source: str = ""
    year: int | None = None

    def reach(self, signalling_ghz: float) -> float:
        """Longest cable in metres at this signalling rate in GHz."""
        if isinstance(self.reach_m, dict):
            return next(m for rate, m in self.reach_m.items() if float(rate) == signalling_ghz)
        return np.inf if self.reach_m is None else self.reach_m


class Router(Table):
    """A router costs fixed + per_port * ports, whatever the rate of its links is."""

    fixed: Annotated[float, Field(allow_inf_nan=False)]
    per_port: _NotNegative
    source: str = ""
    year: int | None = None

    def cost(self, ports: NDArray[np.int64]) -> float:
        """Of routers with so many ports each."""
        return float(np.maximum(self.fixed + self.per_port * ports, 0).sum())


class Prices(Table):
    """What a price file says."""

    currency: Annotated[str, Field(min_length=1)]
    signalling_ghz: _Positive
    floor: Floor
    cable: Annotated[list[Cable], Field(min_length=1)]
    #: None if routers have no price.
    router: Router | None = None
    #: What a reader of an amount should know; printed with it.
    note: str = ""
    #: Technologies that cannot be priced, and why.
    left_out: dict[str, str] = {}

    def signalling_rates(self) -> list[float]:
        """Signalling rates in GHz for which every cable has a reach; empty if reaches are fixed."""
        tables = [each.reach_m for each in self.cable if isinstance(each.reach_m, dict)]
        common = [{float(rate) for rate in table} for table in tables]
        return sorted(set.intersection(*common)) if common else []

    def choose(self, lengths: NDArray[np.float64]) -> Choice:
        """The cheapest technology that reaches far enough, for lengths in metres."""
        prices = np.full((len(self.cable), len(lengths)), np.inf)
        for row, cable in enumerate(self.cable):
            reached = lengths - ROUNDING <= cable.reach(self.signalling_ghz)
            prices[row, reached] = cable.fixed + cable.per_metre * lengths[reached]
        chosen = prices.argmin(axis=0)
        price = np.take_along_axis(prices, chosen[None], axis=0)[0]
        if not np.isfinite(price).all():
            reaches = ", ".join(
                f"{each.name} {each.reach(self.signalling_ghz):g} m" for each in self.cable
            )
            too_long = lengths[~np.isfinite(price)].max()
            raise InputError.of(
                f"no technology reaches {too_long:g} m ({reaches}): add one, or bring the racks"
                " closer together",
                "cable",
            )
        return Choice(chosen, price)


@dataclass(frozen=True, slots=True)
class Choice:
    """Technologies and prices of cables."""

    #: Index into `Prices.cable`.
    technology: NDArray[np.intp]
    #: Currency per Gb/s.
    price: NDArray[np.float64]


def read(file: Path | None = None, signalling_ghz: float | None = None) -> Prices:
    """Prices from a file, by default those of this package; for another signalling rate in GHz."""
    path = file or DEFAULT
    document, text = read_toml(path)
    try:
        prices = Prices.model_validate(document)
    except ValidationError as error:
        tables: Mapping[str, type[Table]] = {"floor": Floor, "cable": Cable, "router": Router}
        found = [problem(each, path, text, Prices, tables) for each in error.errors()]
        raise InputError(found) from error
    problems = [
        in_file(message, place, file=path, text=text, choices=choices)
        for place, message, choices in _checks(prices)
    ]
    if problems:
        raise InputError(problems)
    rates = prices.signalling_rates()
    if signalling_ghz is None:
        return prices
    if rates and signalling_ghz not in rates:
        raise InputError.of(f"no copper reach for {signalling_ghz:g} GHz", "--signalling", rates)
    return prices.model_copy(update={"signalling_ghz": signalling_ghz})


_Check = tuple[tuple[str | int, ...], str, Sequence[object]]


def _checks(prices: Prices) -> list[_Check]:
    """What one value alone does not show."""
    found: list[_Check] = []
    names: list[str] = []
    for index, cable in enumerate(prices.cable):
        place = ("cable", index)
        if cable.name in names:
            found.append(((*place, "name"), f"the cable {cable.name!r} exists already", ()))
        names.append(cable.name)
        if isinstance(cable.reach_m, dict):
            wrong = [rate for rate in cable.reach_m if not _is_rate(rate)]
            found += [
                ((*place, "reach_m", rate), f"{rate!r} is not a signalling rate in GHz", ())
                for rate in wrong
            ]
            rates = [float(rate) for rate in cable.reach_m if rate not in wrong]
            if not wrong and prices.signalling_ghz not in rates:
                message = f"{prices.signalling_ghz:g} GHz has no reach for {cable.name}"
                found.append((("signalling_ghz",), message, [f"{rate:g}" for rate in rates]))
    return found


def _is_rate(text: str) -> bool:
    try:
        return 0 < float(text) < np.inf
    except ValueError:
        return False


def problem(
    error: Mapping[str, Any],
    file: Path,
    text: str,
    whole: type[Table],
    tables: Mapping[str, type[Table]],
) -> Problem:
    """One problem that pydantic found, in the words of this lab; `tables` are those of the file."""
    place = tuple(step for step in error["loc"] if step not in _UNION_STEPS)
    key, value = place[-1], error["input"]
    choices: Sequence[str] = ()
    match error["type"]:
        case "extra_forbidden":
            message, choices = f"unknown key `{key}`", _keys(place[:-1], whole, tables)
        case "missing":
            message = "is missing"
        case "greater_than" | "greater_than_equal":
            bound = error["ctx"].get("gt", error["ctx"].get("ge"))
            word = "more than" if error["type"] == "greater_than" else "at least"
            message = f"{value!r} is not {word} {bound:g}"
        case _:
            said = error["msg"].removeprefix("Input ")
            message = f"{value!r} {said}"
    return in_file(message, place, file=file, text=text, choices=choices)


#: What pydantic adds to a place for the members of a union.
_UNION_STEPS = ("constrained-float", "float", "dict[str,constrained-float]", "dict[str,float]")


def _keys(
    place: Sequence[str | int], whole: type[Table], tables: Mapping[str, type[Table]]
) -> list[str]:
    table = tables[str(place[0])] if place else whole
    return list(table.model_fields)
