"""Routings in Python: the same bytes as native ones, checked, and with mistakes that are named."""

from __future__ import annotations

import copy
import pickle
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import deroute
from conftest import EXPERIMENT, ROOT
from deroute import plan, routing
from deroute.cli import app
from deroute.experiment import Experiment
from deroute.spec import canonical, fingerprint

FILES = ROOT / "python" / "tests" / "routings"
Spec = dict[str, Any]


def python(source: str, **parameters: object) -> Spec:
    """A routing by a text, or by one of the files of the tests."""
    if source.endswith(".py"):
        name, source = source, (FILES / source).read_text()
    else:
        name = "mine.py"
    return {"python": {"source": source, "name": name, "parameters": parameters}}


def loaded(spec: Spec, chosen: Spec, load: float = 0.3, offset: int | None = None) -> Spec:
    """A spec with a routing, under uniform or adversarial traffic, and as many VCs as it needs."""
    spec = copy.deepcopy(spec)
    spec["routing"] = chosen
    spec["traffic"]["load"] = load
    if offset is not None:
        spec["traffic"]["pattern"] = {"adversarial": {"offset": offset}}
    for link in spec["network"]["links"].values():
        link["vcs"] = "auto"
    return spec


NATIVE = [
    ("min.py", {}, {"minimal": {}}),
    ("vlb.py", {}, {"valiant": {}}),
    ("vlb.py", {"AT_SOURCE": True, "POLICY": routing.LG}, {"valiant": {"phase_a": "lg-"}}),
    ("ugal.py", {}, {"ugal": {}}),
    ("ugal.py", {"AT_SOURCE": True, "THRESHOLD": 8}, {"ugal": {"threshold": 8}}),
    ("ugal.py", {"RECONSIDERS": True}, {"ugal": {"redecide": True}}),
]


@pytest.mark.parametrize(("file", "parameters", "native"), NATIVE)
def test_the_same_as_native(
    spec: Spec, file: str, parameters: dict[str, object], native: Spec
) -> None:
    for load, offset in ((0.3, None), (0.2, 1)):
        own = loaded(spec, python(file, **parameters), load, offset)
        assert deroute.simulate(own) == deroute.simulate(loaded(spec, native, load, offset))


def test_the_same_as_native_in_a_lattice(spec: Spec) -> None:
    spec["network"]["topology"] = {"hyperx": {"widths": [3, 4], "hosts": 2}}
    spec["network"]["links"] = {name: {"latency": "15 ns"} for name in ("dim1", "dim2")}
    spec["traffic"]["load"] = 0.4
    for file, native in (("min.py", "minimal"), ("vlb.py", "valiant"), ("ugal.py", "ugal")):
        own = deroute.simulate(spec | {"routing": python(file)})
        assert own == deroute.simulate(spec | {"routing": {native: {}}}), file


@pytest.mark.parametrize("file", sorted(file.name for file in FILES.glob("*.py")))
def test_conformance(spec: Spec, file: str) -> None:
    """Nothing is lost, credits add up, no dependencies in a circle, the same whoever runs it."""
    for load, offset in ((0.2, None), (0.5, 1)):
        checked = loaded(spec, python(file), load, offset)
        checked["checks"] = {"full": True, "dependencies": True}
        one = deroute.simulate(checked)
        for threads, partitions in ((1, 3), (2, 9)):
            other = deroute.simulate(checked, threads=threads, partitions=partitions)
            assert one == other, (threads, partitions)
        assert one.load.accepted > 0.1


def test_too_few_vcs_are_refused(spec: Spec) -> None:
    with pytest.raises(deroute.SpecError, match="l1 - l2 g1 l3 - l4 g2 l5"):
        deroute.check(spec | {"routing": python("par.py")})


ROUTE = "def route(view, header):\n    "
#: What a file says, and what is said of it.
NOT_UNDERSTOOD = [
    ("def route(view)\n", "mine.py:1: is not Python: expected ':'"),
    ("import nothing_like_this\n", "mine.py:1: ModuleNotFoundError"),
    ("x = 1\n", "mine.py: has no function `route"),
    ("def route(view):\n    return 1\n", "mine.py:1: `route` takes 1 values and is given 2"),
    (ROUTE + "return view.hops(header)\n", "mine.py:2: .*'hops'"),
    (ROUTE + "x = 1\n    return header.colour\n", "mine.py:3: .*'colour'"),
    (ROUTE + "return missing + 1\n", "mine.py:1: .*'missing'"),
    (ROUTE + "return 0.5\n", "mine.py:1: .*returns float64, and not a port or a hop"),
    (ROUTE + "return view.hop_by(1.5)\n", "mine.py:2: .*`hop_by` takes whole numbers"),
    (ROUTE + "return view.hop(view)\n", "mine.py:2: .*`hop` takes the header"),
    (ROUTE + "return open('x')\n", "mine.py:2: .*"),
    (
        "import random\n" + ROUTE + "return random.randrange(3)\n",
        "mine.py:3: `random.rand",
    ),
    (
        "import numpy as np\n" + ROUTE + "return int(np.random.random())\n",
        "mine.py:3: `np.rand",
    ),
    (
        "from random import choice as c\n" + ROUTE + "return c(3)\n",
        "mine.py:3: `c` is not",
    ),
    ("LADDER = 'tall'\n" + ROUTE + "return 1\n", "LADDER = 'tall' is no ladder"),
    ("STATE = -1\n" + ROUTE + "return 1\n", "STATE = -1 is no number of words"),
    ("def blocked(view, header):\n    pass\n" + ROUTE + "return 1\n", "RECONSIDERS = True"),
]


@pytest.mark.parametrize(("source", "expected"), NOT_UNDERSTOOD)
def test_what_is_not_understood(spec: Spec, source: str, expected: str) -> None:
    with pytest.raises(deroute.SpecError, match=expected) as caught:
        deroute.check(loaded(spec, python(source)))
    error = caught.value
    assert error.path == "routing.python"
    assert "Traceback" not in str(error)
    assert len(str(error)) < 300, str(error)


def test_tables_may_be_drawn_from_a_seed(spec: Spec) -> None:
    draws = "import numpy as np\nTABLE = np.random.default_rng(1).permutation(8)\n"
    deroute.check(loaded(spec, python(draws + ROUTE + "return view.hop(header) + 0 * TABLE[0]\n")))


#: What a routing answers, and what is said of it.
WRONG = [
    (ROUTE + "return 99\n", "there is no port 99, but 0 to 6"),
    (ROUTE + "return -5\n", "it answers -5, which is neither a port nor a hop"),
    (ROUTE + "return 0\n", "port 0 leads to a host, and not to a router"),
    (ROUTE + "return 1 << 40\n", "neither a port nor a hop"),
    (ROUTE + "return 2 | 1 << 24 | 3 << 16\n", "takes VC 3 at position 1, which is on no rung"),
    (ROUTE + "return view.hop_to(99)\n", "there is no router 99, but 0 to 35"),
    (ROUTE + "return view.hop_to(view.router)\n", "there is no hop from router"),
    (ROUTE + "return view.queue(3)\n", "3 is no hop"),
    (ROUTE + "return view.vc_queue(2, 9)\n", "port 2 has no VC 9"),
    (ROUTE + "header.divert(-1)\n    return view.hop(header)\n", "there is no router -1"),
    (ROUTE + "return view.state(0)\n", "there is no word 0 of state, but 0 of them"),
    (ROUTE + "view.send(1, 1)\n    return view.hop(header)\n", "`send` is not for this hook"),
    (ROUTE + "return view.below(0)\n", "no random number from 0 below 0"),
    (ROUTE + "return 2 + view.router % 3\n", "its ladder of VCs has no rung left for a hop"),
    (
        ROUTE + "return 2 + 1 // header.hops\n",
        "it raised an exception: ZeroDivisionError: integer division by zero",
    ),
    (
        ROUTE + "if view.router < 99:\n        raise ValueError('no')\n    return 2\n",
        "it raised an exception: mine.py:3: ValueError: no",
    ),
]


@pytest.mark.parametrize(("source", "expected"), WRONG)
def test_what_cannot_be_ends_the_run(spec: Spec, source: str, expected: str) -> None:
    messages = set()
    for threads, partitions in ((1, 1), (2, 9)):
        checked = loaded(spec, python(source))
        with pytest.raises(deroute.SimulationError) as caught:
            deroute.simulate(checked, threads=threads, partitions=partitions)
        messages.add(str(caught.value))
    (message,) = messages
    assert message.startswith("routing: mine.py: `route` at router "), message
    assert " for a packet to host " in message, message
    assert expected in message, message


def test_without_numba(spec: Spec, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routing, "find_spec", lambda name: None)
    with pytest.raises(deroute.SpecError, match=r"pip install 'deroute\[python-routing\]'"):
        deroute.check(loaded(spec, python("min.py")))


def test_wiring_is_looked_at_without_python(spec: Spec) -> None:
    """Whoever draws a network or reads a report runs nothing of the spec."""
    spec = loaded(spec, python("raise SystemExit\n"))
    assert deroute._engine.topology(canonical(spec))["peer_router"].shape == (36, 7)


def test_parameters(spec: Spec) -> None:
    with pytest.raises(deroute.SpecError) as caught:
        deroute.check(loaded(spec, python("ugal.py", TRESHOLD=3)))
    assert caught.value.path == "routing.python.parameters.TRESHOLD"
    assert caught.value.choices == ["POLICY", "THRESHOLD"]
    derived = "N = 1\nM = N + 1\n" + ROUTE + "return view.hop_to(M + 95)\n"
    for number in (3, 4):
        with pytest.raises(deroute.SimulationError, match=f"no router {number + 96}"):
            deroute.simulate(loaded(spec, python(derived, N=number)))


def test_an_experiment(tmp_path: Path) -> None:
    """A file beside the experiment; its text is part of what a point is."""
    (tmp_path / "vlb.py").write_text((FILES / "vlb.py").read_text())
    own = "{ python = { file = 'vlb.py', parameters = { AT_SOURCE = true } } }"
    text = EXPERIMENT.replace('{ valiant = { phase_a = "lgl" } }', own)
    assert own in text
    file = tmp_path / "small.toml"

    def points() -> list[Any]:
        file.write_text(text)
        experiment = Experiment.load(file)
        plan.check_experiment(experiment)
        return [point for point in experiment.points if "python" in point.canonical]

    before = points()
    assert "def route" in before[0].canonical
    assert pickle.loads(pickle.dumps(before[0])).canonical == before[0].canonical
    (tmp_path / "vlb.py").write_text((FILES / "vlb.py").read_text() + "# another\n")
    after = points()
    keys = [{fingerprint(point.canonical) for point in found} for found in (before, after)]
    assert not keys[0] & keys[1]


def test_from_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Points run in several workers; a mistake in the file is named before any of them."""
    monkeypatch.chdir(tmp_path)
    own = "{ python = { file = 'vlb.py' } }"
    Path("small.toml").write_text(EXPERIMENT.replace('{ valiant = { phase_a = "lgl" } }', own))
    Path("vlb.py").write_text((FILES / "vlb.py").read_text())
    done = CliRunner().invoke(app, ["run", "small.toml", "--jobs", "2"])
    assert done.exit_code == 0, done.output
    frame = deroute.load_results("runs/small").frame
    means = {
        name: frame.filter(frame["routing"] == name)["latency.mean"].to_list()
        for name in ("MIN", "VLB")
    }
    assert len(means["VLB"]) == 2
    assert min(means["VLB"]) > max(means["MIN"])
    Path("vlb.py").write_text("def route(view, header):\n    return view.hops(header)\n")
    done = CliRunner().invoke(app, ["check", "small.toml"])
    assert done.exit_code == 2
    told = " ".join(done.output.split())
    assert "vlb.py:2: numba does not understand: Unknown attribute 'hops'" in told, told


def test_hooks_are_called(spec: Spec) -> None:
    """A routing that counts what it is told says so in an error at the end."""
    source = (FILES / "watchful.py").read_text()
    for word, name in enumerate(("ENTERED", "BLOCKED", "LEFT", "TOLD", "SENT", "HEARD")):
        if name != "TOLD":
            told = f"    if view.state({word}) > 0:\n        view.neighbour(900 + {word})\n"
            counted = source.replace(
                "def route(view, header):\n", f"def route(view, header):\n{told}"
            )
            with pytest.raises(deroute.SimulationError, match=f"no port {900 + word}"):
                deroute.simulate(loaded(spec, python(counted), 0.6, 1))


def test_other_exceptions_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    heard = []
    monkeypatch.setattr(routing, "_others", heard.append)

    class Event:
        object = "somebody else"

    routing._heard(Event())  # type: ignore[arg-type]
    assert len(heard) == 1
    assert sys.unraisablehook is not None
