"""Ten tasks of a newcomer, done by what the documentation says and nothing else.

Most are boxes of pages that `test_docs` follows from the first to the last; here is said which, and
that they are there. The others are done here, by commands that the documentation has as well.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import test_docs
from conftest import EXPERIMENT, ROOT
from deroute.store import FILE, Store
from test_cli import call

#: Task, page that is followed, and what its boxes say. Two tasks are tests below.
BOXES = [
    ("a Dragonfly at 400 Gb/s with packets of 4 kB", "tutorial.md", 'link_rate = "400 Gb/s"'),
    ("a Dragonfly at 400 Gb/s with packets of 4 kB", "tutorial.md", 'packet_size = "4 kB"'),
    ("a Dragonfly at 400 Gb/s with packets of 4 kB", "tutorial.md", "deroute run fast.toml"),
    ("hot spots on a fat tree with a figure", "tutorial.md", "hotspots = ["),
    ("hot spots on a fat tree with a figure", "tutorial.md", 'kind = "heat-map"'),
    ("hot spots on a fat tree with a figure", "tutorial.md", "deroute run hot.toml"),
    ("an all-reduce on two fabrics", "tutorial.md", "{ ring = { size ="),
    ("an all-reduce on two fabrics", "tutorial.md", 'name = "fabric"'),
    ("an all-reduce on two fabrics", "tutorial.md", "deroute run allreduce.toml"),
    ("three seeds with intervals", "tutorial.md", 'path = "run.seed"\nvalues = [1, 2, 3]'),
    ("three seeds with intervals", "tutorial.md", "deroute show runs/fast"),
    ("a graph of one's own", "tutorial.md", 'graph = { file = "rings.csv"'),
    ("a graph of one's own", "tutorial.md", "deroute run rings.toml"),
    ("a sweep in a notebook", "notebook.md", "deroute.sweep("),
    ("a comparison with a report", "tutorial.md", "deroute compare runs/first --by routing"),
    ("a comparison with a report", "tutorial.md", "deroute report runs/first"),
    ("a routing in Python", "routing-in-python.md", "def route(view: View, header: Header)"),
    ("a routing in Python", "routing-in-python.md", 'point(python("par.py"), 0.4)'),
]


@pytest.mark.parametrize(("task", "page", "words"), BOXES)
def test_a_box_does_the_task(task: str, page: str, words: str) -> None:
    assert page in test_docs.FOLLOWED, task
    boxes = [text for _, _, text in test_docs.blocks(ROOT / "docs" / page)]
    assert any(words in text for text in boxes), task


def test_three_seeds_have_an_interval(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the box of the tutorial shows: a row for each curve and load, over three seeds."""
    monkeypatch.chdir(tmp_path)
    boxes = {file: text for file, _, text in test_docs.blocks(ROOT / "docs/tutorial.md") if file}
    (tmp_path / "fast.toml").write_text(boxes["fast.toml"], encoding="utf-8")
    call("run", "fast.toml")
    output = call("show", "runs/fast", "--where", "routing=MIN", "--where", "load=0.5").output
    assert "\u00b1" in output
    assert "3" in output
    assert (tmp_path / "runs/fast/throughput.png").stat().st_size > 10_000


#: As the guide to experiment files says it: a network of the lab, a shorter run, two routings.
SATURATION = """
name = "hyperx"
extends = "hyperx-8x8x8"

[base.run]
warmup = "1 us"
measure = "1 us"

[[axis]]
name = "routing"
values = [
    { label = "DOR", set = { routing = { minimal = {} } } },
    { label = "DimWAR", set = { routing = { dimwar = {} } } },
]

[[axis]]
name = "load"
path = "traffic.load"
values = [0.5]
"""


def test_saturation_of_two_routings_on_a_hyperx(tmp_path: Path) -> None:
    """All 4,096 hosts; so short that the knee is only known within a quarter."""
    file = tmp_path / "hyperx.toml"
    file.write_text(SATURATION)
    where = tmp_path / "out"
    output = call("saturation", file, "--precision", "0.25", "--dir", where).output
    assert "DOR" in output
    assert "DimWAR" in output
    table = (where / "saturation.csv").read_text(encoding="utf-8").splitlines()
    assert len(table) == 1 + 2
    assert (where / "saturation.png").exists() or list(where.glob("*.png"))


@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_a_run_on_a_cluster_that_is_killed_and_resumed(tmp_path: Path) -> None:
    """`--executor dask`, killed, and the same command again: what an undisturbed run has."""
    distributed = pytest.importorskip("distributed")
    text = EXPERIMENT.replace("measure = 2000", "measure = 100000")
    assert text != EXPERIMENT
    (tmp_path / "small.toml").write_text(text)
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        protocol="tcp",
        dashboard_address=None,
    ) as cluster:
        line = f"run small.toml --dir there --executor dask --address {cluster.scheduler_address}"
        command = [sys.executable, "-m", "deroute", *shlex.split(line)]
        run = subprocess.Popen(
            command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        while not kept(tmp_path / "there") and run.poll() is None:
            time.sleep(0.05)
        run.kill()
        said, _ = run.communicate()
        assert run.returncode == -signal.SIGKILL, said.decode()
        before = kept(tmp_path / "there")
        assert 0 < len(before) < 8
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "points were done before" in done.stdout + done.stderr
    call("run", tmp_path / "small.toml", "--dir", tmp_path / "here")
    assert kept(tmp_path / "there") == kept(tmp_path / "here")
    assert before.items() <= kept(tmp_path / "here").items()


def kept(directory: Path) -> dict[str, str]:
    """Outcomes in a store that may not be there yet, by key."""
    if not (directory / FILE).exists():
        return {}
    with Store.open(directory) as store:
        return {each.key: each.outcome for each in store.records()}
