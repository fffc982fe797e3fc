"""What is printed says what users call things, whatever that is, and on narrow terminals too."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pytest
from rich.console import Console

from conftest import EXPERIMENT
from deroute.cli import show
from deroute.economics.prices import DEFAULT
from deroute.experiment import Experiment
from deroute.figures.style import paper
from deroute.store import Store
from test_cli import call

#: What rich would take for marks, and for a picture.
TITLE, LABEL = "Bytes [/s] of [draft] :boom:", "[/b] [red]M :boom:"
SHORT = "--precision 0.25 --to 0.25"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An experiment with such texts, in a folder and a file with such names, and its results."""
    where = tmp_path_factory.mktemp("terminal") / "[bold]"
    where.mkdir()
    text = EXPERIMENT.replace("A small experiment", TITLE).replace('"VLB"', f'"{LABEL}"')
    (where / "a [b].toml").write_text(text)
    call("run", where / "a [b].toml", "--dir", where / "[runs]")
    with Store.open(where / "[new]", create=True) as store:
        store.set_experiment(Experiment.load(where / "a [b].toml").document)
    return where


def flat(output: str) -> str:
    """Without the breaks of lines."""
    return re.sub(r"\s+", " ", output)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("show [runs]", [TITLE, LABEL]),
        ("compare [runs] --by routing", [f"{LABEL} beside MIN", f"What {LABEL} changes"]),
        ("compare [runs] --by load --x routing", [f" {LABEL} "]),
        (
            "saturation a~[b].toml --precision 0.25 --to 0.25 --dir [s]",
            [TITLE, LABEL, "[s]/saturation.csv"],
        ),
        ("check a~[b].toml --dir [runs]", ["a [b].toml: valid", "results [runs]"]),
        ("show [new]", ["[new]: no point of small is finished yet"]),
        ("plot [runs] --format svg", ["[runs]/latency.svg"]),
    ],
)
def test_texts_of_users_are_no_marks(
    folder: Path, monkeypatch: pytest.MonkeyPatch, command: str, words: list[str]
) -> None:
    monkeypatch.chdir(folder)
    output = flat(call(*(part.replace("~", " ") for part in command.split())).output)
    for each in words:
        assert each in output


def test_letters_that_no_font_has_are_no_warnings(experiment_file: Path, tmp_path: Path) -> None:
    title = 'kind = "latency"\ntitle = "\u7db2\u8def \U0001f680"'
    experiment_file.write_text(EXPERIMENT.replace('kind = "latency"', title))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        output = call("run", experiment_file, "--dir", tmp_path / "runs").output
        assert "latency.pdf" in output
        with pytest.raises(UserWarning, match="another"), paper():
            warnings.warn("another", stacklevel=1)


def test_names_of_cables_are_no_marks(experiment_file: Path, tmp_path: Path) -> None:
    prices = DEFAULT.read_text()
    for old, new in (('"DAC"', '"[/d]"'), ('"USD"', '"[/u]"')):
        prices = prices.replace(old, new)
    (tmp_path / "prices.toml").write_text(prices)
    output = call("topology", experiment_file, "--prices", tmp_path / "prices.toml").output
    assert "Cost of cables in [/u]: links" in output
    assert "[/d] direct-attach copper" in output


@pytest.mark.parametrize("width", [40, 30])
def test_on_a_narrow_terminal_labels_and_names_are_whole(
    folder: Path, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr(show.app, "out", lambda: Console(width=width, emoji=False))
    output = call("show", "[runs]").output
    assert "…" not in output
    assert "Not shown, for want of width: Jain, hops, p99 ns, offered, seeds" in flat(output)
    rows = [line for line in output.splitlines() if line.startswith(" MIN ")]
    assert [re.findall(r"0\.\d+", row)[0] for row in rows] == ["0.1", "0.2", "0.3"]
    printed = re.sub(r"\s", "", call("point", "a [b].toml").output)
    assert "…" not in printed
    output = call("saturation", "a [b].toml", *SHORT.split(), "--dir", "[s]").output
    assert "…" not in output
    assert "Not shown, for want of width: loads" in flat(output)
    assert any(line.startswith(" MIN ") for line in output.splitlines())


def test_tables_of_streams_keep_their_labels_too(
    experiment_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = '[[base.traffic.stream]]\nname = "others"\nhosts = [0]\nload = 0.1\n'
    stream += "destinations = { any = [1] }\n\n[base.run]"
    experiment_file.write_text(EXPERIMENT.replace("[base.run]", stream))
    call("run", experiment_file, "--dir", tmp_path / "runs")
    monkeypatch.setattr(show.app, "out", lambda: Console(width=46))
    output = call("show", tmp_path / "runs").output
    assert all(len(line) <= 46 for line in output.splitlines())
    rows = [line.split() for line in output.splitlines() if " others " in line]
    assert [row[:3] for row in rows] == [
        *(["MIN", load, "others"] for load in ("0.1", "0.2", "0.3")),
        ["VLB", "0.2", "others"],
    ]
    assert "out of order" in flat(output.partition("Not shown")[2])
