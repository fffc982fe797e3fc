"""Hosts whose injection queues are in congestion trees, against time."""

from __future__ import annotations

import copy
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import synthetic
from conftest import SPEC
from deroute import _engine, simulate
from deroute.economics.network import Network
from deroute.figures import CATALOGUE, FigureError, congestion_hosts, read_figures
from deroute.spec import in_order
from deroute.wiring import HOST_PORT


def test_what_waits_is_what_was_recorded_for_the_host() -> None:
    spec = copy.deepcopy(SPEC)
    spec["traffic"] |= {"load": 0.4, "pattern": {"adversarial": {"offset": 1}}}
    spec["probes"] = {"congestion": {"every": "500 ns", "members": True}}
    outcome = simulate(spec)
    network = Network.of(spec, _engine.topology(in_order(spec)))
    samples = outcome.congestion
    assert samples is not None
    found = congestion_hosts.waiting(outcome, network)
    assert found.shape == (len(samples.trees), 72)
    assert found.any()
    # One class, so that a host has one queue.
    assert ((found > 0).sum(axis=1) == samples.hosts).all()
    last = len(samples.trees) - 1
    for tree, router, port, _, _, phits in samples.members:
        if samples.roots[tree, 0] == last and network.wiring.link_class[router, port] == HOST_PORT:
            hosts = np.flatnonzero(network.wiring.router_of_host == router)
            assert phits in found[last, hosts]


def test_it_is_drawn_by_host_and_time() -> None:
    study = synthetic.study(("MIN",), ("UN",), (0.5,), (1, 2), series=True)
    (table,) = read_figures([{"name": "fig", "kind": "congestion-hosts"}], study.axes)
    figure = congestion_hosts.draw(study, table)
    panel, bar = figure.axes
    assert bar.get_ylabel() == "Injection queues in congestion trees (KB)"
    (mesh,) = panel.collections
    samples = study.outcomes[0].congestion
    assert samples is not None
    hosts = len(_engine.topology(in_order(study.specs[0]))["router_of_host"])
    assert mesh.get_array().shape == (hosts, len(samples.trees))  # type: ignore[union-attr]
    assert "first seed" in figure.texts[-1].get_text()


def test_a_map_shows_the_worst_moment_if_none_is_named() -> None:
    study = synthetic.study(("MIN",), ("UN",), (0.5,), (1,), series=True)
    samples = study.outcomes[0].congestion
    assert samples is not None
    over = replace(samples, held=samples.held * (samples.cycles < 200))
    study.outcomes[0].congestion = over  # type: ignore[misc]
    for keys, when in (({}, "0.1 µs"), ({"at_us": 0.2}, "0.2 µs")):
        table = {"name": "fig", "kind": "congestion-map", **keys}
        (read,) = read_figures([table], study.axes)
        assert CATALOGUE["congestion-map"].draw(study, read).axes[0].get_title("left") == when


def test_a_record_without_members_is_refused() -> None:
    study = synthetic.study(("MIN",), ("UN",), (0.5,), (1,), series=True)
    samples = study.outcomes[0].congestion
    assert samples is not None
    bare: Any = SimpleNamespace(congestion=replace(samples, members=samples.members[:0]))
    network = Network.of(study.specs[0], _engine.topology(in_order(study.specs[0])))
    with pytest.raises(FigureError, match="members = true"):
        congestion_hosts.waiting(bare, network)


def test_a_legend_names_its_axis_only_if_it_shows_its_labels() -> None:
    study = synthetic.study(("MIN", "PB"), ("UN",), (0.5,), (1,), series=True)
    for kind, named in (("congestion", True), ("congestion-map", False), ("queues", False)):
        table = {"name": "fig", "kind": kind, "series": "routing"}
        (read,) = read_figures([table], study.axes)
        (legend,) = CATALOGUE[kind].draw(study, read).legends
        assert ("routing:" in [text.get_text() for text in legend.get_texts()]) == named, kind
