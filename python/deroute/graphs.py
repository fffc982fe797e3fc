"""Networks from files: lists of links as CSV, graphs as GraphML.

Where a TOML file says `graph = { file = "net.csv", ... }`, the file stands next to it and its links
take its place, so that a spec is whole in itself.
"""

from __future__ import annotations

import csv
import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deroute.errors import InputError, Problem

#: Formats by the ending of the file.
FORMATS = ("csv", "graphml")


def resolve(document: Any, folder: Path) -> Any:
    """The document with the links of every graph in place of its file."""
    if isinstance(document, list):
        return [resolve(entry, folder) for entry in document]
    if not isinstance(document, Mapping):
        return document
    found = {key: resolve(entry, folder) for key, entry in document.items()}
    graph = found.get("graph")
    if isinstance(graph, dict) and isinstance(graph.get("file"), str) and "edges" not in graph:
        rest = {key: entry for key, entry in graph.items() if key != "file"}
        found["graph"] = {**read(folder / graph["file"]), **rest}
    return found


def read(file: Path) -> dict[str, Any]:
    """`edges` of a file, and `hosts` if it has them."""
    match file.suffix.removeprefix(".").lower():
        case "csv":
            return {"edges": _csv(file)}
        case "graphml":
            return _graphml(file)
    known = [f"{file.stem}.{each}" for each in FORMATS]
    raise InputError.of(f"{str(file)!r} does not end in a known format", "graph.file", known)


def _csv(file: Path) -> list[list[int]]:
    """A link in each line: its two routers. A first line without numbers is a heading."""
    try:
        with file.open(newline="", encoding="utf-8") as stream:
            rows = list(csv.reader(stream, skipinitialspace=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError([Problem(f"cannot be read: {error}", file=file)]) from error
    edges = []
    for line, row in enumerate(rows, start=1):
        if not row or (line == 1 and not any(cell.strip().isdigit() for cell in row)):
            continue
        cells = [cell.strip() for cell in row]
        if len(cells) != 2 or not all(cell.isdecimal() for cell in cells):
            message = f"{','.join(row)!r} is not a link: two numbers of routers"
            raise InputError([Problem(message, file=file, line=line)])
        edges.append([int(cell) for cell in cells])
    return edges


def _graphml(file: Path) -> dict[str, Any]:
    """Nodes are numbered in their order; the attribute `hosts` of every node counts its hosts."""
    try:
        networkx = importlib.import_module("networkx")
    except ImportError as error:
        message = "GraphML needs networkx: pip install 'deroute[graphml]'"
        raise InputError([Problem(message, file=file)]) from error
    try:
        graph = networkx.read_graphml(file)
    except Exception as error:  # Whatever the XML parser and networkx raise.
        raise InputError([Problem(f"is no GraphML: {error}", file=file)]) from error
    number = {node: index for index, node in enumerate(graph.nodes)}
    found: dict[str, Any] = {"edges": [[number[a], number[b]] for a, b in graph.edges()]}
    hosts = [data.get("hosts") for _, data in graph.nodes(data=True)]
    if hosts and all(isinstance(count, int) for count in hosts):
        found["hosts"] = hosts
    return found
