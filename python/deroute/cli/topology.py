"""`deroute topology`."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.markup import escape
from rich.table import Table

from deroute.cli import app, power, sizes
from deroute.cli.cells import grid
from deroute.cli.networks import spec_in, wire
from deroute.economics import drawing, floor, network, prices, rates, scaling
from deroute.economics.floor import Cables, Share
from deroute.economics.network import Network
from deroute.economics.prices import Prices
from deroute.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_Bisection = Annotated[
    float | None,
    typer.Option(
        min=0.01,
        show_default=str(scaling.BISECTION),
        help="With --radix: least relative bisection of HyperX.",
    ),
]


def topology(
    file: Annotated[Path | None, app.SPEC] = None,
    where: app.Where = [],
    assignments: app.Assignments = [],
    radix: Annotated[
        int | None,
        typer.Option(min=2, help="Largest network of each topology for routers with these ports."),
    ] = None,
    bisection: _Bisection = None,
    price_file: Annotated[
        Path | None,
        typer.Option("--prices", metavar="FILE", help="Cables and floor; default: the lab's own."),
    ] = None,
    signalling: Annotated[
        float | None, typer.Option(help="Signalling rate in GHz: how far copper reaches.")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            help=f"Draw it, up to {drawing.MOST_ROUTERS} routers, or with --radix the sizes: "
            ".png, .svg or .pdf."
        ),
    ] = None,
    with_power: Annotated[
        bool,
        typer.Option("--power", help="What switches draw; without FILE: for 300,000 hosts."),
    ] = False,
    power_file: Annotated[
        Path | None,
        typer.Option("--power-constants", metavar="FILE", help="Default: the lab's own."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print size, radix, diameter, bisection, cables and cost of a topology, or draw it.

    With `--radix`: how many hosts each topology connects with routers of so many ports. With
    `--power`: watts by ports, switching and forwarding tables.

    - `deroute topology experiments/demo.toml --set network.topology.dragonfly.groups=9`
    - `deroute topology experiments/hyperx.toml --plot hyperx.png`
    - `deroute topology experiments/hyperx.toml --signalling 25 --prices my-cables.toml --json`
    - `deroute topology --radix 64 --plot sizes.png`
    - `deroute topology --power --plot power.png`
    """
    with_power = with_power or power_file is not None
    _check(
        file,
        radix,
        {"--set": assignments, "--where": where, "--bisection": bisection}
        | {"--prices": price_file, "--signalling": signalling},
        with_power=with_power,
    )
    if radix is not None:
        sizes.tell(radix, bisection or scaling.BISECTION, plot, as_json=as_json)
        return
    found = None
    if file is not None:
        spec = spec_in(file, where, assignments)
        with app.err().status("Building the network"):
            found = Network.of(spec, wire(spec, file, where, assignments))
    if found is None or with_power:
        power.tell(found, power_file, plot, as_json=as_json)
        return
    if plot is not None:
        drawing.check(found, plot)
    table = prices.read(price_file, signalling)
    with app.err().status("Counting hops and cables"):
        result = _result(found, table, rates.of_cables(found, spec))
    _tell(result, price_file or prices.DEFAULT, found, plot, as_json=as_json)


def _check(
    file: Path | None, radix: int | None, given: Mapping[str, object], *, with_power: bool
) -> None:
    """Refuse two questions at once, none, and options that say nothing of the one."""
    both = radix is not None and (file is not None or with_power)
    if both or (radix is None and file is None and not with_power):
        message = "give either a file, or --power, or --radix"
        raise InputError.of(message, "--radix" if both else "FILE")
    idle: dict[str, str] = {}
    if file is None:
        idle |= dict.fromkeys(("--set", "--where"), "belongs to FILE")
    if file is None or with_power:
        idle |= dict.fromkeys(("--prices", "--signalling"), "belongs to FILE without --power")
    if radix is None:
        idle["--bisection"] = "belongs to --radix"
    for option, message in idle.items():
        if given[option] not in (None, []):
            raise InputError.of(message, option)


def _tell(
    result: Mapping[str, Any], source: Path, found: Network, plot: Path | None, *, as_json: bool
) -> None:
    """Draw a network, and print it: the reader of a pipe may go after a few lines."""
    drawn = None if plot is None else drawing.draw(found, plot)
    if as_json:
        print(json.dumps(result))
        return
    _print(result, source)
    if drawn is not None:
        print(f"figure: {drawn}")


def _result(found: Network, table: Prices, gbps: NDArray[np.float64]) -> dict[str, Any]:
    """Everything that is printed, as JSON has it. Lengths in metres, rates in Gb/s."""
    fewest, most = found.radix()
    distances, cut = found.distances(), found.bisection()
    plan = floor.place(found, table.floor)
    cables = floor.cables(found, plan, table.floor)
    shares = floor.cost(cables, table, gbps)
    return {
        "topology": found.name,
        "parameters": dict(found.parameters),
        "hosts": found.hosts,
        "routers": found.routers,
        "radix": {"fewest": fewest, "most": most},
        "links": found.links_by_class(),
        "diameter": None
        if distances is None
        else {"links": distances.links, "routers": distances.routers},
        "mean_distance_links": None if distances is None else distances.mean,
        "bisection": None
        if cut is None
        else {"cut": cut.cut, "links": cut.links, "links_per_host": cut.per_host},
        "floor": {"racks": plan.racks, "rows": plan.rows, "racks_per_row": plan.racks_per_row},
        "link_rates_gbps": np.unique(gbps).tolist(),
        "signalling_ghz": table.signalling_ghz,
        "cables": _lengths(cables),
        "cost": _cost(shares, table, found),
    }


def _lengths(cables: Cables) -> dict[str, Any]:
    """Cables by length; the last class has no upper end."""
    classes = [
        {
            "up_to_m": end if math.isfinite(end) else None,
            **dict(zip(cables.classes, counts.tolist(), strict=True)),
        }
        for end, counts in cables.histogram()
    ]
    total, longest = float(cables.lengths.sum()), float(cables.lengths.max())
    return {
        "count": len(cables.lengths),
        "total_m": total,
        "longest_m": longest,
        "by_length": classes,
    }


def _cost(shares: list[Share], table: Prices, found: Network) -> dict[str, Any]:
    total, hosts = sum(share.cost for share in shares), found.hosts
    sources = {each.name: each for each in table.cable}
    routers = None
    if table.router is not None:
        about = {"source": table.router.source, "year": table.router.year}
        routers = {"count": found.routers, "cost": table.router.cost(found.ports()), **about}
    return {
        "currency": table.currency,
        "total": total,
        "per_host": total / hosts,
        "by_technology": [
            {
                "name": share.name,
                "title": share.title,
                "cables": share.cables,
                "total_m": share.metres,
                "cost": share.cost,
                "per_host": share.cost / hosts,
                "source": sources[share.name].source,
                "year": sources[share.name].year,
            }
            for share in shares
        ],
        "routers": routers,
        "note": table.note,
        "left_out": table.left_out,
    }


def _print(result: Mapping[str, Any], source: Path) -> None:
    console = app.out()
    console.print(grid(_facts(result).items()))
    console.print()
    console.print(_length_table(result["cables"]["by_length"]))
    console.print()
    console.print(_cost_table(result))
    if result["cost"]["note"]:
        console.print(f"Note: {result['cost']['note']}", markup=False, soft_wrap=True)
    _print_sources(result["cost"])
    for name, reason in result["cost"]["left_out"].items():
        console.print(f"Without a price: {name} ({reason})", markup=False)
    console.print(f"Prices, floor plan and their sources: {source}", markup=False, soft_wrap=True)


def _print_sources(cost: Mapping[str, Any]) -> None:
    """What routers cost, beside the cables and not with them, and where the prices are from."""
    console, routers = app.out(), cost["routers"]
    if routers is not None:
        said = f"{routers['cost']:,.0f} {cost['currency']}{_origin(routers)}; not among the cables"
        console.print(f"{routers['count']:,} routers: {said}", markup=False, soft_wrap=True)
    for part in cost["by_technology"]:
        if part["source"]:
            console.print(f"{part['name']}{_origin(part)}", markup=False, soft_wrap=True)


def _origin(part: Mapping[str, Any]) -> str:
    year = "" if part["year"] is None else f", prices of {part['year']}"
    return f"{year} ({part['source']})" if part["source"] else year


def _facts(result: Mapping[str, Any]) -> dict[str, str]:
    radix, cut, plan = result["radix"], result["bisection"], result["floor"]
    used = str(radix["most"]) if radix["fewest"] == radix["most"] else "{fewest} to {most}"
    parameters = ", ".join(f"{name} = {value}" for name, value in result["parameters"].items())
    return {
        "topology": f"{result['topology']} ({parameters})",
        "hosts": f"{result['hosts']:,}",
        "routers": f"{result['routers']:,}",
        "radix": f"{used.format(**radix)} ports used",
        "links": ", ".join(f"{count:,} {name}" for name, count in result["links"].items()),
        "diameter": _diameter(result["diameter"]),
        "mean distance": _mean(result["mean_distance_links"]),
        "bisection": "none: no cut parts the hosts"
        if cut is None
        else f"{cut['links']:,} links = {cut['links_per_host']:.3f} links per host of the smaller"
        f" half (cut: {cut['cut']})",
        "floor": f"{plan['racks']:,} racks: {plan['rows']} rows of {plan['racks_per_row']}",
        "cables": f"{result['cables']['count']:,}, {result['cables']['total_m']:,.1f} m, "
        f"the longest {result['cables']['longest_m']:.1f} m",
    }


def _diameter(diameter: Mapping[str, int | None] | None) -> str:
    if diameter is None:
        return f"not computed for more than {network.MOST_ROUTERS:,} routers"
    if diameter["links"] is None:
        return "none: not all hosts are connected"
    return f"{diameter['links']} links between routers, {diameter['routers']} router traversals"


def _mean(mean: float | None) -> str:
    return "-" if mean is None else f"{mean:.4f} links of shortest paths, over all pairs of hosts"


def _rates(gbps: Sequence[float]) -> str:
    """`50 and 200`; of many the first and the last."""
    shown = [f"{rate:g}" for rate in gbps]
    return " and ".join(shown) if len(shown) < 3 else f"{shown[0]} to {shown[-1]}"


def _length_table(rows: list[dict[str, Any]]) -> Table:
    """Cables by length, one column per link class."""
    shown = Table(box=None, header_style="bold", title="Cables by length", title_justify="left")
    names = [name for name in rows[0] if name != "up_to_m"]
    for name in ("up to", *names, "all"):
        shown.add_column(escape(name), justify="right", no_wrap=True)
    for row in rows:
        end = "longer" if row["up_to_m"] is None else f"{row['up_to_m']:g} m"
        counts = [row[name] for name in names]
        shown.add_row(end, *(f"{count:,}" if count else "" for count in (*counts, sum(counts))))
    return shown


def _cost_table(result: Mapping[str, Any]) -> Table:
    """Cost by technology and in all."""
    cost = result["cost"]
    title = (
        f"Cost of cables in {cost['currency']}: links of {_rates(result['link_rates_gbps'])} Gb/s, "
        f"signalling at {result['signalling_ghz']:g} GHz"
    )
    shown = Table(box=None, header_style="bold", title=escape(title), title_justify="left")
    shown.add_column("technology")
    for name in ("cables", "metres", "cost", "per host"):
        shown.add_column(name, justify="right", no_wrap=True)
    rows = [(f"{row['name']} {row['title']}".strip(), row) for row in cost["by_technology"]]
    whole = {"cables": result["cables"]["count"], "cost": cost["total"]}
    whole |= {"total_m": result["cables"]["total_m"], "per_host": cost["per_host"]}
    for name, row in (*rows, ("all", whole)):
        cells = (f"{row['cables']:,}", f"{row['total_m']:,.1f}", f"{row['cost']:,.0f}")
        shown.add_row(escape(name), *cells, f"{row['per_host']:,.2f}")
    return shown
