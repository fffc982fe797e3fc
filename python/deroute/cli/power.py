"""What `deroute topology --power` prints."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from deroute import _engine
from deroute.cli import app
from deroute.economics import drawing, power, power_chart
from deroute.economics.comparison import wired
from deroute.economics.network import Network
from deroute.economics.power import Census, Constants
from deroute.tables.addresses import ADDRESSINGS


def tell(network: Network | None, file: Path | None, plot: Path | None, *, as_json: bool) -> None:
    """Print and draw what a network draws; without one, the three of thesis 4.7.2."""
    constants = power.read(file)
    if plot is not None:
        drawing.form_of(plot)
    with app.err().status("Counting switches and their rules"):
        networks = (
            power.companions(lambda topology: wired(topology, _engine.topology))
            if network is None
            else [power.census(network)]
        )
        result = [_result(each, constants) for each in networks]
    # Before anything is printed: the reader of a pipe may go after a few lines.
    drawn = None
    if plot is not None:
        title = "What networks of some 300,000 hosts draw" if network is None else "Power"
        drawn = power_chart.write(plot, title, networks, constants)
    if as_json:
        print(json.dumps({"networks": result, "note": constants.note}))
        return
    console = app.out()
    for each in result:
        console.print(_table(each))
        made, switches = each["switches_looked_at"], each["switches"]
        if made is not None and made < switches:
            console.print(f"Looked at the tables of {made:,} of {switches:,} switches.")
    console.print(f"Note: {constants.note}", markup=False, soft_wrap=True)
    source = file or power.DEFAULT
    console.print(f"Constants and their sources: {source}", markup=False, soft_wrap=True)
    if drawn is not None:
        print(f"figure: {drawn}")


def _result(network: Census, constants: Constants) -> dict[str, Any]:
    """Everything that is printed of a network, as JSON has it; in watts."""
    draws = {name: power.draw(network, constants, name) for name in power.ORGANISATIONS}
    entries = {
        addressing: sum(kind.switches * kind.entries[addressing] for kind in network.kinds)
        / network.switches
        for addressing in ADDRESSINGS
    }
    return {
        "network": network.title,
        "hosts": network.hosts,
        "switches": network.switches,
        "switches_looked_at": network.looked_at,
        "entries_per_switch": entries,
        "tables": {
            name: asdict(draw) | {"total": draw.total, "per_host": draw.total / network.hosts}
            for name, draw in draws.items()
        },
    }


def _table(result: Mapping[str, Any]) -> Table:
    """Kilowatts by kind of tables."""
    title = (
        f"{result['network']}: {result['switches']:,} switches, {result['hosts']:,} hosts; in kW"
    )
    shown = Table(box=None, header_style="bold", title=escape(title), title_justify="left")
    shown.add_column("tables", no_wrap=True)
    columns: Sequence[str] = ("entries", *power_chart.PARTS.values(), "all", "W/host")
    for name in columns:
        shown.add_column(name, justify="right")
    for name, draw in result["tables"].items():
        entries = result["entries_per_switch"][name.partition(" ")[2]]
        parts = [draw[part] for part in power_chart.PARTS]
        shown.add_row(
            name,
            f"{entries:,.1f}".removesuffix(".0"),
            *(f"{watts / 1e3:,.1f}" for watts in (*parts, draw["total"])),
            f"{draw['per_host']:.2f}",
        )
    return shown
