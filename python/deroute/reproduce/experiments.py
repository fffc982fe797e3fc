"""From an item's `[[experiment]]` tables to complete experiment documents at a scale.

An item writes only what is its own: `axes` (labels of named values, or plain numbers), settings
on top of the paper's base in `set`, paths to leave out in `unset`, and figures. The scale adds
run lengths and seeds; an experiment's own `scale` may thin out an axis or `skip` points, and
its `seeds` and `set` there have the last word: where it says how long to measure, no precision
ends its runs. A scale may be made of two others: with the points of one (`points`) and the runs
of the other (`runs`), where what an experiment says of the scale itself thins out further.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from functools import reduce
from typing import Any

from deroute.files import read_references
from deroute.reproduce.paper import Claim, Item, Paper, PaperError
from deroute.spec import assign, fingerprint

_KEYS = (
    *("name", "title", "reference", "axes", "base", "set", "unset", "skip"),
    *("figure", "scale"),
)


def experiment_name(item: Item, name: str) -> str:
    """Name of an experiment of an item, and of its result directory."""
    return f"{item.name}.{name}"


def documents(paper: Paper, item: Item, scale: str) -> dict[str, dict[str, Any]]:
    """Experiment documents of an item, by the short name that its claims use.

    A scale of two others leaves out the experiments that only figures show.
    """
    found = _as_written(paper, item, scale)
    for document in found.values():
        read_references(document, paper.folder / f"{item.name}.toml", None)
    return found


def _as_written(paper: Paper, item: Item, scale: str) -> dict[str, dict[str, Any]]:
    """The same with the names of the files that they refer to."""
    paper.check_scale(scale)
    of_claims = paper.runs_of(scale) != scale
    return {
        table["name"]: _document(paper, item, table, scale)
        for table in item.experiments
        if not of_claims or table["name"] in item.looked_at
    }


def fingerprints(paper: Paper, item: Item, scale: str) -> dict[str, str]:
    """What the points of each experiment of an item depend on, as a fingerprint.

    It is the same wherever the paper is: of files that are referred to it has the names.
    """
    found = {}
    for name, document in _as_written(paper, item, scale).items():
        points = {key: document.get(key) for key in ("base", "axis", "skip", "reference")}
        found[name] = fingerprint(json.dumps(points, sort_keys=True))
    return found


def seeds(paper: Paper, item: Item, claim: Claim, scale: str) -> list[int]:
    """With how many seeds the experiments were run that a claim looks at: each number once."""
    usual = paper.scales[paper.runs_of(scale)]["seeds"]
    tables = (table for table in item.experiments if table["name"] in claim.looks_at)
    return sorted({len(_own(table, paper.runs_of(scale)).get("seeds", usual)) for table in tables})


def _document(paper: Paper, item: Item, table: Mapping[str, Any], scale: str) -> dict[str, Any]:
    name = experiment_name(item, table["name"])
    for key in table:
        if key not in _KEYS:
            raise PaperError(f"{name}: unknown key {key!r}; known: {', '.join(_KEYS)}")
    _check_scales(paper, name, table)
    size = paper.scales[paper.runs_of(scale)]
    base = copy.deepcopy(dict(table.get("base", paper.base)))
    thinned = _own(table, paper.scales[scale].get("points", scale))
    own = _own(table, paper.runs_of(scale))
    axes = table["axes"] | _axes(thinned) | _axes(own) | _axes(_own(table, scale))
    last = own.get("set", {})
    usual = {key: value for key, value in size["set"].items() if not _replaced(key, last)}
    for path, value in {**table.get("set", {}), **usual, **last}.items():
        assign(base, path, value)
    for path in table.get("unset", ()):
        *above, last = path.split(".")
        reduce(lambda tree, step: tree[step], above, base).pop(last)
    compared = {"reference": table["reference"]} if "reference" in table else {}
    return compared | {
        "name": name,
        "title": table.get("title", item.title),
        "base": base,
        "axis": [
            *(_axis(paper, name, axis, labels) for axis, labels in axes.items()),
            {"name": "seed", "path": "run.seed", "values": list(own.get("seeds", size["seeds"]))},
        ],
        "skip": [*table.get("skip", ()), *_own(table, scale).get("skip", ())],
        "figure": list(_figures(table, axes)),
    }


def _check_scales(paper: Paper, name: str, table: Mapping[str, Any]) -> None:
    for scale, own in table.get("scale", {}).items():
        if scale not in paper.scales:
            raise PaperError(f"{name}: scale.{scale}: choose from: {', '.join(paper.scales)}")
        if paper.runs_of(scale) != scale and not own.keys().isdisjoint(("seeds", "set")):
            raise PaperError(
                f"{name}: scale.{scale}: has the seeds and settings of {paper.runs_of(scale)!r};"
                " only its points can be thinned out"
            )


def _own(table: Mapping[str, Any], scale: str) -> Mapping[str, Any]:
    """What an experiment says of a scale."""
    own: Mapping[str, Any] = table.get("scale", {}).get(scale, {})
    return own


def _axes(own: Mapping[str, Any]) -> dict[str, Any]:
    return {key: labels for key, labels in own.items() if key not in ("seeds", "set", "skip")}


def _figures(table: Mapping[str, Any], axes: Mapping[str, list[Any]]) -> Iterator[dict[str, Any]]:
    """The figures that have lines left, without those that a scale leaves out."""
    for figure in table.get("figure", ()):
        where = dict(figure.get("where", {}))
        for key, labels in where.items():
            if key in axes and isinstance(labels, list):
                where[key] = [label for label in labels if label in axes[key]]
        if [] not in where.values():
            yield {**figure, "where": where} if where else dict(figure)


def _replaced(path: str, by: Mapping[str, Any]) -> bool:
    """Whether a setting of a scale gives way: a length replaces a precision that ends runs."""
    return path == "run.precision" and "run.measure" in by


def _axis(paper: Paper, where: str, axis: str, labels: list[Any]) -> dict[str, Any]:
    if axis in paper.paths:
        return {"name": axis, "path": paper.paths[axis], "values": labels}
    if axis not in paper.values:
        known = ", ".join((*paper.paths, *paper.values))
        raise PaperError(f"{where}: unknown axis {axis!r}; choose from: {known}")
    named = paper.values[axis]
    for label in labels:
        if label not in named:
            raise PaperError(f"{where}: {axis} has no {label!r}; choose from: {', '.join(named)}")
    return {
        "name": axis,
        "values": [{"label": label, "set": copy.deepcopy(dict(named[label]))} for label in labels],
    }
