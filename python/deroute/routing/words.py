"""What a routing in Python can say: constants, and the functions of `view` and `header`.

The bodies of these classes are for readers and type checkers; `compiler` gives them their meaning.
"""

from __future__ import annotations

from typing import Protocol

#: Phases of a packet: never diverted, on its way to the intermediate router, and after it.
MINIMAL, A, B = 0, 1, 2
#: Where an intermediate router is drawn: anywhere; where a global hop lands; in a group wired to
#: the source router; at the end of one of its own global links.
LGL, LG, GL, G = 0, 1, 2, 3


class Header(Protocol):
    """What a packet carries."""

    #: Router of the destination.
    destination: int
    #: Position on the ladder of VCs; 0 at the source.
    position: int
    #: `MINIMAL`, `A` or `B`.
    phase: int
    #: Hops that it has taken.
    hops: int
    #: The intermediate router that was drawn last, whether or not it goes there; -1 if none was.
    intermediate: int

    def divert(self, router: int, policy: int = LGL) -> None:
        """Send the packet through a router; the policy is for the statistics of paths."""

    def go_minimally(self) -> None:
        """Send the packet to its destination without a detour."""


class View(Protocol):
    """What an agent sees: its own router, its random numbers, and how the network is wired."""

    #: The router.
    router: int
    #: The port and the VC at whose head the packet is.
    input: int
    vc: int
    #: The cycle; 0 in `queues_changed` and `message`.
    now: int
    #: Phits of the packet.
    size: int

    def hop(self, header: Header) -> int:
        """The next hop to where the packet goes: its intermediate router, or its destination."""

    def hop_to(self, router: int) -> int:
        """The next hop of a shortest path to a router."""

    def hop_by(self, port: int) -> int:
        """The hop through a port: by the lowest rung of the ladder that is left for its link."""

    def queue(self, hop: int) -> int:
        """Phits that wait for the VC of a hop, as `network.sensing` counts them."""

    def port_queue(self, port: int) -> int:
        """Phits that wait for a port, over all its VCs; a hop stands for its port."""

    def vc_queue(self, port: int, vc: int) -> int:
        """Phits that wait for one VC of a port."""

    def distance(self, start: int, end: int) -> int:
        """Hops between two routers."""

    def intermediate(self, policy: int = LGL, own_group: bool = True) -> int:
        """Draw an intermediate router."""

    def below(self, bound: int) -> int:
        """Draw a whole number from 0, below a bound."""

    def group(self, router: int) -> int:
        """The group of a router."""

    def neighbour(self, port: int) -> int:
        """The router behind a port; -1 where there is none."""

    def link_class(self, port: int) -> int:
        """The class of the link of a port, from 0; -1 where there is none."""

    def ports(self) -> int:
        """Ports of the router: those of hosts, then those of links."""

    def exit_router(self, to: int) -> int:
        """The router of the group by which a shortest path to another group leaves; -1 if none."""

    def exit_port(self, to: int) -> int:
        """The port of that router."""

    def state(self, index: int) -> int:
        """A word of the state of the router, of which the file asks for `STATE`; 0 at first."""

    def keep(self, index: int, value: int) -> None:
        """Change a word of the state of the router."""

    def send(self, delay: int, content: int) -> None:
        """Send a message to all other routers of the group; only in `queues_changed`."""
