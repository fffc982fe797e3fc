"""`deroute reproduce`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from deroute import _engine, plan, runner
from deroute import reproduce as papers
from deroute.cli import app
from deroute.cli.bars import Log, bar
from deroute.cli.execution import Address, ExecutorName, Jobs, Place, Slurm, Threads, simulate
from deroute.cli.plot import plot_directory, study
from deroute.data import PAPERS
from deroute.economics import charts
from deroute.errors import InputError
from deroute.executors import Resources
from deroute.experiment import Experiment
from deroute.figures import Study
from deroute.frame import load_results
from deroute.machine import cores
from deroute.report import claims
from deroute.reproduce import Item, ItemReport, Paper, PaperError, budget, sharing, status
from deroute.reproduce.cells import Cells
from deroute.reproduce.engine import BuiltEngine
from deroute.reproduce.experiments import documents, experiment_name
from deroute.reproduce.report import (
    PaperReport,
    cells_list,
    markdown,
    print_item,
    print_status,
    summary,
    tables_page,
)
from deroute.store import FILE
from deroute.writing import blaming

_SCALE = "quick"
# Where papers are looked for: here, then among those that come with the lab.
_ROOTS = (Path("reproduce"), PAPERS)

ItemName = Annotated[
    str | None,
    typer.Argument(
        metavar="ITEM",
        help="One item only, such as 3.2-bounds, figure 5-7, or the claim thesis-6.3.3-un.",
    ),
]
Status = Annotated[
    bool,
    typer.Option("--status", help="Run nothing: list every claim, of all papers or of one."),
]
ReportFile = Annotated[
    Path | None,
    typer.Option(
        help="File of the report, Markdown or HTML; default: REPORT.md in --dir, none with"
        " --status."
    ),
]
Tables = Annotated[
    Path | None,
    typer.Option(
        help="File of the tables, Markdown, or CSV with a line for each cell; with --status of"
        " what is stored."
    ),
]
Plan = Annotated[
    bool,
    typer.Option(
        "--plan",
        help="Run nothing: points, cycles, CPU hours and memory, and what points that are done"
        " took.",
    ),
]


def reproduce(
    paper: Annotated[
        str | None, typer.Argument(metavar="PAPER", help="Name or folder of the paper.")
    ] = None,
    item: ItemName = None,
    *,
    chapter: Annotated[str, typer.Option(help="Chapters, as in 2,3; default: all.")] = "",
    scale: Annotated[
        str | None,
        typer.Option(
            help="How thoroughly: quick (default), paper, or, of some papers, claims: what claims"
            " look at, measured as in paper. With --status only this one."
        ),
    ] = None,
    show_status: Status = False,
    only_plan: Plan = False,
    directory: Annotated[
        Path | None, typer.Option("--dir", help="Results; default: runs/reproduce/PAPER/SCALE.")
    ] = None,
    report: ReportFile = None,
    tables: Tables = None,
    jobs: Jobs = 0,
    threads: Threads = 1,
    executor: ExecutorName = "local",
    address: Address = None,
    options: Slurm = [],
    formats: Annotated[list[str], typer.Option("--format", help="Formats of the figures.")] = [
        "png"
    ],
) -> None:
    """Run what the claims of a paper need, and say which are reproduced.

    Ends with exit code 1 if a claim differs and no finding explains it.

    - `deroute reproduce thesis --chapter 2,3`
    - `deroute reproduce thesis 6.3-policies --scale claims`
    - `deroute reproduce thesis 6.3-policies --scale paper`
    - `deroute reproduce thesis 5-7`
    - `deroute reproduce thesis thesis-6.3.3-un`
    - `deroute reproduce thesis --scale paper --plan`
    - `deroute reproduce fat-tree table-3 --scale paper --executor dask --address tcp://head:8786`
    - `deroute reproduce --status --report claims.html`
    """
    chapters, place = (
        _chapters(chapter),
        Place(executor, Resources(jobs, threads, address, options=app.pairs(options, "--slurm"))),
    )
    if show_status:
        known = _last(paper, item, chapters, scale=scale, directory=directory)
        _write_stored_tables(tables, known, scale or _SCALE, directory)
        _status(known, report)
        return
    if paper is None:
        raise InputError.of("is missing, or --status", "PAPER", papers.folders(_ROOTS))
    data, scale = papers.read_paper(papers.find(paper, _ROOTS)), scale or _SCALE
    data.check_scale(scale)
    items = data.select(item, chapters)
    where = directory or _default_directory(data, scale)
    if only_plan:
        _plan(data, items, scale, where)
        return

    run = partial(_run, where=where, place=place, formats=formats)
    reports = _run_items(data, items, scale, where, run)
    if tables is not None:
        _write_tables(tables, data, scale, reports)
    name = "REPORT" if item is None else "-".join(item.split())
    _finish([(data, reports)], report or where / f"{name}.md")


def _run_items(
    paper: Paper,
    items: Sequence[Item],
    scale: str,
    where: Path,
    run: partial[tuple[Study, list[Path]]],
) -> list[ItemReport]:
    """Run and judge the items, one after the other."""
    console, reports = app.out(), list[ItemReport]()
    whole = {item.name: item for item in paper.items}
    for each in items:
        reports.append(papers.reproduce_item(paper, each, scale, run, BuiltEngine))
        with blaming("--dir", where):
            reports[-1].figures.extend(_draw(each, where, run.keywords["formats"]))
            status.keep(where, paper, scale, reports[-1], whole[each.name])
        print_item(console, reports[-1])
    return reports


def _plan(paper: Paper, items: Sequence[Item], scale: str, where: Path) -> None:
    """Say what the experiments of these items take."""
    wanted = [each for item in items for each in documents(paper, item, scale).values()]
    found, counted, log = [], set[str](), Log(app.err())
    with log.console.status("Trying some points of each experiment") as status_line:
        for number, document in enumerate(wanted, 1):
            line = f"{document['name']}: {number} of {len(wanted)}"
            status_line.update(line)
            log.say(line)
            found.append(budget.budget(document, where, counted))
    app.out().print(budget.table(found))
    hours = sum(each.cpu_seconds for each in found) / 3600
    print(f"about {hours:,.2f} CPU hours, {hours / cores():,.2f} h on the {cores()} cores here")


def _last(
    paper: str | None,
    item: str | None,
    chapters: Sequence[int],
    *,
    scale: str | None,
    directory: Path | None,
) -> list[PaperReport]:
    """What is known of the claims of all papers, or of one."""
    if paper is None and (item or chapters or directory):
        raise InputError.of("is missing: whose items or results?", "PAPER", papers.folders(_ROOTS))
    found = papers.folders(_ROOTS).values() if paper is None else [papers.find(paper, _ROOTS)]
    known: list[PaperReport] = []
    for folder in found:
        data = papers.read_paper(folder)
        if scale is not None:
            data.check_scale(scale)
        places: list[tuple[str, Path]] = []
        for each in data.scales if scale is None else (scale,):
            published = [] if directory else [folder]
            own = directory or _default_directory(data, each)
            places += [(each, where) for where in (*published, own)]
        items = data.select(item, chapters)
        known.append((data, status.kept(data, items, places, _engine.VERSION)))
    return known


def _write_stored_tables(
    file: Path | None, known: Sequence[PaperReport], scale: str, directory: Path | None
) -> None:
    """Write the tables of a paper from the cells that have been measured so far."""
    if file is None:
        return
    if len(known) > 1:
        raise InputError.of("is missing: whose tables?", "PAPER", papers.folders(_ROOTS))
    [(paper, reports)] = known
    where = directory or _default_directory(paper, scale)
    stored = [replace(each, tables=list(_stored(each, scale, where))) for each in reports]
    _write_tables(file, paper, scale, stored)


def _stored(report: ItemReport, scale: str, where: Path) -> Iterator[Cells]:
    """Cells of the points in the result directory, if there are any, or else those kept."""
    known = {each.table.of: each for each in report.tables if each.scale == scale}
    for table in report.item.tables:
        results = where / experiment_name(report.item, table.of)
        if (results / FILE).exists():
            yield Cells.of(table, study(load_results(results)), scale)
        elif table.of in known:
            yield known[table.of]


def _write_tables(file: Path, paper: Paper, scale: str, reports: Sequence[ItemReport]) -> None:
    page = tables_page(_engine.VERSION, paper, scale, reports)
    _write(file, cells_list(reports) if file.suffix == ".csv" else page, "--tables")


def _status(known: Sequence[PaperReport], file: Path | None) -> None:
    for paper, reports in known:
        print_status(app.out(), paper, reports)
    _finish(known, file)


def _finish(reports: Sequence[PaperReport], file: Path | None) -> None:
    """Write the report, sum up, and fail if a difference is not explained."""
    judgements = [each for _, items in reports for item in items for each in item.judgements]
    app.out().print(summary(judgements))
    if file is not None:
        if file.suffix == ".html":
            with blaming("--report", file):
                file.parent.mkdir(parents=True, exist_ok=True)
                claims.write(_engine.VERSION, reports, file)
        else:
            _write(file, markdown(_engine.VERSION, reports), "--report")
        print(f"report: {file}")
    if any(judgement.fails for judgement in judgements):
        raise typer.Exit(app.FAILED)


def _write(file: Path, text: str, option: str) -> None:
    with blaming(option, file):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def _default_directory(paper: Paper, scale: str) -> Path:
    # Scales with the same runs share their results.
    return Path("runs") / "reproduce" / paper.name / paper.runs_of(scale)


def _chapters(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",") if part.strip()]
    except ValueError:
        raise PaperError(f"--chapter: {text!r} is not a list of numbers such as 2,3") from None


def _draw(item: Item, where: Path, formats: Sequence[str]) -> list[Path]:
    """Draw the figures of an item that need no runs."""
    where.mkdir(parents=True, exist_ok=True)
    drawn: list[Path] = []
    for each in item.drawings:
        stem = where / f"{item.name}.{each.name}"
        drawn += charts.draw(each.kind, each.title, stem, formats, **each.options)
    return drawn


def _run(
    document: Mapping[str, Any], *, where: Path, place: Place, formats: Sequence[str]
) -> tuple[Study, list[Path]]:
    """Run what is missing of an experiment document, and draw its figures."""
    with bar("Checking the points") as told:
        checked = plan.check_experiment(Experiment.from_document(document), told=told)
    directory = where / checked.experiment.name
    missing = {point.key for point in runner.unfinished(checked.runs, directory)}
    if found := sharing.copied(checked.experiment, missing, directory):
        names = ", ".join(sorted({place.name for place in found.values()}))
        share = f"{len(found)} of {len(checked.runs)} points"
        app.err().print(f"{checked.experiment.name}: {share} are those of {names}")
    report = simulate(checked, directory, place)
    for failure in report.failed:
        app.err().print(f"[bold red]failed:[/] {escape(f'{failure.point}: {failure.message}')}")
    figures = plot_directory(directory, formats) if report.left < report.total else []
    return study(load_results(directory)), figures
