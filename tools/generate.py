"""Writes the files that are generated from the code and from published verdicts.

With --check it says which are out of date.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from typer.main import get_command

from deroute import _engine
from deroute import reproduce as papers
from deroute.cli import app
from deroute.reproduce import report, status
from deroute.schema import experiment_schema

ROOT = Path(__file__).resolve().parent.parent


def schema_file() -> str:
    """JSON Schema of experiment files, for editors."""
    return json.dumps(experiment_schema(), indent=2, ensure_ascii=False) + "\n"


def spec_page() -> str:
    """Every key of a spec."""
    schema = json.loads(_engine.schema("spec"))
    head = (
        "# The spec\n\nEvery key that a simulation point may have. Generated from the engine's"
        " types (`make generate`).\nA bare number is in cycles or phits; a string carries its unit"
        ' (`"15 ns"`, `"3 m"`, `"18 KB"`).\n'
    )
    return head + "".join(_tables(schema))


def outcome_page() -> str:
    """Every field of an outcome."""
    schema = json.loads(_engine.schema("outcome"))
    head = (
        "# The outcome\n\nEvery field of a result. Generated from the engine's types"
        " (`make generate`).\n"
    )
    return head + "".join(_tables(schema))


ALGORITHMS = (
    "# Algorithms\n\nTopologies, routing algorithms, steps of programs and traffic patterns,"
    " from the heads\nof their source files (`make generate`). Every key is in [the"
    " spec](spec.md).\n"
)
SWITCHES = (
    "# Switches\n\nSwitches and hosts: flow control, congestion, notification and reaction points,"
    " entropies, injection\nqueues and queuing schemes, from the heads of their source files"
    " (`make generate`). Every key is in [the spec](spec.md); how\nclasses of flows share the VCs"
    " out is in [experiment files](../experiment-files.md#hot-spots-and-queuing-schemes).\n"
)
HEADINGS = ("What it does", "Source", "Parameters")

#: Page, folder, title and headings of the files that describe one entry of a catalogue each.
CATALOGUES = (
    (ALGORITHMS, "topology", "Topologies", (*HEADINGS, "Deadlock freedom")),
    (ALGORITHMS, "routing", "Routing", (*HEADINGS, "Deadlock freedom")),
    (ALGORITHMS, "workload", "Steps of programs", HEADINGS),
    (ALGORITHMS, "traffic", "Traffic patterns", HEADINGS),
    (SWITCHES, "switch", "Switches", (*HEADINGS, "Deadlock freedom")),
    (SWITCHES, "control", "Flow control", (*HEADINGS, "Deadlock freedom")),
    (SWITCHES, "congestion", "Congestion points", HEADINGS),
    (SWITCHES, "notification", "Notification points", HEADINGS),
    (SWITCHES, "reaction", "Reaction points", HEADINGS),
    (SWITCHES, "entropy", "Entropies", HEADINGS),
    (SWITCHES, "injection", "Injection queues", HEADINGS),
    (SWITCHES, "queuing", "Queuing schemes", (*HEADINGS, "Deadlock freedom")),
)


def catalogue_page(page: str) -> str:
    """What each entry of some catalogues does, from the head of its file."""
    text = page
    for on, folder, title, headings in CATALOGUES:
        if on == page:
            text += f"\n## {title}\n"
            sources = ROOT / "crates/deroute/src" / folder
            for path in sorted([*sources.glob("*.rs"), *sources.glob("*/mod.rs")]):
                text += _entry(path, headings)
    return text


def _entry(path: Path, headings: Sequence[str]) -> str:
    lines = [line[3:].removeprefix(" ") for line in path.read_text().splitlines()]
    count = next(i for i, line in enumerate(path.read_text().splitlines()) if line[:3] != "//!")
    head = "\n".join(lines[:count])
    if "# What it does" not in head:
        return ""
    missing = [name for name in (*headings, "Limits", "Example") if f"# {name}\n" not in head]
    if missing:
        sys.exit(f"{path.relative_to(ROOT)}: no heading {', '.join(missing)}")
    title, body = head.split("\n", 1)
    body = re.sub(r"^# (.*)\n", r"**\1.**\n", body, flags=re.MULTILINE)
    return f"\n### {title.rstrip('.')}\n{body}\n"


def commands_page() -> str:
    """Every command of the lab with its options."""
    head = (
        "# Commands\n\nWhat `deroute --help` and `deroute COMMAND --help` say, from the code"
        " (`make generate`).\n"
    )
    return head + "".join(_commands("deroute", get_command(app)))


def _commands(name: str, command: Any) -> Iterator[str]:
    if hasattr(command, "commands"):
        for word, each in command.commands.items():
            yield from _commands(f"{name} {word}", each)
        return
    yield f"\n## `{name}`\n\n{inspect.cleandoc(command.help or '')}\n"
    yield "\n| argument or option | meaning |\n|---|---|\n"
    for each in command.params:
        option = ", ".join(f"`{text}`" for text in (*each.opts, *each.secondary_opts))
        shown = option if each.param_type_name == "option" else f"`{each.metavar or each.name}`"
        yield f"| {shown} | {_line(getattr(each, 'help', None))} |\n"


def reproduced_page() -> str:
    """Every claim with its published verdict."""
    known = []
    for folder in papers.folders([ROOT / "reproduce"]).values():
        paper = papers.read_paper(folder)
        known.append((paper, status.published(paper, folder, _engine.VERSION)))
    return report.markdown(_engine.VERSION, known)


def tables_page(scale: str, *items: str) -> str:
    """The published measurements of the cells of fat-tree tables, at a scale."""
    paper, chosen = _tables_of(scale, *items)
    return report.tables_page(_engine.VERSION, paper, scale, chosen)


def cells_page() -> str:
    """Every cell of the fat-tree tables in the paper's network, a line each."""
    return report.cells_list(_tables_of("paper", "table-2", "table-3")[1])


def _tables_of(scale: str, *items: str) -> tuple[papers.Paper, list[papers.ItemReport]]:
    paper = papers.read_paper(ROOT / "reproduce" / "fat-tree")
    chosen = [each for each in paper.items if each.name in items]
    return paper, status.kept(paper, chosen, [(scale, paper.folder)], _engine.VERSION)


FILES: Mapping[str, Callable[[], str]] = {
    "schemas/experiment.schema.json": schema_file,
    "docs/reference/spec.md": spec_page,
    "docs/reference/outcome.md": outcome_page,
    "docs/reference/algorithms.md": partial(catalogue_page, ALGORITHMS),
    "docs/reference/switches.md": partial(catalogue_page, SWITCHES),
    "docs/reference/commands.md": commands_page,
    "docs/reproduced.md": reproduced_page,
    "docs/fat-tree-tables.md": partial(tables_page, "quick", "table-2", "table-3"),
    "docs/fat-tree-table-2-paper.md": partial(tables_page, "paper", "table-2"),
    "docs/fat-tree-table-3-paper.md": partial(tables_page, "paper", "table-3"),
    "docs/fat-tree-cells.csv": cells_page,
}


def _tables(schema: dict[str, Any]) -> Iterator[str]:
    yield from _table(schema["title"], schema)
    for name, definition in schema["$defs"].items():
        yield from _table(name, definition)


def _table(name: str, schema: dict[str, Any]) -> Iterator[str]:
    yield f"\n## {name}\n"
    if "description" in schema:
        yield f"\n{_line(schema['description'])}\n"
    variants = [each for key in ("oneOf", "anyOf") for each in schema.get(key, [])]
    if schema.get("properties"):
        yield "\n| key | type | default | meaning |\n|---|---|---|---|\n"
        required = schema.get("required", [])
        for key, entry in schema["properties"].items():
            default = "required" if key in required else _default(entry)
            yield f"| `{key}` | {_type(entry)} | {default} | {_line(entry.get('description'))} |\n"
    if variants:
        yield "\n| one of | meaning |\n|---|---|\n"
        for entry in variants:
            yield f"| {_type(entry)} | {_line(entry.get('description'))} |\n"


def _default(entry: dict[str, Any]) -> str:
    default = entry.get("default")
    if default is None or isinstance(default, dict):
        return ""
    return f"`{json.dumps(default)}`"


def _type(entry: dict[str, Any]) -> str:
    if "$ref" in entry:
        name = entry["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "const" in entry:
        return f"`{json.dumps(entry['const'])}`"
    if "enum" in entry:
        return ", ".join(f"`{json.dumps(value)}`" for value in entry["enum"])
    if "anyOf" in entry:
        return " or ".join(_type(each) for each in entry["anyOf"] if each.get("type") != "null")
    if entry.get("type") == "array":
        items = entry.get("items")
        return f"list of {_type(items)}" if isinstance(items, dict) else "list"
    if entry.get("type") == "object" and "properties" in entry:
        inside = (f"`{key}`: {_type(each)}" for key, each in entry["properties"].items())
        return f"table of {', '.join(inside)}"
    if entry.get("type") == "object" and isinstance(entry.get("additionalProperties"), dict):
        return f"table of {_type(entry['additionalProperties'])}"
    kinds = entry.get("type", "anything")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    return " or ".join(kind for kind in kinds if kind != "null")


def _line(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|")


def main() -> int:
    """Write or check every file."""
    check = "--check" in sys.argv[1:]
    stale = []
    for name, generate in FILES.items():
        file, text = ROOT / name, generate()
        if file.exists() and file.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if not check:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            print(f"written: {name}")
    if check and stale:
        print(f"out of date: {', '.join(stale)}; run `make generate`", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
