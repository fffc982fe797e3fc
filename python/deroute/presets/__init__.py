"""Networks to start from: `extends = "dragonfly-5256"` in an experiment file.

What extends a network has its base, with the entries of the file put over it.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deroute.errors import DocumentPath, InputError, in_file
from deroute.spec import read_toml

#: Key of a document that names what it extends.
EXTENDS = "extends"
_FOLDER = Path(__file__).parent
#: Tables that name one alternative: another one takes the place of what was there.
_CHOICES: tuple[DocumentPath, ...] = (
    ("network", "topology"),
    ("network", "switch"),
    ("network", "flow_control"),
    ("network", "congestion_point"),
    ("network", "nic", "notification_point"),
    ("network", "nic", "reaction_point"),
    ("network", "nic", "entropy"),
    ("routing",),
    ("traffic", "pattern"),
)


def names() -> list[str]:
    """Networks that come with the lab."""
    return sorted(file.stem for file in _FOLDER.glob("*.toml"))


def base(name: str) -> dict[str, Any] | None:
    """The base of a network that comes with the lab; None if it is not one of them."""
    if name not in names():
        return None
    document = read_toml(_FOLDER / f"{name}.toml")[0]
    own: dict[str, Any] = document["base"]
    below = base(document[EXTENDS]) if EXTENDS in document else None
    return own if below is None else _over(below, own, ())


def extended(
    document: dict[str, Any], file: Path, text: str, seen: tuple[Path, ...] = ()
) -> dict[str, Any]:
    """The document with the base of what it extends under its own."""
    if EXTENDS not in document:
        return document

    def wrong(message: str, choices: list[str] | None = None) -> InputError:
        problem = in_file(message, (EXTENDS,), file=file, text=text, choices=choices or ())
        return InputError([problem])

    name = document[EXTENDS]
    if not isinstance(name, str):
        raise wrong(f"{name!r} is neither the name of a network nor a file")
    below = base(name)
    if below is None:
        if not name.endswith(".toml"):
            raise wrong(f"there is no network {name!r}; a file ends in .toml", names())
        other = (file.parent / name).resolve()
        if other in (*seen, file.resolve()):
            raise wrong(f"{name} extends itself")
        if not other.exists():
            raise wrong(f"there is no file {name}", names())
        found, its_text = read_toml(other)
        found = extended(found, other, its_text, (*seen, file.resolve()))
        below = found.get("base", {} if "name" in found else found)
    own = document.get("base", {})
    if not isinstance(own, Mapping):
        return document
    return {**document, "base": _over(below, own, ())}


def _over(below: Mapping[str, Any], own: Mapping[str, Any], path: DocumentPath) -> dict[str, Any]:
    """The entries of both: tables that are in both put together, else the own ones."""
    if path in _CHOICES and set(below) != set(own):
        return copy.deepcopy(dict(own))
    found = copy.deepcopy(dict(below))
    if path == ("network",) and set(own.get("topology", ())) - set(below.get("topology", ())):
        found.pop("links", None)  # Another topology has other classes of links.
    for key, value in own.items():
        old = found.get(key)
        if isinstance(old, Mapping) and isinstance(value, Mapping):
            found[key] = _over(old, value, (*path, key))
        else:
            found[key] = copy.deepcopy(value)
    return found
