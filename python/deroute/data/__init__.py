"""What comes with the lab beside its code: examples, papers and schemas.

In the repository these folders are links to those in its root; in a wheel they are copies.
"""

from __future__ import annotations

import re
from pathlib import Path

from deroute.errors import InputError
from deroute.spec import read_toml

_FOLDER = Path(__file__).parent
EXAMPLES = _FOLDER / "experiments"
PAPERS = _FOLDER / "reproduce"
SCHEMA = _FOLDER / "schemas" / "experiment.schema.json"
_SCHEMA_LINE = re.compile(r"\A#:schema .*$", re.MULTILINE)


def examples() -> dict[str, Path]:
    """Experiment files that come with the lab, by name."""
    return {file.stem: file for file in sorted(EXAMPLES.glob("*.toml"))}


def example(name: str) -> Path:
    """The file of an example."""
    if name not in examples():
        raise InputError.of(f"there is no example {name!r}", "NAME", list(examples()))
    return examples()[name]


def title(file: Path) -> str:
    """What an experiment file calls itself."""
    document = read_toml(file)[0]
    return str(document.get("title", document.get("name", file.stem)))


def text_of(file: Path) -> str:
    """An experiment file, as it can stand in any folder: the schema is where it was installed."""
    return _SCHEMA_LINE.sub(f"#:schema {SCHEMA.as_uri()}", file.read_text(encoding="utf-8"))
