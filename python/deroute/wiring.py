"""How a topology is wired, as the engine builds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Link class of a port that leads to a host, and of one that leads nowhere.
HOST_PORT, UNUSED = -2, -1


@dataclass(frozen=True, slots=True)
class Tree:
    """Levels of a fat tree, from the hosts up."""

    #: Level of every router, from 1.
    level: NDArray[np.int32]
    #: Children of a switch, parents of a node of the level below, links to each.
    children: tuple[int, ...]
    parents: tuple[int, ...]
    parallel: tuple[int, ...]

    @classmethod
    def of(cls, arrays: Mapping[str, Any]) -> Tree | None:
        """From what the engine's `topology` returns."""
        if "level" not in arrays:
            return None
        shape = (tuple(arrays[name]) for name in ("children", "parents", "parallel"))
        return cls(np.asarray(arrays["level"], dtype=np.int32), *shape)

    def block(self, levels: int) -> int:
        """Switches of a subtree of so many levels, which are numbered in a row."""
        count = twins = 0
        for children, parents in zip(self.children[:levels], self.parents, strict=False):
            twins = (twins or 1) * parents
            count = children * count + twins
        return count


@dataclass(frozen=True, slots=True)
class Wiring:
    """A topology as arrays over routers and ports."""

    router_of_host: NDArray[np.int32]
    #: Neighbour and its port behind each port; -1 where there is no router.
    peer_router: NDArray[np.int32]
    peer_port: NDArray[np.int32]
    #: Index into `class_names`, or `HOST_PORT`, or `UNUSED`.
    link_class: NDArray[np.int32]
    class_names: tuple[str, ...]
    #: The fat tree that the routers form, if they do.
    tree: Tree | None = None

    @classmethod
    def of(cls, arrays: Mapping[str, Any]) -> Wiring:
        """From what the engine's `topology` returns."""
        names = ("router_of_host", "peer_router", "peer_port", "link_class")
        parts = {name: np.asarray(arrays[name], dtype=np.int32) for name in names}
        return cls(**parts, class_names=tuple(arrays["class_names"]), tree=Tree.of(arrays))

    def ports(self, name: str) -> NDArray[np.bool_]:
        """Mask of the ports of one link class."""
        mask: NDArray[np.bool_] = self.link_class == self.class_names.index(name)
        return mask

    def host_ports(self) -> dict[tuple[int, int], int]:
        """The host behind each port, `(router, port)`, that leads to one.

        Hosts of a router are in the order of its ports.
        """
        router, port = np.nonzero(self.link_class == HOST_PORT)
        hosts = np.argsort(self.router_of_host, kind="stable")
        ends = zip(router.tolist(), port.tolist(), strict=True)
        return dict(zip(ends, hosts.tolist(), strict=True))
