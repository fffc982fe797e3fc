"""What comes with the lab, and files to start from."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import deroute
from conftest import ROOT
from deroute import _engine, data, plan, scaffold
from deroute.cli import app

RUN = CliRunner()


def call(*arguments: str | Path, code: int = 0, answers: str | None = None) -> str:
    result = RUN.invoke(app, [str(each) for each in arguments], input=answers)
    assert result.exit_code == code, result.output
    return result.output


def test_the_version_is_that_of_the_engine() -> None:
    assert deroute.__version__ == _engine.VERSION == deroute.VERSION


def test_all_of_the_repository_comes_with_the_lab() -> None:
    assert {file.name for file in data.examples().values()} == {
        file.name for file in (ROOT / "experiments").glob("*.toml")
    }
    assert (data.PAPERS / "thesis" / "paper.toml").is_file()
    assert data.SCHEMA.is_file()


def test_examples_are_listed_shown_and_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    listed = call("examples")
    for name in ("first", "dragonfly-5256", "hipineb"):
        assert name in listed
    shown = call("examples", "first")
    # An editor finds the schema wherever the copy lies.
    head, rest = shown.split("\n", 1)
    assert Path(head.removeprefix("#:schema file://")).is_file()
    assert rest in data.example("first").read_text()
    call("examples", "first", "--copy")
    assert Path("first.toml").read_text() == shown
    call("examples", "first", "--to", "mine.toml")
    assert Path("mine.toml").read_text() == shown
    there = "there already"
    assert f"--copy: first.toml is {there}" in call("examples", "first", "--copy", code=2)
    assert f"--to: mine.toml is {there}" in call("examples", "first", "--to", "mine.toml", code=2)
    assert f"FILE: mine.toml is {there}" in call("new", "mine.toml", code=2)
    assert "allowed: " in call("examples", "frist", code=2)
    assert "which example" in call("examples", "--copy", code=2)


def test_an_example_stands_where_a_file_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    output = call("check", "first", "--no-probe")
    assert "48 (2 traffic x 3 routing x 8 load)" in output
    # What the file leaves to the engine differs between the routings.
    assert "network.links.local.vcs = 2 to 4" in output
    assert "network.links.global.buffer = 410 phits" in output
    assert "72" in call("topology", "first")
    assert "flat address" in call("tables", "first")
    Path("first").write_text("name = 3\n")
    assert "first:1" in call("check", "first", code=2), "a file comes before an example"


@pytest.mark.parametrize("topology", scaffold.KINDS)
def test_a_new_file_is_valid_with_every_routing(topology: str, tmp_path: Path) -> None:
    file = tmp_path / "new.toml"
    routings, patterns = scaffold.routings(topology), scaffold.patterns(topology, 40)
    assert set(scaffold.KINDS[topology].usual) <= set(routings)
    options = ["--routing", ",".join(routings), "--traffic", ",".join(patterns)]
    call("new", file, "--topology", topology, "--hosts", "40", *options)
    checked = plan.check_file(file)
    assert len(checked.points) == len(routings) * len(patterns) * 6
    assert checked.warnings == []


def test_a_new_file_is_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "my new.toml"
    output = call("new", file, answers="hyperx-2d\n30\nminimal, valiant\n\n")
    assert "The smallest with 30 hosts has 36: 4 x 3, 3 hosts each" in output
    assert f"next: deroute check '{file}'" in output
    experiment = plan.check_file(file).experiment
    assert experiment.axes["routing"] == ["minimal", "valiant"]
    assert experiment.axes["traffic"] == ["uniform"]
    # Two files of the same network do not share a folder of results.
    assert experiment.name == "my-new"


def test_what_cannot_be_is_refused_with_choices(tmp_path: Path) -> None:
    file = tmp_path / "new.toml"

    def refused(*options: str) -> str:
        usual = {"--topology": "dragonfly", "--hosts": "30", "--routing": "minimal"}
        usual |= {"--traffic": "uniform"}
        usual |= dict(zip(options[::2], options[1::2], strict=True))
        words = [word for option in usual.items() for word in option]
        assert not file.exists()
        return call("new", file, *words, code=2)

    assert "hyperx-3d" in refused("--topology", "torus")
    assert "2 to 1000000" in refused("--hosts", "1")
    assert "piggyback" in refused("--routing", "mod_k")
    assert "adversarial" in refused("--traffic", "unifrom")
    assert "is empty" in refused("--routing", " , ")
    file.write_text("mine")
    assert "there already" in call("new", file, code=2)
    assert file.read_text() == "mine"
