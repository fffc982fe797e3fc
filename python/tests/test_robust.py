"""Whatever the shell, the disk and a notebook bring: results or a message, never a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deroute
from conftest import EXPERIMENT, ROOT
from deroute import __main__ as entry
from deroute.cli.execution import _Bar
from deroute.cost import Pace
from deroute.errors import SpecError
from deroute.executors import Running
from deroute.executors.base import Failed
from deroute.experiment import Experiment, Point
from deroute.results import RawArrays
from deroute.store import Store, Stored
from deroute.writing import whole
from test_cli import call

SHELL = pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")


def shell(command: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """What a shell makes of `deroute ...`."""
    text = command.replace("deroute", f"{sys.executable} -m deroute")
    return subprocess.run(
        ["bash", "-c", text],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the small experiment and its results."""
    where = tmp_path_factory.mktemp("shell")
    (where / "small.toml").write_text(EXPERIMENT)
    assert shell("deroute run small.toml", where).returncode == 0
    return where


@SHELL
@pytest.mark.parametrize(
    "command", ["show runs/small", "check small.toml --no-probe", "run small.toml --dir new"]
)
def test_a_closed_output_ends_nothing(folder: Path, command: str) -> None:
    done = shell(f"deroute {command} >&-", folder)
    assert done.returncode == 0, done.stderr
    assert "standard output is closed" in done.stderr
    assert "Traceback" not in done.stderr
    assert shell(f"deroute {command} >&- 2>&- <&-", folder).returncode == 0


@SHELL
def test_nothing_is_written_into_what_was_opened_for_a_closed_stream(folder: Path) -> None:
    assert shell("deroute run small.toml --dir closed >&- 2>&-", folder).returncode == 0
    assert shell("deroute show closed", folder).returncode == 0
    assert (folder / "closed" / "results.sqlite").read_bytes().startswith(b"SQLite format 3")


@SHELL
def test_a_locale_without_unicode_gets_plain_signs(folder: Path) -> None:
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = shell("deroute show runs/small", folder, **plain)
    assert done.returncode == 0, done.stderr
    assert "+-" in done.stdout
    assert "\u00b1" in shell("deroute show runs/small", folder, PYTHONUTF8="1").stdout


@SHELL
def test_bytes_that_are_no_text_are_told(folder: Path) -> None:
    done = shell("deroute point small.toml --set $'traffic.pattern=\\xff'", folder)
    assert done.returncode == 2
    assert "traffic.pattern" in done.stderr
    assert "is no text" in done.stderr
    assert shell("deroute check $'\\xff.toml'", folder).returncode == 2


@SHELL
def test_a_figure_is_drawn_even_if_nobody_reads_on(folder: Path) -> None:
    shell("deroute topology small.toml --plot net.png | head -1", folder)
    assert (folder / "net.png").stat().st_size > 10_000
    shell("deroute topology --radix 32 --plot sizes.png | head -1", folder)
    assert (folder / "sizes.png").stat().st_size > 10_000


@SHELL
def test_a_disk_that_fills_up_leaves_no_half_of_a_figure(folder: Path) -> None:
    before = (folder / "runs/small/latency.png").read_bytes()
    done = shell("ulimit -f 8; deroute plot runs/small --format png", folder)
    assert done.returncode == 2
    assert "error: DIR: cannot write runs/small/latency.png: " in done.stderr
    assert (folder / "runs/small/latency.png").read_bytes() == before
    assert not list((folder / "runs/small").glob(".*"))


def records(directory: Path) -> dict[str, tuple[str, bytes]]:
    with Store.open(directory) as store:
        return {each.key: (each.outcome, each.arrays) for each in store.records()}


@SHELL
@pytest.mark.parametrize("disk", ["ulimit -f 100", "mount -t tmpfs -o size=200k none full"])
def test_a_run_on_a_disk_that_fills_up_goes_on_where_it_was(tmp_path: Path, disk: str) -> None:
    """A limit of files stands for a quota; a file system that is full needs root."""
    text = EXPERIMENT.replace("values = [1, 2]", "values = [1, 2, 3, 4, 5, 6]")
    (tmp_path / "small.toml").write_text(text)
    assert shell("deroute run small.toml --dir whole", tmp_path).returncode == 0
    (tmp_path / "full").mkdir()
    run = "deroute run small.toml --dir full/store; code=$?; cp -r full/store kept"
    room = "umount full" if "mount" in disk else "true"
    done = shell(f"{disk} || exit 77; {run}; {room}; exit $code", tmp_path)
    if done.returncode == 77:
        pytest.skip(f"not tested: a disk that fills up ({disk}): {done.stderr}")
    assert done.returncode == 2, done.stderr
    assert "results.sqlite: cannot be used as a result store: d" in done.stderr
    assert "Traceback" not in done.stderr
    kept, whole = records(tmp_path / "kept"), records(tmp_path / "whole")
    assert 0 < len(kept) < len(whole)
    assert kept.items() <= whole.items()
    again = shell("deroute run small.toml --dir kept", tmp_path)
    assert again.returncode == 0, again.stderr
    assert f"{len(kept)} of {len(whole)} points were done before" in again.stdout + again.stderr
    assert records(tmp_path / "kept") == whole


def test_a_file_is_whole_or_what_it_was(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("before")

    def spoil() -> None:
        with whole(file) as draft:
            draft.write_text("half")
            raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        spoil()
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    assert file.read_text() == "before"
    with whole(file) as draft:
        draft.write_text("after")
    assert file.read_text() == "after"


@SHELL
def test_point_names_every_mistake(tmp_path: Path) -> None:
    text = EXPERIMENT.replace("p = 2", 'p = "two"').replace("packet_size = 10", "packet_size = 0")
    (tmp_path / "bad.toml").write_text(text)
    done = shell("deroute point bad.toml", tmp_path)
    assert done.returncode == 2
    assert "bad.toml:5: base.network.topology.dragonfly.p" in done.stderr
    assert "bad.toml:19: base.traffic.packet_size" in done.stderr


def deep(levels: int) -> dict[str, Any]:
    """A table in a table in a table."""
    table: dict[str, Any] = {}
    for _ in range(levels):
        table = {"a": table}
    return table


@pytest.mark.parametrize(
    ("entry", "word"),
    [
        (deep(200), "100 levels"),
        (deep(50_000), "100 levels"),
        ("\ud800", "is no text"),
        ({"\ud800": 1}, "is no text"),
        (10**5000, "too large"),
        (float("nan"), "finite"),
        (np.float64("inf"), "finite"),
    ],
    ids=["deep", "deeper", "text", "key", "integer", "nan", "infinite"],
)
def test_specs_that_cannot_be_are_refused(spec: dict[str, Any], entry: object, word: str) -> None:
    spec["traffic"]["pattern"] = entry
    with pytest.raises(SpecError, match=word) as caught:
        deroute.check(spec)
    assert caught.value.path.startswith("traffic")


def test_a_spec_that_holds_itself_is_refused(spec: dict[str, Any]) -> None:
    spec["traffic"]["pattern"] = {"mix": [spec, spec]}
    with pytest.raises(SpecError, match="holds itself"):
        deroute.check(spec)
    document: Mapping[str, Any] = {"name": "me", "base": spec}
    with pytest.raises(deroute.InputError, match="holds itself"):
        Experiment.from_document(document)


def test_numbers_of_numpy_are_numbers(spec: dict[str, Any]) -> None:
    spec["traffic"]["load"] = 0.5
    plain = deroute.check(spec)
    spec["traffic"]["load"] = np.float32(0.5)
    spec["traffic"]["packet_size"] = np.int64(10)
    spec["run"]["seed"] = np.uint8(1)
    assert deroute.check(spec) == plain


class Clock:
    """A time that only the test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_time_left_does_not_swing() -> None:
    """Points whose real cost is off by three either way: the time left stays within that."""
    seconds = {f"{n}": 10.0 * (3.0 if n % 2 else 1 / 3) * (1 + n % 7) for n in range(60)}
    weights = {key: 10.0 * (1 + int(key) % 7) for key in seconds}
    clock = Clock()
    pace = Pace(weights, after=5.0, clock=clock)
    assert pace.left is None
    last = None
    for key, length in seconds.items():
        for step in range(10):
            clock.now += length / 10
            pace.come(key, (step + 1) / 10)
            true = sum(seconds.values()) - clock.now + 5.0
            left = pace.left
            assert left is not None
            if clock.now > 0.1 * sum(seconds.values()):
                assert true / 2 < left < 2 * true + 1
                assert last is None or abs(left - last) < 0.1 * sum(seconds.values())
                last = left
    assert pace.left == pytest.approx(5.0)


def test_a_finished_bar_has_no_time_left() -> None:
    points = [Point({"load": load}, {"traffic": {"load": load}}) for load in (0.1, 0.2)]
    bar = _Bar("small", 2, Pace({point.key: 1.0 for point in points}, after=5.0))
    left = []
    with bar as watch:
        for point in points:
            watch(Running(point, 0.5))
            watch(Failed(point, "it does not matter"))
            left.append(bar._progress.tasks[0].fields["left"])
    assert left[0].endswith(" left")
    assert left[1] == ""


@pytest.mark.parametrize("loaded", ["deroute.cli.compare", "deroute.api", "polars", "matplotlib"])
def test_ctrl_c_while_commands_are_loaded_has_no_traceback(loaded: str, tmp_path: Path) -> None:
    (tmp_path / "early.py").write_text(
        "import runpy, sys\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, *_):\n"
        f"        if name == {loaded!r}:\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupt())\n"
        "runpy.run_module('deroute', run_name='__main__')\n"
    )
    command = [sys.executable, str(tmp_path / "early.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "")
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts == {"deroute": f"{entry.__name__}:{entry.main.__name__}"}


def test_what_was_kept_when_an_interrupt_came_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, where, put = tmp_path / "small.toml", tmp_path / "results", Store.put
    file.write_text(EXPERIMENT)
    puts: list[None] = []

    def interrupted(self: Store, point: Stored, arrays: RawArrays) -> None:
        put(self, point, arrays)
        puts.append(None)
        if len(puts) in (3, 4):
            raise KeyboardInterrupt

    monkeypatch.setattr(Store, "put", interrupted)
    for done in (3, 4):
        output = call("run", file, "--dir", where, code=130).output
        assert f"Stopped with {done} points done and {8 - done} to do" in output
        assert f"{done} of 8 points are finished" in call("status", where).output
