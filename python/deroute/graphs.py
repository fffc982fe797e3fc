"""Networks from files: lists of links as CSV, graphs as GraphML.

Where a TOML file says `graph = { file = "net.csv", ... }`, the file stands next to it and its links
take its place, so that a spec is whole in itself.
"""

from __future__ import annotations

import importlib
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.parsers import expat

from deroute.errors import InputError, Problem

#: Formats by the ending of the file.
FORMATS = ("csv", "graphml")
#: Characters of a line of a list of links.
_LONGEST_LINE = 1000
_NUMBER = re.compile(r'("?)[0-9]{1,9}\1')


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
    """`edges` of a file, and `hosts` if it has them; an `InputError` unless it is one network."""
    match file.suffix.removeprefix(".").lower():
        case "csv":
            found: dict[str, Any] = {"edges": list(_links(file))}
        case "graphml":
            found = _graphml(file)
        case _:
            known = [f"{file.stem}.{each}" for each in FORMATS]
            message = f"{str(file)!r} does not end in a known format"
            raise InputError.of(message, "graph.file", known)
    if not found["edges"]:
        raise InputError([Problem("has no links", file=file)])
    _connected(found["edges"], file)
    return found


def _links(file: Path) -> Iterator[list[int]]:
    """A link in each line: its two routers, between a comma, a semicolon or blanks.

    `#` begins a comment. A first line without a number is a heading.
    """
    first = True
    for line, text in _lines(file):
        words = text.partition("#")[0].replace(",", " ").replace(";", " ").split()
        if not words:
            continue
        heading = first and not any(_number(word) for word in words)
        first = False
        if heading:
            continue
        if len(words) != 2 or not all(_number(word) for word in words):
            message = f"{text.strip()[:80]!r} is not a link: two numbers of routers"
            raise InputError([Problem(message, file=file, line=line)])
        yield [int(word.strip('"')) for word in words]


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    """The lines of a text file and their numbers; none of them is read without end."""
    try:
        with file.open(encoding="utf-8-sig") as stream:
            for number in itertools.count(1):
                text = stream.readline(_LONGEST_LINE + 1)
                if not text:
                    return
                if len(text) > _LONGEST_LINE:
                    message = f"has more than {_LONGEST_LINE:,} characters, too many for a link"
                    raise InputError([Problem(message, file=file, line=number)])
                yield number, text
    except (OSError, UnicodeDecodeError) as error:
        raise InputError([Problem(f"cannot be read: {error}", file=file)]) from error


def _number(word: str) -> bool:
    return _NUMBER.fullmatch(word) is not None


def _connected(edges: Sequence[Sequence[int]], file: Path) -> None:
    """Refuse links that leave out a router, or that make more than one network."""
    above: dict[int, int] = {}

    def root(router: int) -> int:
        while above[router] != router:
            above[router] = router = above[above[router]]
        return router

    for a, b in edges:
        above.setdefault(a, a)
        above.setdefault(b, b)
        above[root(a)] = root(b)
    missing = next(number for number in itertools.count() if number not in above)
    if missing < len(above):
        message = f"no link leads to router {missing}; routers count from 0"
        raise InputError([Problem(message, file=file)])
    apart = next((router for router in range(len(above)) if root(router) != root(0)), None)
    if apart is not None:
        message = f"is more than one network: no way leads from router 0 to router {apart}"
        raise InputError([Problem(message, file=file)])


def _graphml(file: Path) -> dict[str, Any]:
    """Nodes are numbered in their order; the attribute `hosts` of every node counts its hosts."""
    try:
        networkx = importlib.import_module("networkx")
    except ImportError as error:
        message = "GraphML needs networkx: pip install 'deroute[graphml]'"
        raise InputError([Problem(message, file=file)]) from error
    try:
        _without_entities(file)
        graph = networkx.read_graphml(file)
    except Exception as error:  # Whatever the XML parser and networkx raise.
        raise InputError([Problem(f"is no GraphML: {error}", file=file)]) from error
    alone = next((node for node, links in graph.degree() if not links), None)
    if alone is not None and len(graph) > 1:
        raise InputError([Problem(f"no link leads to the node {alone!r}", file=file)])
    number = {node: index for index, node in enumerate(graph.nodes)}
    found: dict[str, Any] = {"edges": [[number[a], number[b]] for a, b in graph.edges()]}
    hosts = [data.get("hosts") for _, data in graph.nodes(data=True)]
    if hosts and all(isinstance(count, int) for count in hosts):
        found["hosts"] = hosts
    return found


def _without_entities(file: Path) -> None:
    """Refuse definitions in XML: a few of them, one inside the other, fill any memory."""

    def refuse(name: str, *_: object) -> None:
        raise ValueError(f"it defines the entity {name!r}, which a graph has no use for")

    parser = expat.ParserCreate()
    parser.EntityDeclHandler = refuse
    with file.open("rb") as stream:
        parser.ParseFile(stream)
