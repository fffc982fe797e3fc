"""Sizes that keep files and functions readable, and generated files that are up to date."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import rust
from conftest import ROOT

PYTHON = sorted([*(ROOT / "python").rglob("*.py"), *(ROOT / "tools").glob("*.py")])
RUST = sorted((ROOT / "crates").rglob("*.rs"))
ENGINE = ROOT / "crates" / "deroute" / "src"

# These lists only shrink: who mends a file takes its line off.
LONGER_THAN_400 = {
    "crates/deroute/src/kernel/matching/islip.rs",
    "crates/deroute/src/kernel/matching/separable.rs",
    "crates/deroute/src/outcome.rs",
    "crates/deroute/src/topology/dragonfly.rs",
    "crates/deroute/src/traffic/hotspots.rs",
    "crates/deroute/tests/suite/bad_input/mod.rs",
}
IN_CIRCLES: set[str] = set()


def _name(file: Path) -> str:
    return str(file.relative_to(ROOT))


@pytest.mark.parametrize("file", PYTHON, ids=_name)
def test_files_and_functions_are_short(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.count("\n") <= 400
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            assert node.end_lineno - node.lineno < 70, node.name


def test_rust_files_are_short() -> None:
    lines = {_name(file): file.read_text(encoding="utf-8").count("\n") for file in RUST}
    assert max(lines.values()) <= 800
    longer = {name for name, count in lines.items() if count > 400}
    assert longer - LONGER_THAN_400 == set(), "more than 400 lines"
    assert LONGER_THAN_400 - longer == set(), "no longer that long: take them off the list"


def test_modules_do_not_use_each_other_in_circles() -> None:
    graph = rust.Crate(ENGINE).graph()
    found = {str(file.relative_to(ENGINE)): file for file in rust.in_circles(graph)}
    for name in sorted(found.keys() - IN_CIRCLES):
        way = [str(file.relative_to(ENGINE)) for file in rust.way_back(graph, found[name])]
        pytest.fail(f"modules use each other in a circle: {' -> '.join(way)}")
    assert IN_CIRCLES - found.keys() == set(), "in no circle any more: take them off the list"


def test_circles_are_found(tmp_path: Path) -> None:
    files = {
        "lib.rs": "mod a;\nmod b;\nmod shop;\nuse a::Apple;\n",
        "a.rs": "use crate::b::{self, Bread, more::{Butter as Fat}};\npub struct Apple;\n",
        "b/mod.rs": "mod more;\npub use more::Butter;\npub struct Bread;\nuse more::Butter;\n",
        "b/more.rs": '// use crate::a::Apple;\npub struct Butter;\nconst A: &str = "crate::a";\n',
        "shop/mod.rs": "pub mod till;\npub use crate::a::*;\n",
        "shop/till.rs": "fn pay<'a>(coin: char) -> bool { coin == '\"' || crate::b::fair() }\n"
        "#[cfg(test)]\nmod tests {\n    use crate::a::Apple;\n}\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)

    def uses(name: str) -> set[str]:
        graph = rust.Crate(tmp_path).graph()
        return {str(file.relative_to(tmp_path)) for file in graph[tmp_path / name]}

    def circle() -> set[str]:
        graph = rust.Crate(tmp_path).graph()
        return {str(file.relative_to(tmp_path)) for file in rust.in_circles(graph)}

    assert [uses(name) for name in files] == [
        set(),
        {"b/mod.rs", "b/more.rs"},
        set(),
        set(),
        set(),
        {"b/mod.rs"},
    ]
    assert circle() == set()
    # By a name that another module hands on.
    (tmp_path / "b" / "more.rs").write_text("use crate::shop::Apple;\npub struct Butter;\n")
    assert circle() == {"a.rs", "b/more.rs"}


def test_documents_name_files_that_exist() -> None:
    # The walkthroughs of CONTRIBUTING make files; their own test says whether that works.
    pages = [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "decisions").glob("*.md")]
    places = ("crates", "python", "docs", "reproduce", "tools", "schemas", "experiments")
    files = [f"/{_name(file)}" for place in places for file in (ROOT / place).rglob("*.*")]
    for page in pages:
        named = re.findall(r"`([\w.-]+/[\w./-]+\.(?:rs|py|js|md))`", page.read_text("utf-8"))
        missing = [name for name in named if not any(file.endswith(f"/{name}") for file in files)]
        assert missing == [], page


def test_generated_files_are_up_to_date() -> None:
    command = [sys.executable, str(ROOT / "tools" / "generate.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
