"""Where hosts stand in a network, and which port its routing takes to each of them.

Everything is worked out of the wiring that the engine builds. Hosts are placed by digits: those of
a Dragonfly by group and switch, those of a HyperX by the coordinates of their switch in the order
in which minimal routing corrects them, those of a fat tree by the child taken at every level.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from deroute.errors import InputError
from deroute.wiring import HOST_PORT, Tree, Wiring

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Actions = NDArray[np.int64]

#: Topologies with addresses.
FAMILIES = ("dragonfly", "hyperx", "fat_tree", "rlft", "kary_tree", "folded_clos")

#: Actions are numbers: a port, and `REMOTE` if the packet leaves its group (moves along the first
#: dimension of a HyperX, climbs in a fat tree).
#: `UP` stands for any of the ports that lead up.
REMOTE, UP = 1 << 20, -1


def check_family(name: str) -> None:
    """Refuse a topology whose hosts have no places."""
    if name not in FAMILIES:
        message = f"there are no addresses for a {name}"
        raise InputError.of(message, "network.topology", FAMILIES)


@dataclass(frozen=True)
class Fabric:
    """A network whose hosts have places."""

    name: str
    parameters: Mapping[str, Any]
    wiring: Wiring

    def __post_init__(self) -> None:
        check_family(self.name)

    @classmethod
    def of(cls, topology: Mapping[str, Any], arrays: Mapping[str, Any]) -> Fabric:
        """From `network.topology` of a spec and what the engine's `topology` returns."""
        (name, parameters), *_ = topology.items()
        check_family(name)
        return cls(name, parameters, Wiring.of(arrays))

    @property
    def trunked(self) -> bool:
        """Whether several links join the same two routers, or in a Dragonfly two groups."""
        trunk = int(self.parameters.get("trunk", 1))
        return max(trunk, *(self.wiring.tree.parallel if self.wiring.tree else ()), 1) > 1

    @cached_property
    def digits(self) -> Mapping[str, int]:
        """Values of each digit of a switch with hosts, the most significant first.

        The last one is its place within its group.
        """
        if self.name == "dragonfly":
            size = int(self.parameters["a"])
            return {"group": self.routers // size, "switch": size}
        if self.name == "hyperx":
            widths = self.parameters["widths"]
            return {f"dim{place}": int(width) for place, width in enumerate(widths, start=1)}
        children = self.tree().children
        levels = range(len(children), 1, -1)
        return {f"level{level}": children[level - 1] for level in levels} or {"switch": 1}

    @cached_property
    def switch_at(self) -> NDArray[np.int64]:
        """Number of the switch in the order of hosts, by place: its digits as one number."""
        number = np.arange(math.prod(self.digits.values()))
        if self.name != "hyperx":
            return number
        # The first coordinate of a router changes fastest, and is corrected first.
        widths = tuple(self.digits.values())
        return number.reshape(widths[::-1]).transpose().reshape(-1)

    @cached_property
    def place_of(self) -> NDArray[np.int64]:
        """The same the other way round."""
        return np.argsort(self.switch_at)

    @property
    def routers(self) -> int:
        """Number of switches, those without hosts included."""
        return len(self.wiring.peer_router)

    @property
    def hosts(self) -> int:
        """Number of hosts."""
        return len(self.wiring.router_of_host)

    @property
    def hosts_per_switch(self) -> int:
        """Hosts of a switch that has any: I of equation 4-1."""
        return self.hosts // len(self.switch_at)

    @property
    def switches_per_group(self) -> int:
        """S of equation 4-1."""
        return list(self.digits.values())[-1]

    @property
    def groups(self) -> int:
        """G of equation 4-1."""
        return len(self.switch_at) // self.switches_per_group

    @cached_property
    def access(self) -> NDArray[np.int64]:
        """Router of every switch with hosts, in their order."""
        return self.wiring.router_of_host[:: self.hosts_per_switch].astype(np.int64)

    @cached_property
    def _number(self) -> NDArray[np.int64]:
        """Which switch with hosts a router is; -1 for the others."""
        number = np.full(self.routers, -1, dtype=np.int64)
        number[self.access] = np.arange(len(self.access))
        return number

    @cached_property
    def host_at(self) -> NDArray[np.int64]:
        """Number of the host by place of its switch and index there."""
        index = np.arange(self.hosts_per_switch)
        return (self.switch_at[:, None] * self.hosts_per_switch + index).reshape(-1)

    def place(self, router: int) -> tuple[int, ...] | None:
        """Digits of a switch with hosts; None for any other."""
        number = int(self._number[router])
        if number < 0:
            return None
        found = np.unravel_index(int(self.place_of[number]), tuple(self.digits.values()))
        return tuple(int(digit) for digit in found)

    def ports_used(self, router: int) -> int:
        """Ports that lead somewhere."""
        return int((self.wiring.link_class[router] != -1).sum())

    def host_ports(self, router: int) -> list[int]:
        """Ports of the hosts of a router."""
        ports: list[int] = np.flatnonzero(self.wiring.link_class[router] == HOST_PORT).tolist()
        return ports

    def ports_of(self, router: int, link_class: str) -> list[int]:
        """Ports of a router over links of a class."""
        index = self.wiring.class_names.index(link_class)
        ports: list[int] = np.flatnonzero(self.wiring.link_class[router] == index).tolist()
        return ports

    def minimal(self, router: int) -> Actions:
        """Action of the engine's minimal routing (in a fat tree D-mod-K) by place of the host."""
        match self.name:
            case "dragonfly":
                return self._dragonfly(router)
            case "hyperx":
                return self._hyperx(router)
        return self.up_down(router, self.share(router))

    def _dragonfly(self, router: int) -> Actions:
        """Local hop to the owner of the link, global hop, local hop (thesis 2.3.1)."""
        groups, size = self.groups, self.switches_per_group
        group, index = divmod(router, size)
        found = np.zeros((groups, size, self.hosts_per_switch), dtype=np.int64)
        local = self._local_ports(router)
        for there in range(groups):
            if there == group:
                continue
            links = self._gateways[group][there]
            own = [port for owner, port in links if owner == index]
            ways = own[:1] or [local[owner] for owner, _ in links]
            out = np.resize(np.array(ways, dtype=np.int64), size)
            found[there] = (out + REMOTE)[:, None]
        for switch in range(size):
            if switch != index:
                found[group, switch] = local[switch]
        found[group, index] = self.host_ports(router)
        return found.reshape(-1)

    @cached_property
    def _gateways(self) -> list[dict[int, list[tuple[int, int]]]]:
        """By group and other group: switch and port of the links between them, in order."""
        size = self.switches_per_group
        found: list[dict[int, list[tuple[int, int]]]] = [{} for _ in range(self.groups)]
        router, port = np.nonzero(self.wiring.ports("global"))
        peer = self.wiring.peer_router[router, port]
        for at, out, there in zip(router.tolist(), port.tolist(), peer.tolist(), strict=True):
            found[at // size].setdefault(there // size, []).append((at % size, out))
        return found

    def _local_ports(self, router: int) -> dict[int, int]:
        """Ports to the other switches of the group, by their index."""
        peers = self.wiring.peer_router[router]
        return {
            int(peers[port]) % self.switches_per_group: port
            for port in self.ports_of(router, "local")
        }

    def _hyperx(self, router: int) -> Actions:
        """The first coordinate that differs is corrected, over the link of the destination."""
        widths = tuple(self.digits.values())
        own = self.place(router)
        assert own is not None
        place = np.arange(len(self.switch_at))
        coordinates = np.unravel_index(place, widths)
        found = np.full(len(place), -1, dtype=np.int64)
        for dim in range(len(widths)):
            ports = self.links(router, dim)
            copy = self.switch_at % ports.shape[1]
            mine = (found == -1) & (coordinates[dim] != own[dim])
            out = ports[coordinates[dim][mine], copy[mine]]
            found[mine] = out + (REMOTE if dim == 0 else 0)
        hosts = np.repeat(found[:, None], self.hosts_per_switch, axis=1)
        hosts[found == -1] = self.host_ports(router)
        return hosts.reshape(-1)

    def links(self, router: int, dim: int) -> NDArray[np.int64]:
        """Ports of a dimension by the other coordinate and the number of the parallel link.

        -1 at the coordinate of the router itself.
        """
        widths = tuple(self.digits.values())
        by_value: dict[int, list[int]] = {}
        for port in self.ports_of(router, list(self.digits)[dim]):
            peer = self.place(int(self.wiring.peer_router[router, port]))
            assert peer is not None
            by_value.setdefault(peer[dim], []).append(port)
        copies = max((len(ports) for ports in by_value.values()), default=1)
        table = np.full((widths[dim], copies), -1, dtype=np.int64)
        for value, ports in by_value.items():
            table[value] = ports
        return table

    def tree(self) -> Tree:
        """The fat tree; an error for other networks."""
        if self.wiring.tree is None:
            raise InputError.of(f"a {self.name} has no way up", "network.topology", FAMILIES[2:])
        return self.wiring.tree

    def span(self, router: int) -> tuple[int, int, int]:
        """Level of a switch of a fat tree, the first host below it, and how many there are."""
        tree = self.tree()
        level = int(tree.level[router])
        rank = int((tree.level[:router] == level).sum())
        count = math.prod(tree.children[:level])
        return level, rank // math.prod(tree.parents[:level]) * count, count

    def up_ports(self, router: int) -> list[int]:
        """Ports that lead up from a switch of a fat tree, in order."""
        level = self.span(router)[0]
        top = level == len(self.tree().children)
        return [] if top else self.ports_of(router, f"level{level}")

    def share(self, router: int) -> Actions:
        """Action up that belongs to the number of each host (D-mod-K, S-mod-K); UP at the top."""
        ups, level = self.up_ports(router), self.span(router)[0]
        number = np.arange(self.hosts)
        if not ups:
            return np.full(self.hosts, UP, dtype=np.int64)
        turn = number // math.prod(self.tree().parents[:level]) % len(ups)
        return np.array(ups, dtype=np.int64)[turn] + REMOTE

    def up_down(self, router: int, up: Actions) -> Actions:
        """Action of a switch of a fat tree for every host: down to those below it, else `up`."""
        tree, (level, first, count) = self.tree(), self.span(router)
        host = np.arange(first, first + count)
        children, parallel = tree.children[level - 1], tree.parallel[level - 1]
        port = (host - first) // (count // children)
        if parallel > 1:
            ups = tree.parents[level - 1] * parallel
            turn = host // math.prod(tree.parents[: level - 1]) % ups
            port = turn // tree.parents[level - 1] * children + port
        found = up.copy()
        found[host] = port
        return found
