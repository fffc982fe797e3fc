"""`deroute saturation`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer
from rich.markup import escape
from rich.table import Table

from deroute import figures, plan, runner
from deroute.cli import app
from deroute.cli.bars import bar
from deroute.cli.cells import fitted
from deroute.cli.execution import Address, ExecutorName, Jobs, Place, Slurm, Threads, simulate
from deroute.cli.plot import plot_directory
from deroute.executors import Resources
from deroute.experiment import Experiment
from deroute.frame import load_results
from deroute.saturation import SUFFIX, Knee, Measured, Search, table
from deroute.store import FILE
from deroute.writing import blaming, whole

#: The table, beside the results.
TABLE = "saturation.csv"
#: Its columns beside the axes, and those that a narrow terminal does without, in their order.
_COLUMNS = ("knee", "throughput", "at", "loads", "states")
_LEAST_IMPORTANT = ("loads", "at", "states", "throughput")

Known = list[dict[int, Measured]]
#: A load to run, by the number of the curve.
Steps = Mapping[int, int]


def saturation(
    file: app.File,
    precision: Annotated[
        float, typer.Option(help="Width of the interval in which the knee is, in phits/host/cycle.")
    ] = 0.01,
    highest: Annotated[
        float,
        typer.Option(
            "--to",
            help="The highest load, a multiple of the precision: what it accepts is measured.",
        ),
    ] = 1.0,
    further: Annotated[
        int,
        typer.Option(
            "--curve",
            min=0,
            metavar="N",
            help="Further loads of each curve, where it bends, to draw the figures of the"
            " experiment.",
        ),
    ] = 0,
    directory: Annotated[
        Path | None, typer.Option("--dir", help="Result directory; default: runs/NAME-saturation.")
    ] = None,
    jobs: Jobs = 0,
    threads: Threads = 1,
    executor: ExecutorName = "local",
    address: Address = None,
    options: Slurm = [],
) -> None:
    """Find where the curves of an experiment saturate, by bisection of the load.

    The labels of all axes but the load and the seed are one curve each. Of every curve the
    highest load is run, then the interval is halved between the loads that the network keeps up
    with (it accepts 98% of what is attempted, and its seeds are not saturated) and those that it
    does not. Every finished point is kept at once, and the same command continues.

    With `--curve N` so many loads of each curve are added, where its latency bends, and those
    figures of the experiment are drawn that have curves over the load (`latency`, `throughput`,
    `line`).

    - `deroute saturation experiments/demo.toml`
    - `deroute saturation experiments/demo.toml --precision 0.005 --to 0.6`
    - `deroute saturation experiments/demo.toml --curve 6`
    """
    place = Place(
        executor, Resources(jobs, threads, address, options=app.pairs(options, "--slurm"))
    )
    with bar("Checking the points") as told:
        plan.check_file(file, told)
    experiment = Experiment.load(file)
    search = Search.of(experiment, precision, highest, further)
    where = directory or Path("runs") / (experiment.name + SUFFIX)
    curves = search.curves()
    known = _known(search, where)
    while steps := _next_steps(search, known):
        done = len(known) - len(steps)
        app.err().print(f"{done} of {len(curves)} curves are done; loads: {_loads(search, steps)}")
        _run(search, known, steps, where, place)
        known = _known(search, where)
    if further:
        # With its figures, even if a search without them has left nothing to run.
        _run(search, known, {}, where, place)
    knees = [search.knee(curve, each) for curve, each in zip(curves, known, strict=True)]
    _tell(knees, search, where)
    for path in plot_directory(where, figures.FORMATS):
        print(f"figure: {path}")


def _known(search: Search, where: Path) -> Known:
    """What has been measured of each curve."""
    curves = search.curves()
    if not (where / FILE).exists():
        return [{} for _ in curves]
    results = load_results(where)
    return [search.measured(results, curve) for curve in curves]


def _next_steps(search: Search, known: Known) -> Steps:
    """The next load of every curve that wants one."""
    found = ((number, search.next_step(each)) for number, each in enumerate(known))
    return {number: step for number, step in found if step is not None}


def _loads(search: Search, steps: Steps) -> str:
    return ", ".join(f"{search.load(step):g}" for step in sorted(set(steps.values())))


def _run(search: Search, known: Known, steps: Steps, where: Path, place: Place) -> None:
    """Run the next loads; ends the command if a point fails."""
    loads = {number: [*each] for number, each in enumerate(known)}
    for number, step in steps.items():
        loads[number].append(step)
    checked = plan.check_experiment(Experiment.from_document(search.document(loads)))
    todo = runner.unfinished(checked.points, where)
    report = simulate(checked.part(todo), where, place)
    for failure in report.failed[:5]:
        app.err().print(f"[bold red]failed:[/] {escape(f'{failure.point}: {failure.message}')}")
    if report.failed:
        raise typer.Exit(app.FAILED)


def _tell(knees: Sequence[Knee], search: Search, where: Path) -> None:
    rows = list(table(knees))
    file = where / TABLE
    text = pl.DataFrame(rows, infer_schema_length=None).write_csv()
    with blaming("--dir", file), whole(file) as draft:
        draft.write_text(text, encoding="utf-8")
    console = app.out()
    shown, left_out = fitted(
        console, lambda less: _table(rows, list(knees[0].labels), search, less), _LEAST_IMPORTANT
    )
    console.print(shown)
    if left_out:
        console.print(f"Not shown, for want of width: {', '.join(left_out)}")
    runs = sum(knee.loads * knee.highest.runs for knee in knees)
    grid = sum(search.steps * knee.highest.runs for knee in knees)
    print(f"points: {runs}; a grid of the same loads has {grid}")
    print(f"table: {file}")


def _table(
    rows: Sequence[Mapping[str, Any]], axes: Sequence[str], search: Search, less: Sequence[str]
) -> Table:
    """A row for each curve, without some of the columns."""
    shown = Table(title=escape(search.experiment.title), box=None, header_style="bold")
    for axis in axes:
        shown.add_column(axis, overflow="fold")
    names = [name for name in _COLUMNS if name not in less]
    for name in names:
        states = name == "states"
        shown.add_column(
            name,
            justify="left" if states else "right",
            overflow="fold" if states else "ellipsis",
            no_wrap=not states,
        )
    for row in rows:
        behind = row["fell_behind"]
        knee = (
            f"above {row['kept_up']:g}" if behind is None else f"{row['kept_up']:g} to {behind:g}"
        )
        half = float(str(row["throughput_ci95"]))
        unsure = "" if math.isnan(half) else f" ± {half:.4f}"
        cells = {
            "knee": knee,
            "throughput": f"{row['throughput']:.4f}{unsure}",
            "at": f"{row['highest']:g}",
            "loads": str(row["loads"]),
            "states": str(row["states"]),
        }
        labels = (escape(str(row[axis])) for axis in axes)
        shown.add_row(*labels, *(cells[name] for name in names))
    return shown
