"""`deroute reproduce`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.progress import MofNCompleteColumn, Progress, TimeElapsedColumn

from deroute import _engine, executors, plan, runner
from deroute import reproduce as papers
from deroute.cli import app
from deroute.cli.plot import plot_directory, study
from deroute.executors import Event, Resources, Running
from deroute.experiment import Experiment
from deroute.figures import Study
from deroute.frame import load_results
from deroute.reproduce import ItemReport, PaperError
from deroute.reproduce.engine import BuiltEngine
from deroute.reproduce.report import markdown, print_item, summary

# Where papers are looked for: here, then beside the sources of this package.
_ROOTS = (Path("reproduce"), Path(__file__).parents[3] / "reproduce")


def reproduce(
    paper: Annotated[str, typer.Argument(metavar="PAPER", help="Name or folder of the paper.")],
    item: Annotated[
        str | None, typer.Argument(metavar="[ITEM]", help="One item only, such as 3.2-bounds.")
    ] = None,
    *,
    chapter: Annotated[str, typer.Option(help="Chapters, as in 2,3; default: all.")] = "",
    scale: Annotated[str, typer.Option(help="How thoroughly: quick or paper.")] = "quick",
    directory: Annotated[
        Path | None, typer.Option("--dir", help="Results; default: runs/reproduce/PAPER/SCALE.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="File of the report; default: REPORT.md in --dir.")
    ] = None,
    jobs: Annotated[
        int, typer.Option(min=0, help="Points simulated at the same time; 0: one per core.")
    ] = 0,
    formats: Annotated[list[str], typer.Option("--format", help="Formats of the figures.")] = [
        "png"
    ],
) -> None:
    """Run what the claims of a paper need, and say which are reproduced.

    Ends with exit code 1 if a claim differs and no finding explains it.

    - `deroute reproduce thesis --chapter 2,3`
    - `deroute reproduce thesis 6.3-policies --scale paper`
    - `deroute reproduce thesis --report docs/reproduced.md`
    """
    data = papers.read_paper(papers.find(paper, _ROOTS))
    items = data.select(item, _chapters(chapter))
    where = directory or Path("runs") / "reproduce" / data.name / scale

    def run(document: Mapping[str, Any]) -> tuple[Study, list[Path]]:
        return _run(document, where, jobs, formats)

    console, reports = app.out(), list[ItemReport]()
    for each in items:
        reports.append(papers.reproduce_item(data, each, scale, run, BuiltEngine))
        print_item(console, reports[-1])
    judgements = [judgement for report in reports for judgement in report.judgements]
    file = report or where / ("REPORT.md" if item is None else f"{item}.md")
    file.parent.mkdir(parents=True, exist_ok=True)
    text = markdown(data, scale, _engine.VERSION, reports, date.today())
    file.write_text(text, encoding="utf-8")
    console.print(summary(judgements))
    print(f"report: {file}")
    if any(judgement.fails for judgement in judgements):
        raise typer.Exit(app.FAILED)


def _chapters(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",") if part.strip()]
    except ValueError:
        raise PaperError(f"--chapter: {text!r} is not a list of numbers such as 2,3") from None


def _run(
    document: Mapping[str, Any], where: Path, jobs: int, formats: Sequence[str]
) -> tuple[Study, list[Path]]:
    """Run what is missing of an experiment document, and draw its figures."""
    experiment = Experiment.from_document(document)
    directory = where / experiment.name
    checked = plan.check_experiment(experiment)
    todo = runner.unfinished(checked.points, directory)
    report = runner.Report(total=len(checked.points), kept=len(checked.points) - len(todo))
    columns = (*Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeElapsedColumn())
    bar = Progress(*columns, console=app.err(), disable=not todo)
    task = bar.add_task(experiment.name, total=len(todo))

    def watch(event: Event) -> None:
        bar.start()
        bar.advance(task, 0 if isinstance(event, Running) else 1)

    pool = executors.make("local", Resources(jobs, 1, None))
    try:
        runner.run_points(experiment, todo, directory, pool, report=report, watch=watch)
    finally:
        if bar.live.is_started:
            bar.stop()
    for failure in report.failed:
        app.err().print(f"[bold red]failed:[/] {escape(f'{failure.point}: {failure.message}')}")
    figures = plot_directory(directory, formats) if report.left < report.total else []
    return study(load_results(directory)), figures
