"""The data of a reproduction: a folder per paper, a file per figure or table, claims beside runs.

`paper.toml` holds what all items share: the base spec, the named values of the axes, the scales.
Every other TOML file of the folder is an item. See `reproduce/README.md` for the keys.
"""

from __future__ import annotations

import inspect
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from deroute.economics import charts
from deroute.errors import InputError, Problem
from deroute.reproduce.tables import Table

PAPER_FILE = "paper.toml"

_CLAIM_KEYS = {
    "id",
    "source",
    "statement",
    "published",
    "unit",
    "derived",
    "check",
    "tests",
    "unsettled",
    "finding",
    "evidence",
    "scope",
}
# What an experiment takes over from the one that it is `like`, unless it says otherwise.
_SETTINGS = ("axes", "base", "set", "unset")
_BOUND_KEYS = ("equals", "at_least", "at_most")
_FIGURE = re.compile(r"fig(ure|\.)?\s*", re.IGNORECASE)


class PaperError(InputError):
    """A reproduction's data is wrong, or what was asked for does not exist."""

    def __init__(self, message: str) -> None:
        super().__init__([Problem(message)])


@dataclass(frozen=True, slots=True)
class Check:
    """One measurement and the values for which the claim holds."""

    measure: str
    arguments: Mapping[str, Any]
    equals: Sequence[float] | None = None
    at_least: float | None = None
    at_most: float | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of the paper, in our words, and how it is settled."""

    id: str
    #: Section, figure or equation.
    source: str
    statement: str
    #: The paper's value, and its unit; None for a qualitative statement.
    published: Any
    unit: str
    #: The paper does not print it: it follows from the paper's parameters.
    derived: bool
    #: All have to hold. None: see `tests` and `unsettled`.
    checks: tuple[Check, ...]
    #: Tests of the engine (`FILE::NAME`) that hold a rule which results do not show.
    tests: tuple[str, ...]
    #: Why nothing is checked.
    unsettled: str | None
    #: Explanation of a known difference; with it a difference is no failure.
    finding: str | None
    #: What the finding rests on; it explains nothing unless all of these hold.
    evidence: tuple[Check, ...]
    #: Which part of the statement the checks cover; None: all of it.
    scope: str | None

    @property
    def simulated(self) -> bool:
        """A check looks at results, and not only at wiring, formulas or settings."""
        return any("of" in check.arguments for check in self.checks)

    @property
    def looks_at(self) -> set[str]:
        """The experiments whose results its checks and evidence are measured on."""
        checks = (*self.checks, *self.evidence)
        return {check.arguments["of"] for check in checks if "of" in check.arguments}


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure that needs no runs: a chart of `deroute.economics.charts`."""

    name: str
    kind: str
    title: str
    options: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Item:
    """One figure, table or section of the paper."""

    name: str
    chapter: int
    title: str
    #: Numbers of the paper's figures that it redraws, such as `5-7`.
    figures: tuple[str, ...]
    #: `[[experiment]]` tables, see `deroute.reproduce.experiments`.
    experiments: tuple[Mapping[str, Any], ...]
    claims: tuple[Claim, ...]
    drawings: tuple[Drawing, ...] = ()
    #: Tables of published cells, each measured by an experiment of its own.
    tables: tuple[Table, ...] = ()

    @property
    def looked_at(self) -> set[str]:
        """The experiments that claims or tables look at, and not only figures or other readings."""
        named = {name for claim in self.claims for name in claim.looks_at}
        return named | {table.of for table in self.tables if not table.again}

    def only(self, claim: Claim) -> Item:
        """The item with one of its claims, and no more than this one looks at."""
        return replace(
            self,
            experiments=tuple(each for each in self.experiments if each["name"] in claim.looks_at),
            claims=(claim,),
            drawings=(),
            tables=tuple(table for table in self.tables if table.of in claim.looks_at),
        )


@dataclass(frozen=True, slots=True)
class Paper:
    """Everything about one paper."""

    name: str
    title: str
    base: Mapping[str, Any]
    #: Spec path of each plain axis (`load` is `traffic.load`).
    paths: Mapping[str, str]
    #: Settings of each named label, per axis.
    values: Mapping[str, Mapping[str, Mapping[str, Any]]]
    scales: Mapping[str, Mapping[str, Any]]
    items: tuple[Item, ...] = field(default=())
    #: Where it was read from.
    folder: Path = field(default=Path())

    def check_scale(self, scale: str) -> None:
        """Refuse a scale that the paper does not have."""
        if scale not in self.scales:
            choices = ", ".join(self.scales)
            raise PaperError(f"{self.name} has no scale {scale!r}; choose from: {choices}")

    def runs_of(self, scale: str) -> str:
        """The scale that has the seeds and settings of a scale: itself, or the one it names."""
        return str(self.scales[scale].get("runs", scale))

    def select(self, item: str | None, chapters: Sequence[int]) -> list[Item]:
        """Items of these chapters (all if none is named), or those with this name or figure.

        The ID of a claim selects its item with this claim alone.
        """
        if item is not None:
            claims = ((each, claim) for each in self.items for claim in each.claims)
            if alone := [each.only(claim) for each, claim in claims if claim.id == item]:
                return alone
            number = _FIGURE.sub("", item, count=1)
            found = [each for each in self.items if item == each.name or number in each.figures]
            if not found:
                names = ", ".join(each.name for each in self.items)
                numbers = ", ".join(number for each in self.items for number in each.figures)
                raise PaperError(
                    f"{self.name} has no item {item!r}; choose from: {names}"
                    + (f"; or a figure: {numbers}" if numbers else "")
                    + "; or the ID of a claim, which `deroute reproduce --status` lists"
                )
            return found
        present = sorted({each.chapter for each in self.items})
        for chapter in chapters:
            if chapter not in present:
                raise PaperError(f"{self.name} has no items of chapter {chapter}, only {present}")
        return [each for each in self.items if not chapters or each.chapter in chapters]


def folders(roots: Sequence[Path]) -> dict[str, Path]:
    """Folder of every paper under the roots, by its name; the first root wins."""
    found = [path.parent for root in reversed(roots) for path in root.glob(f"*/{PAPER_FILE}")]
    by_name = {folder.name: folder for folder in found}
    return {name: by_name[name] for name in sorted(by_name)}


def find(paper: str, roots: Sequence[Path]) -> Path:
    """Folder of a paper: a path, or a name under one of the roots."""
    known = folders(roots)
    if (Path(paper) / PAPER_FILE).is_file():
        return Path(paper)
    if paper not in known:
        raise PaperError(f"there is no paper {paper!r}; choose from: {', '.join(known) or 'none'}")
    return known[paper]


def read_paper(folder: Path) -> Paper:
    """Read a paper's folder and check the form of every item."""
    shared = _load(folder / PAPER_FILE)
    items = [_read_item(path) for path in sorted(folder.glob("*.toml")) if path.name != PAPER_FILE]
    for name, scale in shared.get("scale", {}).items():
        for key in ("points", "runs"):
            if "seeds" not in shared["scale"].get(scale.get(key, name), {}):
                raise PaperError(
                    f"{folder / PAPER_FILE}: scale.{name}: needs `seeds` and `set`, or `points` and"
                    " `runs` with the names of scales that have them"
                )
    seen: dict[str, str] = {}
    for item in items:
        for claim in item.claims:
            if claim.id in seen:
                raise PaperError(f"{item.name}: claim {claim.id!r} is also in {seen[claim.id]}")
            seen[claim.id] = item.name
    try:
        return Paper(
            name=folder.name,
            title=shared["title"],
            base=shared["base"],
            paths=shared["paths"],
            values=shared["values"],
            scales=shared["scale"],
            items=tuple(items),
            folder=folder,
        )
    except KeyError as error:
        raise PaperError(f"{folder / PAPER_FILE}: {error.args[0]!r} is missing") from error


def _load(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise PaperError(f"{path}: {error}") from error


def _read_item(path: Path) -> Item:
    data = _load(path)
    try:
        experiments = _read_experiments(path, data.get("experiment", []))
        return Item(
            name=path.stem,
            chapter=int(data["chapter"]),
            title=data["title"],
            figures=_figures(path, data.get("figures", [])),
            experiments=experiments,
            claims=tuple(_read_claim(path, each) for each in data.get("claim", ())),
            drawings=tuple(_read_drawing(path, each) for each in data.get("drawing", ())),
            tables=_read_tables(path, data.get("table", []), experiments),
        )
    except KeyError as error:
        raise PaperError(f"{path}: {error.args[0]!r} is missing") from error


def _read_experiments(path: Path, tables: list[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    """The tables of experiments, with the settings of those that they are like."""
    models = {each["name"]: each for each in tables if "like" not in each}
    read = []
    for table in tables:
        own = dict(table)
        model = own.pop("like", own["name"])
        if model not in models:
            where = f"{path}: experiment {own['name']!r}"
            raise PaperError(f"{where}: like {model!r}; choose from: {', '.join(models)}")
        read.append({key: models[model][key] for key in _SETTINGS if key in models[model]} | own)
    return tuple(read)


def _figures(path: Path, numbers: Any) -> tuple[str, ...]:
    if not isinstance(numbers, list) or not all(isinstance(each, str) for each in numbers):
        raise PaperError(f'{path}: `figures` is a list of texts such as ["5-7"], not {numbers!r}')
    return tuple(numbers)


def _read_drawing(path: Path, data: dict[str, Any]) -> Drawing:
    rest = {key: value for key, value in data.items() if key not in ("name", "kind", "title")}
    drawing = Drawing(data["name"], data["kind"], data["title"], rest)
    if drawing.kind not in charts.CATALOGUE:
        choices = ", ".join(charts.CATALOGUE)
        raise PaperError(f"{path}: unknown drawing {drawing.kind!r}; choose from: {choices}")
    try:
        inspect.signature(charts.CATALOGUE[drawing.kind]).bind(drawing.title, **rest)
    except TypeError as error:
        raise PaperError(f"{path}: drawing {drawing.name!r}: {error}") from error
    return drawing


def _read_tables(
    path: Path, tables: list[dict[str, Any]], experiments: Sequence[Mapping[str, Any]]
) -> tuple[Table, ...]:
    """The published tables; one that is `like` another has its cells and what is said of them."""
    axes = {each["name"]: each["axes"] for each in experiments}
    models = {each["id"]: each for each in tables if "id" in each and "like" not in each}
    read = []
    for table in tables:
        try:
            model = table.get("like")
            if model is not None and model not in models:
                raise ValueError(f"like {model!r}; choose from: {', '.join(models) or 'none'}")
            own = models.get(model, {}) | table
            read.append(Table.read(own, axes[own["of"]]))
        except (KeyError, ValueError) as error:
            raise PaperError(f"{path}: table of {table.get('of')!r}: {error}") from error
    return tuple(read)


def _read_claim(path: Path, data: dict[str, Any]) -> Claim:
    where = f"{path}: claim {data.get('id', '?')!r}"
    for key in data:
        if key not in _CLAIM_KEYS:
            raise PaperError(f"{where}: unknown key {key!r}; known: {sorted(_CLAIM_KEYS)}")
    checks = tuple(_read_check(where, each) for each in data.get("check", ()))
    if sum((bool(checks), bool(data.get("tests")), "unsettled" in data)) != 1:
        raise PaperError(f"{where}: needs checks, or `tests`, or the reason why it is `unsettled`")
    if "evidence" in data and "finding" not in data:
        raise PaperError(f"{where}: evidence belongs to a `finding`")
    return Claim(
        id=data["id"],
        source=data["source"],
        statement=data["statement"],
        published=data.get("published"),
        unit=data.get("unit", ""),
        derived=data.get("derived", False),
        checks=checks,
        tests=tuple(data.get("tests", ())),
        unsettled=data.get("unsettled"),
        finding=data.get("finding"),
        evidence=tuple(_read_check(where, each) for each in data.get("evidence", ())),
        scope=data.get("scope"),
    )


def _read_check(where: str, data: dict[str, Any]) -> Check:
    if not any(key in data for key in _BOUND_KEYS):
        raise PaperError(f"{where}: a check needs one of {', '.join(_BOUND_KEYS)}")
    rest = {key: value for key, value in data.items() if key not in ("measure", *_BOUND_KEYS)}
    equals = data.get("equals")
    return Check(
        measure=data["measure"],
        arguments=rest,
        equals=None if equals is None else equals if isinstance(equals, list) else [equals],
        at_least=data.get("at_least"),
        at_most=data.get("at_most"),
    )
