"""What `deroute topology --radix` prints."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.table import Table

from deroute.cli import app
from deroute.economics import charts, drawing, scaling
from deroute.errors import InputError
from deroute.writing import blaming


def tell(radix: int, bisection: float, plot: Path | None, *, as_json: bool) -> None:
    """Print and draw the largest network of each topology."""
    sizes = _sizes(radix, bisection)
    drawn = None if plot is None else _plot_sizes(plot, radix, bisection)
    if as_json:
        print(json.dumps(sizes))
        return
    app.out().print(_size_table(sizes))
    if drawn is not None:
        print(f"figure: {drawn}")


def _plot_sizes(file: Path, radix: int, bisection: float) -> Path:
    form = drawing.form_of(file)
    if radix <= charts.FEWEST_PORTS:
        raise InputError.of(f"curves begin at {charts.FEWEST_PORTS} ports", "--plot")
    title = "Largest networks by the ports of their routers"
    options = {"ports": radix, "bisection": bisection}
    with blaming("--plot", file):
        return charts.draw("scalability", title, file.with_suffix(""), [form], **options)[0]


def _sizes(radix: int, bisection: float) -> dict[str, Any]:
    """The largest network of each family, as JSON has it."""
    families = []
    for name, family in scaling.FAMILIES.items():
        design = family.largest(radix, bisection)
        entry: dict[str, Any] = {"family": name, "title": family.title, "source": family.source}
        if design is not None:
            entry |= {
                "shape": design.shape,
                "hosts": design.hosts,
                "routers": design.routers,
                "ports": design.ports,
                "hosts_per_access_router": design.hosts_per_access_router,
                "hosts_per_router": design.hosts_per_router,
                "diameter": {"links": design.diameter, "routers": design.diameter + 1},
                "relative_bisection": design.bisection,
            }
        families.append(entry)
    return {"radix": radix, "least_bisection": bisection, "families": families}


def _size_table(sizes: Mapping[str, Any]) -> Table:
    title = f"Largest networks of routers with {sizes['radix']} ports"
    shown = Table(box=None, header_style="bold", title=title, title_justify="left")
    shown.add_column("topology")
    columns = ("hosts", "routers", "ports", "hosts/router", "links", "routers on path", "bisection")
    for name in columns:
        shown.add_column(name, justify="right", no_wrap=True)
    shown.add_column("shape")
    for row in sizes["families"]:
        if "hosts" not in row:
            shown.add_row(row["title"], "none")
            continue
        cells = (
            f"{row['hosts']:,}",
            f"{row['routers']:,}",
            f"{row['ports']}",
            f"{row['hosts_per_router']:.1f}",
            f"{row['diameter']['links']}",
            f"{row['diameter']['routers']}",
            f"{row['relative_bisection']:.3f}",
        )
        shown.add_row(row["title"], *cells, row["shape"])
    return shown
