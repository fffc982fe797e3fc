"""Rust sources as far as tidiness looks at them: the modules of a crate, and which uses which."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

Name = tuple[str, ...]
"""Of a module or an item, from the root of the crate on."""

_NO_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|b?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?\'(?:\\.[^\']*|[^\\\'])\'', re.DOTALL
)
_TESTS = re.compile(r"^#\[cfg\(test\)\]\nmod \w+ \{\n.*?^\}\n", re.DOTALL | re.MULTILINE)
_USE = re.compile(r"^ *(pub(?:\([^)]*\))? )?use ([^;]+);", re.MULTILINE)
_ITEM = re.compile(
    r"^(?:pub(?:\([^)]*\))? )?(?:(?:const|unsafe|async) )*"
    r"(?:struct|enum|union|trait|fn|type|const|static|macro_rules!) (\w+)",
    re.MULTILINE,
)
_INLINE = re.compile(r"\b(?:crate|super)(?:::\w+)+")


@dataclass
class Module:
    """A file. Of a `pub use` only the names that the file itself needs are used."""

    file: Path
    text: str
    items: set[str]
    uses: list[Name]
    exports: list[tuple[str, Name]]


def code(text: str) -> str:
    """Rust without comments, literals and unit tests."""
    return _TESTS.sub("", _NO_CODE.sub("", text))


def modules(folder: Path) -> dict[Name, Module]:
    """The modules of the crate whose sources are in a folder."""
    found = {}
    for file in folder.rglob("*.rs"):
        parts = file.relative_to(folder).with_suffix("").parts
        found[parts[:-1] if parts[-1] in ("mod", "lib") else parts] = _module(file)
    return found


def _module(file: Path) -> Module:
    text = code(file.read_text(encoding="utf-8"))
    rest = _USE.sub("", text)
    uses = [tuple(path.split("::")) for path in _INLINE.findall(rest)]
    exports = []
    for public, tree in _USE.findall(text):
        for leaf in _leaves(tree):
            path, _, alias = leaf.partition(" as ")
            name = tuple(path.removesuffix("::self").split("::"))
            if public:
                exports.append((alias or name[-1], name))
            else:
                uses.append(name)
    return Module(file, rest, set(_ITEM.findall(rest)), uses, exports)


def _leaves(tree: str) -> Iterator[str]:
    """The paths that the tree of a `use` stands for."""
    head, brace, inner = tree.partition("{")
    if not brace:
        yield tree.strip()
        return
    part, depth = "", 0
    for letter in inner[: inner.rindex("}")] + ",":
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            if part.strip():
                yield from _leaves(head.strip() + part.strip())
            part = ""
        else:
            part += letter


class Crate:
    """What the modules of a crate use of each other."""

    def __init__(self, folder: Path) -> None:
        self.modules = modules(folder)

    def graph(self) -> dict[Path, set[Path]]:
        """For every file the ones that it uses. What a module uses of those within it does not
        count: it is what puts them together.
        """
        graph = {}
        for name, module in self.modules.items():
            homes = {self._home(name, path) for path in self._needs(name)}
            others = [home for home in homes if home is not None and home[: len(name)] != name]
            graph[module.file] = {self.modules[home].file for home in others}
        return graph

    def _needs(self, name: Name) -> Iterator[Name]:
        module = self.modules[name]
        words = set(re.findall(r"\w+", module.text))
        yield from module.uses
        for alias, path in module.exports:
            if alias != "*":
                yield from [path] if alias in words else []
            elif (origin := self._walk(name, path[:-1])) is not None and not origin[1]:
                items = self.modules[origin[0]].items
                yield from ((*path[:-1], item) for item in items & words)

    def _walk(self, name: Name, path: Name) -> tuple[Name, Name] | None:
        """The module that a path in another one leads to, and what is left of the path; none
        outside of the crate.
        """
        at, rest = name, path
        if rest[0] == "crate":
            at, rest = (), rest[1:]
        elif rest[0] in ("super", "self"):
            while rest and rest[0] in ("super", "self"):
                at, rest = at[:-1] if rest[0] == "super" else at, rest[1:]
        elif (*name, rest[0]) not in self.modules:
            return None
        while rest and (*at, rest[0]) in self.modules:
            at, rest = (*at, rest[0]), rest[1:]
        return at, rest

    def _home(self, name: Name, path: Name) -> Name | None:
        """The module that defines what a path in another one leads to. What a macro defines counts
        as defined where the path says.
        """
        found = self._walk(name, path)
        if found is None or not found[1]:
            return found and found[0]
        at, (item, *_) = found
        return self._definer(at, item) or at

    def _definer(self, at: Name, item: str) -> Name | None:
        module = self.modules[at]
        if item in module.items:
            return at
        for alias, path in module.exports:
            if alias == item:
                return self._home(at, path)
        for alias, path in module.exports:
            origin = self._walk(at, path[:-1]) if alias == "*" else None
            if origin is not None and (home := self._definer(origin[0], item)) is not None:
                return home
        return None


def in_circles(graph: dict[Path, set[Path]]) -> set[Path]:
    """The files from which a way leads back to themselves."""
    return {file for file in graph if way_back(graph, file)}


def way_back(graph: dict[Path, set[Path]], start: Path) -> list[Path]:
    """The shortest way from a file to itself; empty if there is none."""
    ways, seen = [[start]], set[Path]()
    for way in ways:
        for file in sorted(graph[way[-1]]):
            if file == start:
                return [*way, start]
            if file not in seen:
                seen.add(file)
                ways.append([*way, file])
    return []
