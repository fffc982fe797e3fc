"""`deroute reproduce`: runs, reports, and the verdicts that are kept."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from deroute import _engine
from deroute.cli import app, bars, execution
from deroute.executors import Done, Event
from deroute.store import FILE

SMALL = """
title = "A small network"
[base.network.topology.dragonfly]
p = 2
a = 4
h = 2
[base.network.links.local]
latency = "15 ns"
vcs = 2
buffer = "9 KB"
[base.network.links.global]
latency = "150 ns"
vcs = 1
buffer = "45 KB"
[base.network.nic]
injection_queue = "126 KB"
[base.network.switch.combined_queued]
pipeline = "90 ns"
output_buffer = "15.75 KB"
[base.routing]
minimal = {}
[base.traffic]
load = 0.1
packet_size = 10
pattern = { adversarial = { offset = 1 } }
[paths]
load = "traffic.load"
[values]
[scale.quick]
seeds = [1]
set = { "run.warmup" = 2000, "run.measure" = 4000 }
"""

BOUND = """
chapter = 3
title = "The bound of ADV+1"
[[experiment]]
name = "bound"
axes = { load = [0.05, 0.4] }
[[experiment.figure]]
name = "throughput"
kind = "throughput"
[[claim]]
id = "an-eighth"
source = "section 3.2.2"
statement = "At most 1/(2h^2)."
published = 0.125
unit = "phits/host/cycle"
[[claim.check]]
measure = "accepted"
of = "bound"
where = { load = 0.4 }
at_least = LEAST
"""


LATER = """
chapter = 4
title = "What is not built"
[[claim]]
id = "later"
source = "section 4"
statement = "Something else."
unsettled = "it is not built"
[[claim]]
id = "hosts"
source = "section 4.1"
statement = "It has 72 hosts."
published = 72
[[claim.check]]
measure = "hosts"
h = 2
equals = 72
"""


def write(bound: str) -> Path:
    """The paper `small` under the present directory, with this least accepted load."""
    folder = Path("reproduce") / "small"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "paper.toml").write_text(SMALL)
    (folder / "3.2-bound.toml").write_text(BOUND.replace("LEAST", bound))
    (folder / "4.1-later.toml").write_text(LATER)
    return folder


def call(*arguments: str, code: int = 0) -> str:
    """Output of `deroute reproduce` with these arguments."""
    result = CliRunner().invoke(app, ["reproduce", *arguments])
    assert result.exit_code == code, result.output
    return result.output


def pretend_each_took(seconds: float) -> None:
    """Say of every point under the present directory that it took so long."""
    for store in Path("runs").glob(f"**/{FILE}"):
        with closing(sqlite3.connect(store)) as database, database:
            database.execute("UPDATE points SET seconds = ?", (seconds,))


def test_a_plan_says_what_it_takes_and_runs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write("0.1")

    def row() -> list[str]:
        lines = call("small", "--scale", "quick", "--plan").splitlines()
        return next(line for line in lines if line.startswith(" all")).split()[1:]

    points, left, cycles, hours, took, *_ = row()
    assert (points, left, cycles, took) == ("2", "2", "0.012", "0.000")
    assert 0 <= float(hours) < 0.1
    assert not (tmp_path / "runs").exists()
    call("small", "--scale", "quick", code=0)
    assert row()[:4] == ["2", "0", "0.000", "0.000"]
    pretend_each_took(450)
    assert row()[:5] == ["2", "0", "0.000", "0.000", "0.250"]


def test_a_plan_says_how_far_it_is_where_there_is_no_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write("0.1")
    assert "1 of 1" not in call("small", "--plan")
    monkeypatch.setattr(bars, "_REPORT_SECONDS", 0.0)
    assert "3.2-bound.bound: 1 of 1\n" in call("small", "--plan")


def amend(where: Path, **changes: str | None) -> None:
    """Changes what is kept of the verdict on a claim; None: takes it out."""
    (file,) = where.rglob("verdicts/3.2-bound.quick.json")
    kept: dict[str, Any] = json.loads(file.read_text())
    changed = kept["an-eighth"] | changes
    kept["an-eighth"] = {name: value for name, value in changed.items() if value is not None}
    file.write_text(json.dumps(kept))


def rows(*arguments: str, code: int = 0) -> dict[str, list[str]]:
    """Cells of the report on the status, by claim."""
    call("--status", *arguments, "--report", "status.md", code=code)
    lines = Path("status.md").read_text().splitlines()
    table = [line.strip("| ").split(" | ") for line in lines if line.startswith("| `")]
    return {cells[0].strip("`"): cells[3:] for cells in table}


@pytest.mark.parametrize(("least", "code"), [("0.11", 0), ("0.2", 1)])
def test_the_command_runs_draws_judges_and_reports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, least: str, code: int
) -> None:
    monkeypatch.chdir(tmp_path)
    write(least)
    assert "1 claims" in call("small", "--chapter", "3", "--jobs", "1", code=code)
    where = tmp_path / "runs" / "reproduce" / "small" / "quick"
    assert (where / "3.2-bound.bound" / "throughput.png").stat().st_size > 0
    assert "| `an-eighth` | section 3.2.2 |" in (where / "REPORT.md").read_text()


def test_a_cluster_measures_what_this_machine_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed")
    monkeypatch.chdir(tmp_path)
    write("0.11")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
    ) as cluster:
        there = ["--executor", "dask", "--address", cluster.scheduler_address]
        call("small", "3.2-bound", *there)
    measured = rows("small")["an-eighth"]
    assert "2 of 2 points were done before" in call("small", "3.2-bound")
    assert rows("small")["an-eighth"] == measured
    assert "local, dask" in call("small", "--executor", "cloud", code=2)


def test_a_stopped_reproduction_continues(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("0.11")

    def stop(self: object, event: Event) -> None:
        if isinstance(event, Done):
            raise KeyboardInterrupt

    with monkeypatch.context() as context:
        context.setattr(execution._Bar, "_update", stop)
        output = call("small", "3.2-bound", "--jobs", "1", code=130)
    assert "Stopped with 1 points done and 1 to do" in output
    assert "1 of 2 points were done before" in call("small", "3.2-bound", "--jobs", "1")


def test_drawings_need_no_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("0.11")
    item = Path("reproduce") / "small" / "2-sizes.toml"
    text = 'chapter = 2\ntitle = "Sizes"\n[[drawing]]\nname = "sizes"\nkind = "scalability"\n'
    item.write_text(f'{text}title = "Sizes"\nports = 20\n')
    assert "2-sizes.sizes.png" in call("small", "2-sizes")
    where = tmp_path / "runs" / "reproduce" / "small" / "quick"
    assert (where / "2-sizes.sizes.png").stat().st_size > 0
    item.write_text(f'{text}title = "Sizes"\ncolour = "red"\n')
    assert "colour" in call("small", "2-sizes", code=2)
    item.write_text(f'{text.replace("scalability", "pie")}title = "Sizes"\n')
    assert "scalability, cable-cost" in call("small", "2-sizes", code=2)


def test_verdicts_outlive_the_run_of_another_item(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write("0.11")
    before = rows("small")
    assert [cells[2:5] for cells in before.values()] == [
        ["never measured", "-", "-"],
        ["not settled", "-", "-"],
        ["never measured", "-", "-"],
    ]
    call("small", "3.2-bound", "--jobs", "1")
    bound = rows("small")["an-eighth"]
    assert bound[0] == "0.125 phits/host/cycle"
    assert "±" in bound[1]
    assert bound[2:4] == ["reproduced", "quick"]
    call("small", "4.1-later", "--jobs", "1")
    after = rows("small")
    assert after["an-eighth"] == bound
    assert after["hosts"][1:4] == ["72", "reproduced", "quick"]
    assert after["later"][2:] == ["not settled", "-", "-", "-", "it is not built"]
    assert rows("small", "4.1-later").keys() == {"later", "hosts"}


def test_status_covers_every_paper_and_names_differences(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = write("0.2")
    call("small", "--jobs", "1", code=1)
    known = rows(code=1)
    assert known["an-eighth"][2] == "differs"
    assert len(known) > 10
    output = call("--status", "small", code=1)
    assert "no finding explains it: an-eighth" in output
    # A finding counts only once a run has judged its evidence.
    file = folder / "3.2-bound.toml"
    file.write_text(
        file.read_text().replace("[[claim.check]]", 'finding = "known"\n[[claim.check]]')
    )
    assert rows("small", code=1)["an-eighth"][2] == "differs"
    call("small", "--jobs", "1")
    assert "known" in rows("small")["an-eighth"][6]


def test_changed_checks_and_older_engines_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write("0.11")
    call("small", "--jobs", "1")
    write("0.12")
    changed = rows("small")["an-eighth"]
    assert changed[2] == "never measured"
    assert "checks or points have changed" in changed[6]
    write("0.11")
    amend(Path("runs"), engine="0.0.1", day="2020-02-29")
    older = rows("small")["an-eighth"]
    assert older[2:6] == ["reproduced", "quick", "1", "2020-02-29"]
    assert f"measured by Deroute 0.0.1, not {_engine.VERSION}" in older[6]


def test_published_verdicts_count_until_a_run_of_ones_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = write("0.11")
    call("small", "--jobs", "1", "--dir", "elsewhere")
    Path("elsewhere/verdicts").rename(folder / "verdicts")
    amend(folder, day="2020-02-29")
    assert rows("small")["an-eighth"][5] == "2020-02-29"
    assert rows("small", "--dir", "elsewhere")["an-eighth"][2] == "never measured"
    call("small", "3.2-bound", "--jobs", "1")
    assert rows("small")["an-eighth"][5] > "2020-02-29"


def test_verdicts_of_another_layout_count_as_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write("0.11")
    call("small", "3.2-bound", "--jobs", "1")
    amend(Path("runs"), evidence=None)
    assert rows("small")["an-eighth"][2] == "never measured"


def test_the_day_is_that_of_the_simulations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write("0.11")
    call("small", "3.2-bound", "--jobs", "1")
    (store,) = Path("runs").rglob("results.sqlite")
    connection = sqlite3.connect(store)
    connection.execute("UPDATE points SET finished_at = '2020-02-29 12:00:00'")
    connection.commit()
    connection.close()
    call("small", "3.2-bound", "--jobs", "1")
    assert rows("small")["an-eighth"][5] == "2020-02-29"


def test_the_scale_that_stands_later_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = write("0.11")
    (folder / "paper.toml").write_text(
        SMALL
        + '[scale.paper]\nseeds = [1, 2]\nset = { "run.warmup" = 2000, "run.measure" = 4000 }\n'
    )
    call("small", "3.2-bound", "--jobs", "1", "--scale", "paper")
    call("small", "3.2-bound", "--jobs", "1")
    assert rows("small")["an-eighth"][3] == "paper"
    assert rows("small", "--scale", "quick")["an-eighth"][3] == "quick"


def test_scales_with_the_same_runs_share_their_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = write("0.11")
    claims = '[scale.claims]\npoints = "quick"\nruns = "paper"\n'
    paper = '[scale.paper]\nseeds = [2]\nset = { "run.warmup" = 2000, "run.measure" = 5000 }\n'
    (folder / "paper.toml").write_text(SMALL + claims + paper)
    item = folder / "3.2-bound.toml"
    thinned = "axes = { load = [0.05, 0.4] }\nscale.quick = { load = [0.4] }"
    item.write_text(item.read_text().replace("axes = { load = [0.05, 0.4] }", thinned))
    output = call("small", "3.2-bound", "--jobs", "1", "--scale", "claims")
    assert "1/1 points" in output
    assert rows("small")["an-eighth"][3] == "claims"
    output = call("small", "3.2-bound", "--jobs", "1", "--scale", "paper")
    assert "1 of 2 points were done before" in output
    assert rows("small")["an-eighth"][3] == "paper"
    assert [each.name for each in Path("runs/reproduce/small").iterdir()] == ["paper"]


def test_what_experiments_have_in_common_is_simulated_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    item = write("0.11") / "3.2-bound.toml"
    second = BOUND[BOUND.index("[[experiment]]") : BOUND.index("[[claim]]")]
    more = second.replace('"bound"', '"more"').replace("0.05, 0.4", "0.1, 0.4")
    item.write_text(item.read_text().replace("[[claim]]", f"{more}[[claim]]", 1))

    def column(number: int) -> list[str]:
        lines = [line.split() for line in call("small", "3.2-bound", "--plan").splitlines()]
        return [line[number] for line in lines if line and line[0] in ("3.2-bound.more", "all")]

    assert column(2) == ["1", "3"]
    output = call("small", "3.2-bound", "--jobs", "1")
    assert "3.2-bound.more: 1 of 2 points are those of 3.2-bound.bound" in output
    assert column(2) == ["0", "0"]
    pretend_each_took(3600)
    assert column(5) == ["1.000", "3.000"]
    shutil.rmtree("runs/reproduce/small/quick/3.2-bound.bound")
    assert (column(2), column(5)) == (["0", "1"], ["2.000", "2.000"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], ["PAPER", "--status", "thesis"]),
        (["--status", "--chapter", "3"], ["PAPER"]),
        (["--status", "--tables", "page.md"], ["PAPER", "whose tables?", "thesis"]),
        (["thesis", "--status", "--scale", "huge"], ["huge", "quick, claims, paper"]),
        (["thesis", "9-99"], ["9-99", "3.2-bounds"]),
        (["thesis", "--scale", "huge", "--plan"], ["huge", "quick, claims, paper"]),
        (["cee", "--scale", "claims"], ["claims", "quick, paper"]),
        (["thesis", "--status", "--slurm", "time=9"], ["--slurm: belongs to --executor slurm"]),
    ],
)
def test_what_does_not_exist_is_refused(arguments: list[str], words: list[str]) -> None:
    output = call(*arguments, code=2)
    assert all(word in output for word in words)
