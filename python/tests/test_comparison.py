"""Cables of two topologies of one size, and the measures of claims about them."""

from __future__ import annotations

import pytest

from conftest import SPEC
from deroute import _engine
from deroute.economics import comparison, prices
from deroute.errors import InputError
from deroute.reproduce.engine import BuiltEngine
from deroute.reproduce.evidence import Evidence
from deroute.reproduce.measures import call as measure
from deroute.reproduce.paper import PaperError


def test_dragonfly_and_hyperx_of_one_size() -> None:
    """By hand: routers of 15 ports, so h = 4; a HyperX of 4 x 4 x 4 with 4 hosts a router."""
    ours, theirs = comparison.beside(4, 3, 15, _engine.topology)
    assert ours.parameters["groups"] == 8  # 32 hosts a group
    assert ours.parameters["trunk"] == 32 // 7
    assert (ours.hosts, theirs.hosts) == (256, 256)
    inside = prices.read()
    inside = inside.model_copy(
        update={"floor": inside.floor.model_copy(update={"hosts_per_rack": 10_000})}
    )
    bills = [comparison.bill(each, inside) for each in (ours, theirs)]
    # A host has its link, a router of 4 hosts 7 local, 7 times 4 global links a group of 8, or 9.
    assert bills[0].cables == pytest.approx(1 + (7 + 7 * 4 / 8) / 2 / 4)
    assert bills[1].cables == pytest.approx(1 + 9 / 2 / 4)
    # All in one rack: a metre each, of copper.
    assert [each.metres for each in bills] == pytest.approx([each.cables for each in bills])
    assert [each.cost for each in bills] == pytest.approx([3.56 * each.cables for each in bills])
    evidence = Evidence(SPEC, {}, {}, BuiltEngine)
    pair = {"what": "cost", "width": 4, "ports": 15, "floor": {"hosts_per_rack": 10_000}}
    (ratio,) = measure("cable_ratio", evidence, pair)
    assert ratio.mean == pytest.approx(bills[0].cables / bills[1].cables)
    with pytest.raises(PaperError, match="weight"):
        measure("cable_ratio", evidence, pair | {"what": "weight"})
    (longest,) = measure("copper_reach", evidence, {"signalling": 25})
    assert longest.mean == 3


def test_dragonfly_and_fat_tree_of_one_size() -> None:
    """By hand: routers of 16 ports, 4 pods of 64 hosts for a HyperX of 4 x 4 x 4; h = 4."""
    ours, theirs = comparison.beside(4, 3, 16, _engine.topology, "fat_tree")
    assert theirs.parameters["children"] == [8, 8, 4]
    assert (ours.hosts, theirs.hosts) == (256, 256)
    evidence = Evidence(SPEC, {}, {}, BuiltEngine)
    pair = {"what": "cables", "width": 4, "ports": 16, "over": "fat_tree"}
    (ratio,) = measure("cable_ratio", evidence, pair)
    # A host of the fat tree has its link, and one of each level above.
    assert ratio.mean == pytest.approx((1 + (7 + 7 * 4 / 8) / 2 / 4) / 3)
    with pytest.raises(InputError, match="unknown topology 'torus'"):
        measure("cable_ratio", evidence, pair | {"over": "torus"})
