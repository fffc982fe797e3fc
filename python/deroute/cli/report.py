"""`deroute report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deroute import report as reporting
from deroute.cli import app
from deroute.cli.plot import study
from deroute.frame import load_results
from deroute.writing import blaming


def report(
    directory: app.Directory,
    to: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The file; default: DIR/report.html.")
    ] = None,
) -> None:
    """Write a report: one HTML file with figures, tables, verdicts and the spec.

    It works without a network, and in any browser. Figures can be zoomed and filtered; a click on
    a point finds its row. Needs plotly: `pip install 'deroute[report]'`.

    - `deroute report runs/demo`
    - `deroute report runs/demo --to demo.html`
    """
    results = load_results(directory)
    file = to or directory / "report.html"
    with blaming("--to", file), app.err().status("Writing the report"):
        reporting.write(results, study(results), file)
    print(f"report: {file}")
