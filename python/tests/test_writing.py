"""Output that cannot be written: the option that names it, the file, and why."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import EXPERIMENT
from deroute.writing import whole, whole_folder
from test_cli import call
from test_robust import SHELL, shell

NEW = "--topology dragonfly --hosts 72 --routing minimal --traffic uniform"
NAS = "trace nas cg --class S --ranks 4"
TABLES = "--set routing={minimal={}}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small experiment, its results, a trace, and a file where nothing can stand below."""
    where = tmp_path_factory.mktemp("writing")
    (where / "small.toml").write_text(EXPERIMENT)
    (where / "file").touch()
    call("run", where / "small.toml", "--dir", where / "small")
    call(*NAS.split(), "--to", where / "cg")
    return where


@pytest.mark.parametrize(
    ("command", "option", "place"),
    [
        ("report small --to file/a.html", "--to", "file/a.html"),
        ("report small --to .", "--to", "."),
        ("report small --to /", "--to", "/"),
        ("export small --to file/a", "--to", "file/a.parquet"),
        ("export small --to .", "--to", "."),
        (f"tables small.toml {TABLES} --csv .", "--csv", "."),
        (f"new file/a.toml {NEW}", "FILE", "file/a.toml"),
        ("examples first --to file/a.toml", "--to", "file/a.toml"),
        ("compare small --dir file/a", "--dir", "file/a"),
        ("topology small.toml --plot file/a.png", "--plot", "file/a.png"),
        ("topology --power --plot file/a.png", "--plot", "file/a.png"),
        ("topology --radix 16 --plot file/a.png", "--plot", "file/a.png"),
        (f"tables small.toml {TABLES} --csv file/a.csv", "--csv", "file/a.csv"),
        (f"tables small.toml {TABLES} --p4 file/a", "--p4", "file/a"),
        (f"{NAS} --to file/a", "--to", "file/a"),
        (f"{NAS} --into goal --to file/a", "--to", "file"),
        ("trace scale cg --to file/a", "--to", "file/a"),
        ("trace info cg --matrix file/a.png", "--matrix", "file/a.png"),
        ("trace info cg --timeline file/a.png", "--timeline", "file/a.png"),
        ("reproduce --status cee --report file/a.html", "--report", "file"),
        ("reproduce --status cee --report file/a.md", "--report", "file"),
        ("reproduce --status cee --tables file/a.md", "--tables", "file"),
    ],
)
def test_what_cannot_be_written_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, command: str, option: str, place: str
) -> None:
    monkeypatch.chdir(folder)
    lines = call(*command.split(), code=2).stderr.splitlines()
    assert lines[-1].startswith(f"error: {option}: cannot write {place}: ")
    assert ".part" not in lines[-1]


@pytest.mark.parametrize(
    ("command", "option", "place"),
    [
        ("plot small", "DIR", "small/latency.png"),
        ("run small.toml --dir small", "--dir", "small/latency.png"),
        ("merge small --dir merged", "--dir", "merged/latency.png"),
        ("compare small --dir small", "--dir", "small/compare-latency.png"),
        ("saturation small.toml --dir k --precision 0.25", "--dir", "k/saturation.csv"),
    ],
)
def test_a_file_that_cannot_be_replaced_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, command: str, option: str, place: str
) -> None:
    monkeypatch.chdir(folder)
    file = Path(place)
    file.unlink(missing_ok=True)
    file.mkdir(parents=True)
    try:
        output = call(*command.split(), code=2).output
    finally:
        file.rmdir()
    assert f"error: {option}: cannot write {place}: Is a directory" in output


def test_a_folder_that_cannot_be_repaired_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    lock = Path("small/run.lock")
    lock.mkdir()
    try:
        output = call("repair", "small", code=2).output
    finally:
        lock.rmdir()
    assert output.startswith("error: DIR: cannot write small/run.lock: Is a directory")


@SHELL
def test_a_disk_that_is_full_is_named(folder: Path) -> None:
    done = shell("ulimit -f 2; deroute export small --to a", folder)
    assert done.returncode == 2
    assert done.stderr == "error: --to: cannot write a.parquet: File too large\n"


def test_a_draft_is_not_named(tmp_path: Path) -> None:
    def write() -> None:
        with whole(tmp_path / "none" / "a.txt") as draft:
            draft.write_text("a")

    with pytest.raises(FileNotFoundError) as caught:
        write()
    assert caught.value.filename == str(tmp_path / "none" / "a.txt")


def test_a_folder_gets_all_files_or_none(tmp_path: Path) -> None:
    to = tmp_path / "to"
    with whole_folder(to) as draft:
        (draft / "one").touch()
        assert not (to / "one").exists()
    assert [file.name for file in to.iterdir()] == ["one"]
    with pytest.raises(OSError, match="No such file") as caught, whole_folder(to) as draft:
        (draft / "nowhere" / "two").touch()
    assert caught.value.filename == str(to)
    assert [file.name for file in to.iterdir()] == ["one"]
