"""What experiments of a paper have in common is copied, and nothing else."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from deroute import _engine
from deroute.experiment import Experiment
from deroute.reproduce import sharing
from deroute.store import FILE, Store, Stored, read_arrays

DOCUMENT = {
    "name": "own",
    "title": "An experiment",
    "base": {"traffic": {"load": 0.1}},
    "axis": [{"name": "load", "path": "traffic.load", "values": [0.1, 0.2]}],
    "skip": [],
    "figure": [],
}


def keep(directory: Path, outcome: str, *keys: str, engine: str = _engine.VERSION) -> None:
    """Results of some points, of which the outcome says where they are."""
    with Store.open(directory, create=True) as store:
        for key in keys:
            store.put(Stored(key, engine, "{}", outcome, 1.5), {"one": np.arange(3)})


def outcomes(directory: Path) -> dict[str, str]:
    with Store.open(directory) as store:
        return {each.key: each.outcome for each in store.points()}


def test_points_of_several_others_are_copied_whole(tmp_path: Path) -> None:
    keep(tmp_path / "first", "first", "a", "b")
    keep(tmp_path / "second", "second", "b", "c", "d")
    own = tmp_path / "own"
    keep(own, "own", "d")
    experiment = Experiment.from_document(DOCUMENT)
    found = sharing.copied(experiment, {"a", "b", "c", "e"}, own)
    assert found == {"a": tmp_path / "first", "b": tmp_path / "first", "c": tmp_path / "second"}
    assert outcomes(own) == {"d": "own", "a": "first", "b": "first", "c": "second"}
    assert read_arrays(own / FILE, "c", _engine.VERSION)["one"].tolist() == [0, 1, 2]
    with Store.open(own) as store:
        assert store.experiment() == experiment.document
        days = {each.key: each.finished_at for each in store.points()}
    with Store.open(tmp_path / "second") as store:
        assert {each.finished_at for each in store.points() if each.key == "c"} == {days["c"]}


def test_nothing_is_made_where_nothing_is_found(tmp_path: Path) -> None:
    keep(tmp_path / "first", "first", "a", engine="0.0.1")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / FILE).write_text("no database")
    assert sharing.copied(Experiment.from_document(DOCUMENT), {"a"}, tmp_path / "own") == {}
    assert not (tmp_path / "own").exists()
