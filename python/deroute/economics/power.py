"""What a network draws: ports by medium, switching, tables by their entries (thesis 4.7.1, 4.7.2).

Constants come from a file that users can replace, `power.toml`. Entries of tables are counted by
making them (`deroute.tables`); the four-stage folded Clos of the thesis, which is no fat tree with
whole groups, is given by its numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, ValidationError

from deroute.economics.network import Network
from deroute.economics.prices import Table, problem
from deroute.errors import InputError
from deroute.spec import read_toml
from deroute.tables import sizes
from deroute.tables.addresses import ADDRESSINGS
from deroute.tables.compiler import Compiler
from deroute.tables.fabric import FAMILIES, Fabric

if TYPE_CHECKING:
    from collections.abc import Sequence

#: The constants of this package, with the source of every value.
DEFAULT = Path(__file__).with_name("power.toml")

#: What tables can be made of and how hosts are addressed: figure 4-13.
ORGANISATIONS = ("CAM flat", *(f"TCAM {addressing}" for addressing in ADDRESSINGS))

_Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
_NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class SwitchConstants(Table):
    """What a switch draws whatever passes through it. In watts."""

    logic_w: _NotNegative
    optical_port_w: _NotNegative
    electrical_port_w: _NotNegative
    #: Link classes with electrical ports; `host` for those of hosts.
    electrical: list[str]


class SwitchingConstants(Table):
    """Energy of a packet through the buffer of a port."""

    read_nj: _NotNegative
    write_nj: _NotNegative
    packet_bytes: Annotated[int, Field(ge=1)]
    rate_gbps: _Positive

    @property
    def port_w(self) -> float:
        """Watts of a port with one packet after the other."""
        packets = self.rate_gbps * 1e9 / (8 * self.packet_bytes)
        return packets * (self.read_nj + self.write_nj) * 1e-9


class TableConstants(Table):
    """What a forwarding table draws."""

    cell_uw: _NotNegative
    tcam_bits: Annotated[int, Field(ge=1)]
    cam_bits: Annotated[int, Field(ge=1)]

    def entry_w(self, organisation: str) -> float:
        """Watts of an entry; a ternary bit takes two cells."""
        cells = self.cam_bits if organisation.startswith("CAM") else 2 * self.tcam_bits
        return cells * self.cell_uw * 1e-6


class Constants(Table):
    """What a file of constants says."""

    switch: SwitchConstants
    switching: SwitchingConstants
    table: TableConstants
    note: str = ""


def read(file: Path | None = None) -> Constants:
    """Constants from a file, by default those of this package."""
    path = file or DEFAULT
    document, text = read_toml(path)
    try:
        return Constants.model_validate(document)
    except ValidationError as error:
        tables: Mapping[str, type[Table]] = {
            "switch": SwitchConstants,
            "switching": SwitchingConstants,
            "table": TableConstants,
        }
        found = [problem(each, path, text, Constants, tables) for each in error.errors()]
        raise InputError(found) from error


@dataclass(frozen=True, slots=True)
class Kind:
    """Switches that are alike."""

    switches: int
    #: Ports in use by link class, on average.
    ports: Mapping[str, float]
    #: Entries of a table by addressing, on average.
    entries: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Census:
    """The switches of a network."""

    title: str
    hosts: int
    kinds: Sequence[Kind]
    #: Of how many switches tables were made, to count entries; None where numbers say them.
    looked_at: int | None = None

    @property
    def switches(self) -> int:
        """All of them."""
        return sum(kind.switches for kind in self.kinds)


@dataclass(frozen=True, slots=True)
class Draw:
    """What a network draws, in watts."""

    logic: float
    electrical: float
    optical: float
    switching: float
    tables: float

    @property
    def total(self) -> float:
        """All of it."""
        return self.logic + self.electrical + self.optical + self.switching + self.tables


def draw(census: Census, constants: Constants, organisation: str) -> Draw:
    """What the switches of a network draw with one kind of tables."""
    switch, addressing = constants.switch, organisation.partition(" ")[2]
    logic = electrical = optical = switching = tables = 0.0
    for kind in census.kinds:
        wired = sum(ports for name, ports in kind.ports.items() if name in switch.electrical)
        ports = sum(kind.ports.values())
        logic += kind.switches * switch.logic_w
        electrical += kind.switches * wired * switch.electrical_port_w
        optical += kind.switches * (ports - wired) * switch.optical_port_w
        switching += kind.switches * ports * constants.switching.port_w
        entries = kind.switches * kind.entries[addressing]
        tables += entries * constants.table.entry_w(organisation)
    return Draw(logic, electrical, optical, switching, tables)


def census(network: Network, title: str = "", ports: int | None = None) -> Census:
    """Count the switches of a wired network, their ports and the entries of their tables.

    Tables are those of all switches, or of evenly spread ones in a large network.
    With `ports`, every switch has so many, and spare ones have links as those of the last class.
    """
    classes = ("host", *network.wiring.class_names)
    counts = [
        (network.wiring.link_class == (-2 if place == 0 else place - 1)).sum(axis=1)
        for place in range(len(classes))
    ]
    *entries, looked_at = _entries(network)
    hosts = counts[0] > 0
    kinds = []
    for mine, table in ((hosts, entries[0]), (~hosts, entries[1])):
        if not mine.any():
            continue
        number = int(mine.sum())
        used = {
            name: float(count[mine].mean()) for name, count in zip(classes, counts, strict=True)
        }
        if ports is not None:
            used[classes[-1]] += ports - sum(used.values())
        kinds.append(Kind(number, used, table))
    return Census(title or network.name, network.hosts, kinds, looked_at)


def _entries(network: Network) -> tuple[dict[str, float], dict[str, float], int | None]:
    """Entries of switches with hosts and of the others, by addressing; on average.

    Then of how many switches the tables were made.
    """
    if network.name not in FAMILIES:
        flat = dict.fromkeys(ADDRESSINGS, float(network.hosts))
        return flat, flat, None
    fabric = Fabric(network.name, network.parameters, network.wiring)
    access, transit, looked_at = {}, {}, 0
    for addressing in ADDRESSINGS:
        found = _sized(fabric, addressing)
        access[addressing] = found.access.mean
        transit[addressing] = 0.0 if found.transit is None else found.transit.mean
        looked_at = found.looked_at
    return access, transit, looked_at


def _sized(fabric: Fabric, addressing: str) -> sizes.Size:
    """Tables of minimal routing, or in a fat tree of a routing that needs few rules."""
    routings = ["minimal"]
    if fabric.wiring.tree is not None and addressing != "flat":
        routings = ["s-mod-k", "ecmp"] if addressing == "compact" else ["ecmp"]
    for routing in routings:
        try:
            return sizes.size(Compiler(fabric, routing, addressing))
        except InputError:
            if routing == routings[-1]:
                raise
    raise AssertionError(routings)


def folded_clos() -> Census:
    """The folded Clos of four stages of thesis 4.7.2, from switches with 72 ports.

    A pod has 36 + 36 switches and 1,296 hosts; 36 pods and 1,296 switches of the third stage make
    a group, and there are 6.5 groups. Rules by equation 4-1, a pod for a group; switches without
    hosts have a rule for every block that is below them or elsewhere.
    """
    half = 36
    pods = 6 * half + half // 2
    leaves = pods * half
    hosts = leaves * half
    top = hosts // (2 * half)
    flat, compact = float(hosts), float(2 * half)
    access = {
        "flat": flat,
        "per-switch": float(leaves - 1 + half),
        "per-group": float(pods - 1 + half - 1 + half),
        "compact": compact,
    }
    second = {
        "flat": flat,
        "per-switch": float(leaves),
        "per-group": float(pods - 1 + half),
        "compact": compact,
    }
    above = second | {"per-group": float(pods)}
    links = {"level1": half, "level2": half}
    return Census(
        "folded Clos",
        hosts,
        [
            Kind(leaves, {"host": half, "level1": half}, access),
            Kind(leaves, links, second),
            # As many in the third stage; at the top half as many, whose ports all lead down.
            Kind(leaves, {"level2": half, "level3": half}, above),
            Kind(top, {"level3": 2 * half}, above),
        ],
    )


#: The networks of thesis 4.7.2 with some 300,000 hosts, from switches with 72 ports.
PORTS = 72
COMPANIONS: Mapping[str, Mapping[str, Any]] = {
    # 15 x 15 x 15 x 6: the narrow dimension first, so that a group has 15 switches.
    "Flattened Butterfly": {"hyperx": {"widths": [6, 15, 15, 15], "hosts": 15}},
    "Dragonfly": {"dragonfly": {"p": 18, "a": 36, "h": 13, "groups": 463}},
}


def companions(wired: Callable[[Mapping[str, Any]], Network]) -> list[Census]:
    """The folded Clos, the Flattened Butterfly and the Dragonfly of thesis 4.7.2."""
    others = [census(wired(topology), title, PORTS) for title, topology in COMPANIONS.items()]
    return [folded_clos(), *others]
